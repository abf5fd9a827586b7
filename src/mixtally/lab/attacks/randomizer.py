"""randomizer: whether the code draws the noise that its plan pays for.

Reports, fakes of devices and what hops add are drawn by the code under audit and counted: how many
there are; how often every bit position of a report was flipped where it should be clear and where
it should be set, of a fake; whether a report of bin i has bit i; whether neighboring positions and
messages that follow each other are flipped independently; how often fakes in clear fall into each
bin, or each number of shaped fakes is drawn; whether the shuffle sends the first message everywhere
alike. All are exact binomial tests that share the false-alarm rate.

A plan may flip so rarely that few flips can be seen. So the same code is also audited at probe
thresholds, one for each of its two ways to draw. Caps are left out of the distributions: under
plans that promise anything they change fewer counts than any of these tests can see. Whether they
are kept is seen at one that half of all draws pass.
"""

from itertools import count as count_from

import numpy as np
from msgspec.structs import replace

from mixtally.device.contract.planes import is_prime, most_digits
from mixtally.lab.attacks.audit import Checks, audit
from mixtally.lab.attacks.outcome import AttackLab, Outcome
from mixtally.lab.attacks.senders import first_positions, planes_hold_points, points_of
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
from mixtally.protocol.tally.sift import sift

NAME = "randomizer"
CountedChecks = tuple[list[Checks], int]
"""Tests, and how many messages were drawn for them."""
MOST_REPORTS = 84_000
"""All reports and fakes of an audit, but for coins, for at least 500 of a kind, and for shifts
above 20,000."""
PROBES = (SCALE // 200, 3 * SCALE // 10)
"""Flip probabilities, one for each way to draw."""
_COINS, _CAPPED = 10_000, 200
"""Fakes drawn to count coins, and messages under a tight cap."""
_BIT_BUDGET = 150_000_000
_SPAN_BITS = 1 << 23
_BLOCKS = 64
_MOST_COUNTED_NUMBERS = 1 << 20
"""Numbers of which each is counted; of more only blocks."""
_PROBE_CAP_RATE = 1e-12
"""How often a message of a probe may have more ones than its cap."""


def run(target: Target, lab: AttackLab) -> list[Outcome]:
    """Every test there is for every different part."""
    checks, messages = small_shuffle_checks(lab), 0
    kinds = target.distinct_parts()
    for name, part in kinds.items():
        found, drawn = part_checks(name, part, lab, len(kinds))
        checks, messages = checks + found, messages + drawn
    played = f"{messages:,} reports and fakes, all positions"
    return [audit(NAME, checks, lab, messages, played)]


def part_checks(name: str, part: Part, lab: AttackLab, share: int = 1) -> CountedChecks:
    """Tests of a part, by one of ``share`` shares of all messages that may be drawn."""
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
    """The part with other flips, and a cap that these never pass; None where none is that large."""
    layout, largest = part.layout, part.bins if part.most_set is None else part.most_set
    cap = layout.cap and least_cap(part.bins, largest, threshold, _PROBE_CAP_RATE)
    if cap and cap > MOST_CAP and layout.form is Form.POSITIONS:
        return None
    return _with_threshold(part, threshold, cap)


def _with_threshold(part: Part, threshold: int, cap: int | None) -> Part:
    recipe = part.recipe
    if isinstance(recipe, BlanksRecipe):
        recipe = replace(recipe, threshold=threshold)
    layout = replace(part.layout, cap=cap)
    return replace(part, threshold=threshold, recipe=recipe, layout=layout)


def with_one_fake_each(part: Part) -> Part:
    """The part whose devices add one fake each."""
    assert part.own is not None
    return replace(part, own=OwnFakes(part.own.record, 1, 0))


def fake_rate(part: Part) -> float:
    """How often a bit of a fake is set."""
    q = (part.threshold or 0) / SCALE
    uniform = part.own is not None and part.own.record is FakeRecord.UNIFORM
    return q + (1.0 - 2.0 * q) / part.bins if uniform else q


def flip_checks(name: str, part: Part, lab: AttackLab, count: int) -> CountedChecks:
    """Tests of so many flipped reports and flipped fakes.

    Of a uniform fake's bits one is likelier set than the others: their sum varies less than the
    binomial it is tested as, which only makes false alarms rarer (Hoeffding 1956).
    """
    total, start = list[Checks](), _first_code(part.bins, count)
    label = f"at q = {(part.threshold or 0) / SCALE:.3g}{name}"
    for span in spans(count, max(2, _SPAN_BITS // part.bins)):
        some = _flip_span_checks(label, part, np.arange(start + span.start, start + span.stop), lab)
        total = [one + other for one, other in zip(total, some, strict=True)] if total else some
    return total, 2 * count


def _flip_span_checks(label: str, part: Part, numbers: Counts, lab: AttackLab) -> list[Checks]:
    """Of as many fakes as ``numbers``, and reports of these bins, modulo how many there are.

    A record's repeats stand together: each of them is a report like any other. Of free bits every
    last record sets none.
    """
    bins, q, count, layout = part.bins, (part.threshold or 0) / SCALE, len(numbers), part.layout
    people = numbers[:: part.repeats] % (bins + (part.most_set is None))
    held = _pack_records(bins, np.repeat(people, part.repeats)[:count])
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
    if any(one.hits.any() for one in numbers_off):
        count, sent, fakes, held = 0, sent[:0], fakes[:0], held[:0]
    rows, blanks, uniform = (
        layout.to_packed_bits(sent),
        layout.to_packed_bits(fakes),
        fake_rate(part) != q,
    )
    set_bits = column_counts(held, bins)
    clear, own = column_counts(rows & ~held, bins), column_counts(~rows & held, bins)
    flips = rows ^ held if uniform else np.concatenate([rows ^ held, blanks])
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
    """How often bits of flipped fakes are set."""
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
    """Whether devices or hops add any."""
    return part.own is not None or part.by_mixes


def _draw_fakes(part: Part, count: int, lab: AttackLab) -> Rows:
    """So many flipped fakes of devices, or blanks of a hop; none where nobody adds any."""
    if isinstance(part.recipe, CountedRecipe):
        return lab.device.added(replace(part.recipe, count=count), part.layout, lab.chance)
    return (
        lab.device.fakes(with_one_fake_each(part), count, lab.chance)[0]
        if part.own
        else _no_messages(part)
    )


def _no_messages(part: Part) -> Rows:
    return part.layout.blank_rows(0)


def _count_refused(layout: Layout, rows: Rows) -> int:
    """How many messages are dropped before they are counted."""
    return sum(sift(layout, rows).dropped.values())


def _pack_records(bins: int, codes: Counts) -> Rows:
    """Packed records, each of one bin; of none where that lies beyond the last."""
    return first_positions(Layout(Form.BITS, bins + 1), one_hot_rows(codes, bins + 1), bins)


def _count_repeated_bits(flips: Rows) -> int:
    """Bits set in a message and in the next, of pairs that share none."""
    pairs = len(flips) // 2
    both = flips[0 : 2 * pairs : 2] & flips[1 : 2 * pairs : 2]
    return int(np.bitwise_count(both).sum(dtype=np.int64))


def _first_code(bins: int, count: int) -> int:
    """Where codes start, so that a few reports of many bins end with the last bin."""
    return bins - count if count < bins else 0


def _count_by_place(counts: Counts) -> Counts:
    """Counts of the positions whose numbers agree modulo 64: where they lie in a word."""
    return np.bincount(np.arange(len(counts)) % _BLOCKS, weights=counts).astype(np.int64)


def coin_checks(name: str, part: Part, lab: AttackLab, most: int) -> CountedChecks:
    """How many fakes devices draw by their coins: no more than ``most``, or of 100 devices."""
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
    """Whether a draw with more ones than the cap is drawn again, where about half of all are."""
    if part.threshold is None or part.layout.cap is None:
        return [], 0
    largest = part.bins if part.most_set is None else part.most_set
    half = _with_threshold(part, PROBES[0], max(largest, least_cap(part.bins, 1, PROBES[0], 0.5)))
    codes = np.arange(_CAPPED) % part.bins
    sent, fakes = lab.device.reports(half, codes, lab.chance), _draw_fakes(half, _CAPPED, lab)
    over = _count_refused(half.layout, sent) + _count_refused(half.layout, fakes)
    check = Checks.of_difference(f"message with more ones than its cap{name}", over)
    return [check], len(sent) + len(fakes)


def separation_checks(name: str, part: Part, lab: AttackLab) -> CountedChecks:
    """Whether a direction is drawn again in which a member of a set meets another: of sets of every
    size, over the fewest planes of a direction, where most sets meet.
    """
    most = part.pads
    if part.planes is None or not most:
        return [], 0
    prime = next(one for one in count_from(2 * most) if is_prime(one))
    planes, bins = Planes(prime, most_digits(prime)), prime + 1
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
    points = np.repeat(np.array(own), most, axis=0)[: len(named)]
    shown = planes_hold_points(planes, np.repeat(named[: len(points)], most), points.ravel())
    due = np.resize(np.eye(most, dtype=np.bool_), points.shape)
    met = int((shown.reshape(points.shape) != due).any(axis=1).sum())
    return [
        Checks.of_difference(f"message of a set that is missing or too many{name}", lost),
        Checks.of_difference(f"message that holds more or others than its member{name}", met),
    ], len(named)


def clear_checks(name: str, part: Part, lab: AttackLab, count: int) -> CountedChecks:
    """Whether so many reports in clear name their bin, or any as often as values are replaced, and
    the pads that a set of it lacks; and fakes any of these alike.
    """
    g, cells, most = (part.replaced or 0) / SCALE, part.layout.bins, part.record_messages
    codes = (np.arange(count // most) + _first_code(part.bins, count // most)) % part.bins
    named = part.layout.codes(lab.device.reports(part, codes, lab.chance))
    pads = (np.full_like(codes, part.bins + place) for place in range(most - 1))
    expected = np.column_stack([codes, *pads]).ravel()
    some, held = named[: len(expected)], expected[: len(named)]
    right = some == held
    if part.planes is not None:
        points, cells = points_of(part, part.planes, held), part.planes.prime
        right = planes_hold_points(part.planes, some, points)
    wrong, due = int((~right).sum()), g * (1.0 - 1.0 / cells)
    checks = [
        Checks.of_difference(
            f"report that is missing or too many{name}", len(named) - len(expected)
        ),
        Checks.of(f"report that names another bin{name}", wrong, len(expected), due),
    ]
    if part.planes is not None:
        every = part.planes.device_planes.directions
        checks += _uniformity_checks(
            f"direction of a report{name}", some // part.planes.prime, every
        )
    elif part.replaced is not None:
        off = np.bincount((some - held) % cells, minlength=cells)[1:]
        checks.append(Checks.of(f"report so many bins away{name}", off, len(expected), g / cells))
    if part.own is None and not isinstance(part.recipe, UniformRecipe):
        return checks, count
    fakes = part.layout.codes(_draw_fakes(part, count, lab))
    return [
        *checks,
        Checks.of_difference(f"fake that is missing or too many{name}", len(fakes) - count),
        *_uniformity_checks(f"fake{name}", fakes, part.layout.bins),
    ], 2 * count


def _uniformity_checks(what: str, drawn: Counts, every: int) -> list[Checks]:
    """Whether numbers are uniform below ``every``: blocks, two in a row, each where few."""
    inside = drawn[(drawn >= 0) & (drawn < every)]
    ends = [-(-every * block // _BLOCKS) for block in range(1, _BLOCKS + 1)]
    sizes = np.diff(np.array([0, *ends], dtype=np.float64))
    place = np.searchsorted(np.array(ends[:-1], dtype=np.int64), inside, side="right")
    blocks = np.bincount(place, minlength=_BLOCKS)
    pairs = len(drawn) // 2
    same = int((drawn[0 : 2 * pairs : 2] == drawn[1 : 2 * pairs : 2]).sum())
    found = [
        Checks.of_difference(f"{what} past the last", len(drawn) - len(inside)),
        Checks.of(f"{what} in a block", blocks, len(drawn), sizes / every),
        Checks.of(f"{what} like the one before", same, pairs, 1.0 / every),
    ]
    if every <= _MOST_COUNTED_NUMBERS:
        seen = np.bincount(inside, minlength=every)
        found.append(Checks.of(f"{what} in a bin", seen, len(drawn), 1.0 / every))
    return found


def _shaped_checks(
    name: str, part: Part, shape: AnyShape, lab: AttackLab, most: int
) -> CountedChecks:
    """Tests of the numbers that a hop draws."""
    weights = np.array(shape.weights, dtype=np.float64) / SCALE
    seen, drawn, pairs, same = np.zeros(len(weights), np.int64), 0, 0, 0
    past, messages, most = 0, 0, most // (2 * shape.shift)
    bins = max(2, min(part.bins, most))
    layout = Layout(Form.INDEX, bins)
    # Not until enough were drawn: the number of rounds must not depend on what is tested.
    for _ in range(max(1, most // bins)):
        rows = lab.device.added(shape, layout, lab.chance)
        numbers = np.bincount(layout.codes(rows), minlength=bins)[:bins]
        counts = np.bincount(numbers)
        past += int(counts[len(weights) :].sum())
        counts = counts[: len(weights)]
        seen[: len(counts)] += counts
        even = len(numbers) // 2 * 2
        same += int((numbers[0:even:2] == numbers[1:even:2]).sum())
        pairs += even // 2
        drawn += bins
        messages += len(rows)
    away = np.abs(np.arange(len(weights)) - shape.shift)
    widths = np.unique(np.geomspace(1, shape.shift, 6).astype(np.intp))
    near_seen = [int(seen[away < width].sum()) for width in widths]
    near_chance = [min(1.0, float(weights[away < width].sum())) for width in widths]
    return [
        Checks.of_difference(f"number of fakes past the last{name}", past),
        Checks.of(f"number of fakes in a bin{name}", seen, drawn, weights),
        Checks.of(f"number of fakes near the mean{name}", near_seen, drawn, near_chance),
        Checks.of(f"two neighboring bins{name}", same, pairs, float(weights @ weights)),
    ], messages
