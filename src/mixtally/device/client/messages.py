"""The messages of a device in a round: its own and its fakes, in random order, for every part."""

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

    The number of messages is drawn before the value is read.

    Parameters
    ----------
    plan : ContractPlan
        The plan of the contract.
    value : Value
        The answer.
    words : callable
        Maps a count to 8 * count random bytes, which are never used again.
    prefixes : sequence of sequences of int, optional
        The prefixes of this round as lists of symbols; None in the first round.
    closing : bool
        Whether this round counts only words that end after the next symbols.

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
    # The order must not tell which message is the answer, since envelopes are in this order.
    for several in sent:
        shuffle(several, source)
    return sent
