"""What a device sends: its own message and its fakes, in random order, for every part."""

from collections.abc import Callable, Sequence

from mixtally.device.client.draw import Words, coins, fake, record, shuffle
from mixtally.device.client.encode import Value, bins_of
from mixtally.device.contract.plan import Plan


def messages(
    plan: Plan,
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
    parts, source = plan.parts, Words(words)
    fakes = coins(parts, source)
    records = bins_of(plan, value, source, prefixes, closing=closing)
    sent = [
        [
            *record(part, bins, source),
            *(fake(part, source) for _ in range(count)),
        ]
        for part, bins, count in zip(parts, records, fakes, strict=True)
    ]
    for several in sent:
        shuffle(several, source)
    return sent
