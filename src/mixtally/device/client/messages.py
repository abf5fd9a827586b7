"""The messages of a device in a round: its answer and its fakes, in random order in each part.

A *part* is one of the messages in which a record is sent. Fakes are dummy messages.
"""

from collections.abc import Callable, Sequence

from mixtally.device.client.draw import (
    RandomWords,
    draw_fake,
    draw_fake_counts,
    draw_record,
    shuffle,
)
from mixtally.device.client.encode import Value, encode_value
from mixtally.device.contract.plan import ContractPlan


def messages(
    plan: ContractPlan,
    value: Value,
    words: Callable[[int], bytes],
    *,
    prefixes: Sequence[Sequence[int]] | None = None,
    closing: bool = False,
) -> list[list[bytes]]:
    """Return the messages of a person who answers ``value``, as one list per part.

    The number of messages is drawn before the value is read, so it cannot depend on the value.

    Parameters
    ----------
    plan : ContractPlan
        The plan of the contract.
    value : Value
        The answer; None for no answer.
    words : callable
        Returns 8 * count random bytes for a count. The bytes must not be used for anything else.
    prefixes : sequence of sequences of int, optional
        The prefixes of this round as lists of symbols; None in the first round.
    closing : bool
        Whether this round counts only complete words: a prefix and the symbols that the round asks
        for, without further symbols.

    Raises
    ------
    RefusedError
        If the question does not have this value.
    AccountingError
        If the random words are invalid.
    """
    parts, source = plan.parts, RandomWords(words)
    fakes = draw_fake_counts(parts, source)
    records = encode_value(plan, value, source, prefixes, closing=closing)
    sent = [
        [
            *draw_record(part, bins, source),
            *(draw_fake(part, source) for _ in range(count)),
        ]
        for part, bins, count in zip(parts, records, fakes, strict=True)
    ]
    # Envelopes are sent in this order, so the order must not reveal which message is the answer.
    for several in sent:
        shuffle(several, source)
    return sent
