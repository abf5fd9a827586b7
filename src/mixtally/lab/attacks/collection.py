"""The audit ``collection``: whether the code behaves in a whole round as it does in tests.

``randomizer`` audits the code message by message. This audit runs the code as in production:

- Devices send one record at a time, once with the batch code and once with the single-person code.
  So every message ends a batch, and code that fails at the end of a batch fails for every message.
- A collection has more people than are randomized in one block. All of its messages are shuffled
  and counted.
- Large batches are shuffled.
- Random words must not repeat, neither from the source of the attacks nor from the secure source.

The flips of a plan may be too rare to test. So flips are drawn with two other probabilities
(*probes*), one for each way in which the code draws flips. All tests are exact binomial tests that
share the false-alarm probability. A sum of independent draws with several probabilities varies less
than the binomial distribution of its test, so false alarms are only rarer (Hoeffding 1956).
"""

import numpy as np
from msgspec.structs import replace

from mixtally.lab.attacks.audit import Checks, audit, find_failures, word_checks
from mixtally.lab.attacks.outcome import AttackLab, Outcome
from mixtally.lab.attacks.randomizer import PROBES, fake_rate, probe_part
from mixtally.lab.attacks.records import cells_in_clear, records_in_clear
from mixtally.lab.attacks.senders import contains_first_values
from mixtally.lab.attacks.shuffling import large_shuffle_checks
from mixtally.lab.attacks.single_records import single_record_checks
from mixtally.lab.attacks.target import Target
from mixtally.model.contract import CountedRecipe, OwnFakes, Part, Shape
from mixtally.model.guarantee import LEAST_USERS
from mixtally.model.shape import AnyShape
from mixtally.primitives.bits import Counts, Rows
from mixtally.primitives.fixed_point import SCALE
from mixtally.protocol.tally.fold import tally_messages

NAME = "collection"
_BATCH_BYTES = 5 << 20
"""The least bytes of a collection: more than the messages that are randomized in one block."""
_MESSAGES, _MOST_BYTES = 12_000, 1 << 26
"""The people of a collection, if their messages have at most ``_MOST_BYTES``."""
_MOST_SHAPED = 5_000_000
"""The most shaped fakes of a collection."""


def run(target: Target, lab: AttackLab) -> list[Outcome]:
    """Audit each distinct part of the target, and the shuffle."""
    words = word_checks(lab.chance)
    # With repeating words, rejection sampling may never end, so nothing else is drawn.
    if find_failures(words, lab.error)[0]:
        return [audit(NAME, words, lab, 0, "words alone: they repeat")]
    moved, shuffled = large_shuffle_checks(lab)
    checks, sent, messages = words + moved, 0, 0
    for name, part in target.distinct_parts().items():
        lone, few = single_record_checks(name, part, lab)
        played, many = collection_checks(name, part, target.hops, lab)
        checks, sent, messages = [*checks, *lone, *played], sent + few, messages + many
    return [
        audit(
            NAME,
            checks,
            lab,
            sent + shuffled + messages,
            f"{sent:,} messages sent one by one, a collection of {messages:,}, and batches of "
            f"{shuffled:,} shuffled",
        )
    ]


