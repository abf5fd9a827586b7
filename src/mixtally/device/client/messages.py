"""What a device sends: its own message and its fakes, in random order, for every part."""

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
    """The messages of a person who answers ``value``: a list for each part.

    where
      words      count -> 8 * count random bytes, used once
      prefixes   of this round, as lists of symbols; None for the first
      closing    whether this round asks for words that end

    Raises RefusedError for a value that has no answer, AccountingError for bad words. How many
    messages there are is drawn before the value is read.
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
    for several in sent:
        shuffle(several, source)
    return sent
