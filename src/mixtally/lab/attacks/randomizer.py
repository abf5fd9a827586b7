"""The audit ``randomizer``: whether the code draws the noise that the plan's guarantee needs.

The audited code draws reports, fakes of devices, and fakes of hops. The audit counts

- the number of reports and fakes;
- how often each bit of a report was flipped, separately for bits that were 0 and bits that were 1,
  and how often each bit of a fake was set;
- reports in clear that name another bin than that of their record, and reports whose plane does not
  contain the value of their record;
- flips of neighboring positions and of successive messages, which must be independent;
- fakes in clear in each bin, and each number of shaped fakes in a bin;
- the positions of the first message after shuffles.

All tests are exact binomial tests that share the false-alarm probability.

A plan may flip so rarely that few flips are seen. So the same code is also audited at other flip
probabilities (*probes*), one for each of the two ways in which the code draws flips. The
distributions of the tests ignore caps, the largest numbers of set bits of a message. In any plan
with a useful guarantee, caps change fewer counts than these tests can detect. A separate test uses
a cap that about half of all draws exceed.
"""

from itertools import chain
from itertools import count as count_from

import numpy as np
from msgspec.structs import replace

from mixtally.device.contract.planes import MOST_WIDE_MESSAGES, is_prime, most_digits
from mixtally.lab.attacks.audit import Checks, audit
from mixtally.lab.attacks.clear_reports import (
    first_code,
    report_checks,
    slot_checks,
    uniformity_checks,
)
from mixtally.lab.attacks.outcome import AttackLab, Outcome
from mixtally.lab.attacks.senders import first_positions, planes_hold_points
from mixtally.lab.attacks.shuffling import small_shuffle_checks
from mixtally.lab.attacks.target import Target
from mixtally.model.contract import (
    BlanksRecipe,
    CountedRecipe,
    FakeRecord,
    NoRecipe,
    OwnFakes,
    Part,
    Planes,
    Shape,
    UniformRecipe,
)
from mixtally.model.layout import MOST_CAP, Form, Layout
from mixtally.model.shape import AnyShape
from mixtally.planning.layouts import least_cap
from mixtally.primitives.bits import Counts, Rows, one_hot_rows, spans
from mixtally.primitives.counting import column_counts
from mixtally.primitives.fixed_point import SCALE
from mixtally.primitives.wide import make_numbers
from mixtally.protocol.tally.sift import sift