def collection_checks(name: str, part: Part, hops: int, lab: AttackLab) -> tuple[list[Checks], int]:
    """Return tests of a whole collection, and the number of messages that it sent.

    Half of the people hold the last bin, and all others hold the first bin. If messages name
    planes, these are the second and the first value.
    """
    small, users = _fit_size(part, hops)
    if users == 0:
        return [], 0
    bins, cells = (small.bins, small.layout.bins) if small.planes is None else (2, 2)
    values = np.where(np.arange(users) < users // 2, bins - 1, 0)
    sent: list[Rows] = []
    records = records_in_clear(small, values)
    played = lab.play([small], hops, [records], lab.chance, watch=sent.append)
    dropped = sum(played.received.parts[0].dropped.values())
    refused = Checks.of_difference(f"message that the collector drops{name}", dropped)
    rows = np.concatenate(sent)
    first = len(rows) // 2
    halves = [_count_shown(small, half) for half in (rows[:first], rows[first:])]
    seen = halves[0] + halves[1]
    own = np.bincount(values, minlength=cells) * small.repeats
    own[bins : bins + (small.most_set or 1) - 1] += users * (small.pads > 0)
    if small.is_full:
        own = np.bincount(cells_in_clear(small, values).ravel(), minlength=cells)
    ends = np.unique([0, bins - 1])
    share = first / len(rows) if len(rows) else 0.0
    order = Checks.of(
        f"bit set in the first half of what a mix sends{name}", halves[0][ends], seen[ends], share
    )
    if isinstance(small.recipe, Shape):
        shaped = _shaped_fake_checks(name, small.recipe, hops, seen - own)
        return [refused, order, *shaped], len(rows)
    fakes = len(rows) - users * small.record_messages
    numbers = _fake_number_checks(name, small, users, hops, fakes)
    return [refused, order, *numbers, *_noise_checks(name, small, seen, own, max(0, fakes))], len(
        rows
    )


def _count_shown(part: Part, rows: Rows) -> Counts:
    """Return the number of messages that name each bin.

    If messages name planes, return the number of messages whose plane contains the first value, and
    the number of those whose plane contains the second value.
    """
    if part.planes is None:
        return tally_messages(part.layout, rows).counts
    contained = contains_first_values(part, part.planes, part.layout.codes(rows), 2)
    ones = np.unpackbits(contained, axis=1, count=2, bitorder="little")
    return np.asarray(ones.sum(axis=0, dtype=np.int64))


def _fit_size(part: Part, hops: int) -> tuple[Part, int]:
    """Return the part in the form in which it is tested, and the number of people in the test.

    In this form, flips are frequent, and fakes are few unless they are shaped. If a part draws too
    many shaped fakes for a test, the number of people is 0.
    """
    small = part
    if part.threshold is not None:
        small = probe_part(part, PROBES[1]) or probe_part(part, PROBES[0]) or part
    size = small.layout.message_bytes * part.record_messages
    users = 1 + max(_BATCH_BYTES // size, min(_MESSAGES, _MOST_BYTES // size))
    if isinstance(part.recipe, Shape):
        drawn = hops * len(part.recipe.weights) * part.layout.bins
        return part, users if drawn <= _MOST_SHAPED else 0
    if isinstance(small.recipe, CountedRecipe):
        small = replace(small, recipe=replace(small.recipe, count=users // 4))
    if small.own is not None:
        own = OwnFakes(small.own.record, min(1, small.own.whole), small.own.coin)
        small = replace(small, own=own)
    return small, users


def _fake_number_checks(name: str, part: Part, users: int, hops: int, fakes: int) -> list[Checks]:
    """Return tests of ``fakes``, the number of fakes that all ``users`` or all ``hops`` have sent.

    Some fakes are certain, and coins may add one more for each person.
    """
    certain, coin = 0, 0.0
    if isinstance(part.recipe, CountedRecipe):
        certain = hops * part.recipe.count
    if part.own is not None:
        certain, coin = users * part.own.whole, part.own.coin / SCALE
    tossed = min(max(0, fakes - certain), users)
    off = fakes - certain - tossed
    return [
        Checks.of_difference(f"message that is missing or too many{name}", off),
        Checks.of(f"fake by a coin in a collection{name}", tossed, users, coin),
    ]


def _noise_checks(
    name: str, part: Part, counts: Counts, people: Counts, fakes: int
) -> list[Checks]:
    """Return tests of the count of every bin.

    ``people`` is the number of messages of people for each bin before any noise, and ``fakes`` the
    number of all fakes.
    """
    bins, messages = part.bins, int(people.sum()) + fakes
    # A sum of binomials varies less than the binomial of their mean probability.
    if part.replaced is not None:
        mechanism = part.mechanism(fakes=fakes, crowd=LEAST_USERS)
        # Without planes, ``people`` also has entries for the pads of sets. They add no people.
        messages = int(people[: part.bins].sum()) * part.record_messages + fakes
        due = (mechanism.gain * people + mechanism.offset(messages)) / messages
        return [
            Checks.of(f"values and fakes in a bin of a collection{name}", counts, messages, due)
        ]
    if part.slots is not None:
        share = part.slots / (part.most_set or 1)
        messages = round((messages - fakes) * share) + fakes
        due = (share * people + fakes / len(people)) / messages
        return [Checks.of(f"slots and fakes in a bin of a collection{name}", counts, messages, due)]
    if part.planes is not None:
        others, rest = people[::-1] * part.record_messages, np.maximum(counts - people, 0)
        kappa = 1.0 / part.planes.prime if part.pads else part.planes.collision_probability
        met = others * kappa + fakes / part.planes.prime
        most = others + fakes
        return [Checks.of(f"plane that holds a value by chance{name}", rest, most, met / most)]
    if part.threshold is None:
        rest = np.maximum(counts - people, 0)
        chance = 1.0 / len(rest)
        return [Checks.of(f"fake in a bin of a collection{name}", rest, fakes, chance)]
    q = part.threshold / SCALE
    due = (q * messages + (1.0 - 2.0 * q) * people + (fake_rate(part) - q) * fakes) / messages
    checks = [Checks.of(f"bit set in a collection{name}", counts, messages, due)]
    if bins > 2:
        inner = slice(1, bins - 1)
        trials = messages * (bins - 2)
        every = Checks.of(f"any other bit{name}", counts[inner].sum(), trials, due[inner].mean())
        checks.append(every)
    return checks


def _shaped_fake_checks(name: str, shape: AnyShape, hops: int, numbers: Counts) -> list[Checks]:
    """Return tests of the fakes that all hops together added to each bin."""
    pmf = one = np.array(shape.weights, dtype=np.float64) / SCALE
    for _ in range(hops - 1):
        pmf = np.convolve(pmf, one)
    total: list[Checks] = []
    if shape.paired:  # the first bin says everything, as the total is fixed
        off = int(numbers.sum()) - hops * shape.most
        total = [Checks.of_difference(f"fake beyond the fixed total{name}", off)]
        numbers = numbers[:1]
    bins, mean = len(numbers), hops * shape.shift
    past = int(((numbers < 0) | (numbers >= len(pmf))).sum())
    below = min(1.0, float(pmf[:mean].sum()))
    inside = np.bincount(np.clip(numbers, 0, len(pmf) - 1), minlength=len(pmf))
    return [
        *total,
        Checks.of_difference(f"impossible number of fakes in a collection{name}", past),
        Checks.of(f"bins with k fakes in a collection{name}", inside, bins, pmf),
        Checks.of(f"fewer fakes than the mean{name}", int((numbers < mean).sum()), bins, below),
    ]