NAME = "randomizer"
CountedChecks = tuple[list[Checks], int]
"""Tests, and the number of messages that were drawn for them."""
MOST_REPORTS = 84_000
"""The usual limit of the reports and fakes that an audit draws, without those that test coins.

An audit draws more in two cases. If a plan has many parts, each kind of message of a part is drawn
at least 500 times. If mixes draw more than 20,000 fakes for a bin on average, the fakes of one
round are drawn.
"""
PROBES = (SCALE // 200, 3 * SCALE // 10)
"""Flip probabilities, times 2^64: one for each of the two ways in which the code draws flips."""
_COINS, _CAPPED = 10_000, 200
"""The number of fakes in the test of coins, and of messages in the test of caps."""
_BIT_BUDGET = 150_000_000
"""The most bits of an audit, and those that are drawn at once."""
_SPAN_BITS = 1 << 23
_BLOCKS = 64
"""The bits of a random word. A defect could correlate positions that use the same bit of words."""
_PROBE_CAP_RATE = 1e-12
"""The largest probability that a message of a probe exceeds its cap."""


def run(target: Target, lab: AttackLab) -> list[Outcome]:
    """Audit each distinct part of the target."""
    checks, messages = small_shuffle_checks(lab), 0
    kinds = target.distinct_parts()
    for name, part in kinds.items():
        found, drawn = part_checks(name, part, lab, len(kinds))
        checks, messages = checks + found, messages + drawn
    played = f"{messages:,} reports and fakes, all positions"
    return [audit(NAME, checks, lab, messages, played)]


def part_checks(name: str, part: Part, lab: AttackLab, share: int = 1) -> CountedChecks:
    """Return the tests of a part, and the number of messages that they draw.

    The tests draw about 1 / ``share`` of the messages that the audit of a whole plan may draw.
    """
    most = MOST_REPORTS // share
    if part.threshold is not None:
        probes = [part, *filter(None, (probe_part(part, threshold) for threshold in PROBES))]
        each = max(500, min(most // 6, _BIT_BUDGET // (6 * share * part.bins)))
        every = [flip_checks(name, one, lab, each) for one in probes]
    elif isinstance(part.recipe, Shape):
        reports = min(most // 2, 10_000)
        every = [clear_checks(name, part, lab, reports)]
        every.append(_shaped_checks(name, part, part.recipe, lab, most - reports))
    else:
        every = [clear_checks(name, part, lab, most // 2)]
    every += [
        coin_checks(name, part, lab, _COINS // share),
        cap_checks(name, part, lab),
        separation_checks(name, part, lab),
    ]
    return [one for checks, _ in every for one in checks], sum(messages for _, messages in every)


def probe_part(part: Part, threshold: int) -> Part | None:
    """Return the part with ``threshold`` as its flip probability, to test rarely flipped parts.

    The cap is raised until messages practically never exceed it. Return None if no such cap exists.
    """
    layout = part.layout
    cap = layout.cap and least_cap(part.bins, part.largest_record, threshold, _PROBE_CAP_RATE)
    if cap and cap > MOST_CAP and layout.form is Form.POSITIONS:
        return None
    return _with_threshold(part, threshold, cap)


def _with_threshold(part: Part, threshold: int, cap: int | None) -> Part:
    recipe = part.recipe
    if isinstance(recipe, BlanksRecipe):
        recipe = replace(recipe, threshold=threshold)
    layout = replace(part.layout, cap=cap)
    return replace(part, threshold=threshold, recipe=recipe, layout=layout)


def fake_rate(part: Part) -> float:
    """Return the probability that a bit of a fake is set."""
    q = (part.threshold or 0) / SCALE
    uniform = part.own is not None and part.own.record is FakeRecord.UNIFORM
    return q + (1.0 - 2.0 * q) / part.bins if uniform else q


def flip_checks(name: str, part: Part, lab: AttackLab, count: int) -> CountedChecks:
    """Return the tests of ``count`` flipped reports and as many flipped fakes.

    A uniform fake sets one bit before its flips, so this bit is more likely to be set than the
    others. Hence the sum of its bits varies less than the binomial distribution of the test, which
    only reduces the false-alarm probability (Hoeffding 1956).
    """
    total, start = list[Checks](), first_code(part.bins, count)
    label = f"at q = {(part.threshold or 0) / SCALE:.3g}{name}"
    for span in spans(count, max(2, _SPAN_BITS // part.bins)):
        some = _flip_span_checks(label, part, np.arange(start + span.start, start + span.stop), lab)
        total = [one + other for one, other in zip(total, some, strict=True)] if total else some
    return total, 2 * count


def _flip_span_checks(label: str, part: Part, numbers: Counts, lab: AttackLab) -> list[Checks]:
    """Return the tests of one report for each bin in ``numbers``, and of as many fakes.

    A number beyond the last bin means the bin modulo the number of bins. If a record is sent
    several times, its reports are adjacent, and each is tested like any other report. If records
    are vectors of independent bits, one record in every cycle through the bins sets no bit.
    """
    bins, q, count, layout = part.bins, (part.threshold or 0) / SCALE, len(numbers), part.layout
    people = numbers[:: part.repeats] % (bins + (part.most_set is None))
    true_rows = _pack_records(bins, np.repeat(people, part.repeats)[:count])
    records = people if part.most_set == 1 else _pack_records(bins, people)
    sent = lab.device.reports(part, records, lab.chance)
    fakes = _draw_fakes(part, count, lab)
    lost = len(sent) - len(people) * part.repeats, len(fakes) - count * has_fakes(part)
    refused = _count_refused(layout, sent) + _count_refused(layout, fakes)
    numbers_off = [
        Checks.of_difference(f"report that is missing or too many, {label}", lost[0]),
        Checks.of_difference(f"fake that is missing or too many, {label}", lost[1]),
        Checks.of_difference(f"message that the collector refuses, {label}", refused),
    ]
    # Messages that are missing or refused cannot be matched with their records, so the other tests
    # get no data.
    if any(one.hits.any() for one in numbers_off):
        count, sent, fakes, true_rows = 0, sent[:0], fakes[:0], true_rows[:0]
    rows, blanks = layout.to_packed_bits(sent), layout.to_packed_bits(fakes)
    uniform = fake_rate(part) != q
    set_bits = column_counts(true_rows, bins)
    clear, own = column_counts(rows & ~true_rows, bins), column_counts(~rows & true_rows, bins)
    flips = rows ^ true_rows if uniform else np.concatenate([rows ^ true_rows, blanks])
    following, pairs = _count_repeated_bits(flips), len(flips) // 2 * bins
    even = np.bitwise_count(flips & np.uint8(0x55) & (flips >> 1)).sum(dtype=np.int64)
    trials, holding = len(flips) * (bins // 2), int(set_bits.sum())
    return [
        *numbers_off,
        Checks.of(f"bit set that is clear, {label}", clear, count - set_bits, q),
        Checks.of(f"bit clear that is set, {label}", own, set_bits, q),
        Checks.of(f"any clear bit set, {label}", clear.sum(), count * bins - holding, q),
        Checks.of(f"any set bit clear, {label}", own.sum(), holding, q),
        Checks.of(f"two messages in a row, {label}", following, pairs, q * q),
        Checks.of(f"two neighboring bits, {label}", even, trials, q * q),
        *(_fake_checks(label, blanks, part) if has_fakes(part) else []),
    ]


def _fake_checks(label: str, fakes: Rows, part: Part) -> list[Checks]:
    """Return the tests of how often bits of flipped fakes are set."""
    bins, count, rate = part.bins, len(fakes), fake_rate(part)
    seen = column_counts(fakes, bins)
    places = count * _count_by_place(np.ones_like(seen))
    return [
        Checks.of(f"bit of a fake set, {label}", seen, count, rate),
        Checks.of(f"bit of a fake set, by place mod {_BLOCKS}, {label}", _count_by_place(seen),
            places,
                  rate),
        Checks.of(f"any bit of a fake set, {label}", seen.sum(), count * bins, rate),
        Checks.of(f"two fakes in a row, {label}", _count_repeated_bits(fakes), count // 2 * bins,
                  rate * rate),
    ]  # fmt: skip


def has_fakes(part: Part) -> bool:
    """Return whether devices or hops add fakes."""
    return part.own is not None or part.by_mixes


def _draw_fakes(part: Part, count: int, lab: AttackLab) -> Rows:
    """Return flipped fakes of devices, or blanks of a hop; no rows if nobody adds fakes."""
    if isinstance(part.recipe, CountedRecipe):
        return lab.device.added(replace(part.recipe, count=count), part.layout, lab.chance)
    if part.own is None:
        return part.layout.blank_rows(0)
    one_fake_each = replace(part, own=OwnFakes(part.own.record, 1, 0))
    return lab.device.fakes(one_fake_each, count, lab.chance)[0]


def _count_refused(layout: Layout, rows: Rows) -> int:
    """Return the number of messages that the collector drops before it counts."""
    return sum(sift(layout, rows).dropped.values())


def _pack_records(bins: int, codes: Counts) -> Rows:
    """Return packed records of one bin each; a code beyond the last bin sets no bit."""
    return first_positions(Layout(Form.BITS, bins + 1), one_hot_rows(codes, bins + 1), bins)


def _count_repeated_bits(flips: Rows) -> int:
    """Return how many bits are set in both messages of a pair, over disjoint pairs of messages."""
    pairs = len(flips) // 2
    both = flips[0 : 2 * pairs : 2] & flips[1 : 2 * pairs : 2]
    return int(np.bitwise_count(both).sum(dtype=np.int64))


def _count_by_place(counts: Counts) -> Counts:
    """Return 64 sums of counts, each over the positions that are equal modulo 64.

    Such positions use the same bit of random words.
    """
    return np.bincount(np.arange(len(counts)) % _BLOCKS, weights=counts).astype(np.int64)


def coin_checks(name: str, part: Part, lab: AttackLab, most: int) -> CountedChecks:
    """Return tests of the number of fakes that coins add, from about ``most`` fakes in all.

    At least 100 devices toss their coins.
    """
    own = part.own
    if own is None:
        return [], 0
    devices = max(100, most // own.most)
    rows, number = lab.device.fakes(part, devices, lab.chance)
    more = number - devices * own.whole
    outside, tossed = max(0, -more) + max(0, more - devices), min(max(0, more), devices)
    return [
        Checks.of_difference(f"fakes of devices beyond what coins give{name}", outside),
        Checks.of_difference(f"fakes of devices that are not there{name}", len(rows) - number),
        Checks.of(f"coins of devices{name}", tossed, devices, own.coin / SCALE),
    ], len(rows)


def cap_checks(name: str, part: Part, lab: AttackLab) -> CountedChecks:
    """Return a test that a message with more set bits than the cap is drawn again.

    The cap of the test is the median of the number of set bits, so about half of all draws exceed
    it.
    """
    if part.threshold is None or part.layout.cap is None:
        return [], 0
    cap = max(part.largest_record, least_cap(part.bins, 1, PROBES[0], 0.5))
    half = _with_threshold(part, PROBES[0], cap)
    codes = np.arange(_CAPPED) % part.bins
    sent, fakes = lab.device.reports(half, codes, lab.chance), _draw_fakes(half, _CAPPED, lab)
    over = _count_refused(half.layout, sent) + _count_refused(half.layout, fakes)
    check = Checks.of_difference(f"message with more ones than its cap{name}", over)
    return [check], len(sent) + len(fakes)


def separation_checks(name: str, part: Part, lab: AttackLab) -> CountedChecks:
    """Return tests that devices choose directions which separate the members of a set.

    A message stands for one member of a set. In the direction that the message names, no other
    member of the set may be in the same plane. The test uses sets of every size. There are as few
    planes per direction as possible, so that devices often have to draw a direction again.
    """
    most = part.pads
    if part.planes is None or not most:
        return [], 0
    prime = next(one for one in count_from(2 * most) if is_prime(one))
    digits = most_digits(prime)
    if digits <= most:
        digits = most_digits(prime, MOST_WIDE_MESSAGES)
    planes, bins = Planes(prime, digits), prime + 1
    layout = replace(part.layout, bins=planes.messages)
    fake, recipe = OwnFakes(FakeRecord.UNIFORM, 1, 0), NoRecipe()
    probe = replace(
        part, bins=bins, planes=planes, layout=layout, replaced=None, own=fake, recipe=recipe
    )
    people, places = np.arange(_CAPPED)[:, None], np.arange(most)
    sets = np.where(places < people % (most + 1), (people + places) % bins, -1)
    named = layout.codes(lab.device.reports(probe, sets, lab.chance))
    own = [planes.device_planes.members(sorted(one[one >= 0].tolist()), bins, most) for one in sets]
    lost = len(named) - sets.size
    every = make_numbers(chain.from_iterable(own), planes.points).reshape(len(own), most)
    points = np.repeat(every, most, axis=0)[: len(named)]
    shown = planes_hold_points(planes, np.repeat(named[: len(points)], most), points.ravel())
    due = np.resize(np.eye(most, dtype=np.bool_), points.shape)
    met = int((shown.reshape(points.shape) != due).any(axis=1).sum())
    return [
        Checks.of_difference(f"message of a set that is missing or too many{name}", lost),
        Checks.of_difference(f"message that holds more or others than its member{name}", met),
    ], len(named)


def clear_checks(name: str, part: Part, lab: AttackLab, count: int) -> CountedChecks:
    """Return tests of reports and fakes in clear.

    A report names the bin of its record, unless the value is replaced. The reports of a set also
    name the pads for its missing members. If slots are sampled, the reports name some of the bins
    and pads. Fakes are uniform.
    """
    find_checks = report_checks if part.slots is None else slot_checks
    checks = find_checks(name, part, lab, count)
    if part.own is None and not isinstance(part.recipe, UniformRecipe):
        return checks, count
    fakes = part.layout.codes(_draw_fakes(part, count, lab))
    return [
        *checks,
        Checks.of_difference(f"fake that is missing or too many{name}", len(fakes) - count),
        *uniformity_checks(f"fake{name}", fakes, part.layout.bins),
    ], 2 * count


def _shaped_checks(
    name: str, part: Part, shape: AnyShape, lab: AttackLab, most: int
) -> CountedChecks:
    """Return tests of the numbers of fakes that a hop draws."""
    weights = np.array(shape.weights, dtype=np.float64) / SCALE
    seen, drawn, pairs, same = np.zeros(len(weights), np.int64), 0, 0, 0
    past, messages, most, off = 0, 0, most // (2 * shape.shift), 0
    # The number of fakes in one of two paired bins determines the other, so each pair is one draw.
    # All pairs are drawn in one round, as if the part had this number of bins.
    bins = 2 * max(1, most // 4) if shape.paired else max(2, min(part.bins, most))
    layout = Layout(Form.INDEX, bins)
    # The number of rounds is fixed in advance. Stopping at a number of fakes would bias the counts.
    for _ in range(max(1, most // bins)):
        rows = lab.device.added(shape, layout, lab.chance)
        numbers = np.bincount(layout.codes(rows), minlength=bins)[:bins]
        if shape.paired:
            off += int(np.abs(numbers[::2] + numbers[1::2] - shape.most).sum())
            numbers = numbers[::2]
        counts = np.bincount(numbers)
        past += int(counts[len(weights) :].sum())
        counts = counts[: len(weights)]
        seen[: len(counts)] += counts
        even = len(numbers) // 2 * 2
        same += int((numbers[0:even:2] == numbers[1:even:2]).sum())
        pairs += even // 2
        drawn += len(numbers)
        messages += len(rows)
    away = np.abs(np.arange(len(weights)) - shape.shift)
    widths = np.unique(np.geomspace(1, shape.shift, 6).astype(np.intp))
    near_seen = [int(seen[away < width].sum()) for width in widths]
    near_chance = [min(1.0, float(weights[away < width].sum())) for width in widths]
    return [
        Checks.of_difference(f"fake beyond the fixed total of two bins{name}", off),
        Checks.of_difference(f"number of fakes past the last{name}", past),
        Checks.of(f"number of fakes in a bin{name}", seen, drawn, weights),
        Checks.of(f"number of fakes near the mean{name}", near_seen, drawn, near_chance),
        Checks.of(f"two neighboring bins{name}", same, pairs, float(weights @ weights)),
    ], messages
