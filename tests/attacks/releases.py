"""An audit of everything of ours that draws noise: every bit position of every mechanism, flipped
records of any number of bits, repeats, both kernels, fakes in clear and from mixes, one person's
own code, and both levels of memoized answers.

Each audit shares 1e-4 among its exact binomial tests.
"""

import numpy as np

from attacks.conftest import ERROR
from attacks.mechanisms import part
from helpers.contracts import flipped
from helpers.named import (
    clear_paired,
    clear_shaped,
    clear_uniform,
    flip_bits,
    flip_blank,
    flip_uniform,
    kary_response,
    single_bit,
)
from helpers.protocols import examples_of
from mixtally.accounting.parameters import parse_parameters
from mixtally.lab.attacks.audit import Checks, find_failures
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.contract import FakeRecord
from mixtally.model.layout import Form
from mixtally.model.mechanism import protocols
from mixtally.model.mechanism.memoized import make_memoized as memoized_mechanism
from mixtally.model.shape import ratio_of
from mixtally.primitives.bits import one_hot_rows, row_bytes
from mixtally.primitives.counting import column_counts
from mixtally.primitives.fixed_point import SCALE, threshold_of
from mixtally.protocol.randomize import memoized

PEOPLE = 200_000
LAGS = (1, 2, 3, 7, 8, 63, 64, 1000)
RATES = (0.31, 0.0101, 0.0099, 2.0**-11)
"""On both sides of where one kernel takes over from the other."""


def flipping():
    """Every protocol that flips, at every rate that matters, with all it can hold."""
    for q in RATES:
        threshold = threshold_of(q)
        yield flip_blank(bins=65, fakes=500, threshold=threshold)
        yield flip_blank(bins=23, fakes=500, threshold=threshold, max_set=5)
        yield flip_bits(bins=40, threshold=threshold, crowd=500)
        yield flip_bits(bins=3, threshold=threshold, crowd=500, repeats=4)
        yield single_bit(fakes=100, threshold=threshold, crowd=500)
        yield flip_uniform(bins=20, fakes=500, threshold=threshold)


def clear():
    """Every protocol whose records travel in clear."""
    yield from (clear_uniform(bins=bins, fakes=1000) for bins in (2, 9, 105, 256, 257, 5000))
    yield from (kary_response(bins=bins, replaced=1 << 62, crowd=500) for bins in (2, 9, 257))
    yield kary_response(bins=105, replaced=1 << 60, crowd=500, fakes=500)
    yield clear_shaped(bins=30, ratio=ratio_of(0.5), shift=27)
    yield clear_shaped(bins=7, ratio=ratio_of(0.05), shift=200, mixes=3)
    yield clear_paired(ratio=ratio_of(0.1), shift=140, mixes=2)


def name_of(part):
    flip = f", q = {part.threshold / SCALE:.3g}" if part.threshold else ""
    return f"{part.protocol}, {part.bins} bins, {part.layout.form}{flip}"


def held_by(part, people):
    """Records of as many set bits as there may be, a different choice for every person."""
    most = part.bins if part.most_set is None else part.most_set
    most = most if most < part.bins else -(-part.bins // 2)
    people = np.arange(people)
    rows = np.zeros((len(people), row_bytes(part.bins)), dtype=np.uint8)
    for place in range(most):
        rows |= one_hot_rows((people // part.bins + people + place * 3) % part.bins, part.bins)
    return rows


def flips_of(part, chance, device):
    """The flips of reports, what the reports held, and flipped fakes, if there are any."""
    times = part.repeats
    held = held_by(part, PEOPLE // times)
    rows = part.layout.to_packed_bits(device.reports(part, held, chance))
    held = np.repeat(held, times, axis=0)
    blanks = None
    if part.own is not None:
        blanks = part.layout.to_packed_bits(device.fakes(part, PEOPLE, chance)[0])
    elif part.by_mixes:
        blanks = part.layout.to_packed_bits(device.added(part.recipe, part.layout, chance))
    return rows ^ held, held, blanks


def independent(name, flips, bins, q, pair=None):
    """Each position's rate, each pair of positions, and messages at some distance of each other.

    ``pair`` is the chance of two positions where they are not independent of each other.
    """
    count = len(flips)
    bits = np.unpackbits(flips, axis=1, count=bins, bitorder="little").astype(np.float32)
    both = np.rint(bits.T @ bits).astype(np.int64)
    pairs = both[np.triu_indices(bins, 1)]
    checks = [
        Checks.of(f"{name}: flips of a position", np.diag(both), count, q),
        Checks.of(f"{name}: all flips", np.trace(both), count * bins, q),
        Checks.of(f"{name}: padding", int(np.unpackbits(flips, axis=1).sum() - bits.sum()), 1, 0.0),
    ]
    if bins > 1:
        checks.append(
            Checks.of(f"{name}: two positions", pairs, count, q * q if pair is None else pair)
        )
    for lag in LAGS:
        blocks = flips[: count // (2 * lag) * 2 * lag].reshape(-1, 2, lag, flips.shape[1])
        met = int(np.bitwise_count(blocks[:, 0] & blocks[:, 1]).sum(dtype=np.int64))
        trials = blocks[:, 0].shape[0] * lag * bins
        checks.append(Checks.of(f"{name}: messages {lag} apart", met, trials, q * q))
    return checks


def shown_by_a_fake(part):
    """The chance that a fake sets a position, and two of them.

    One bit of a uniform fake is likelier than the others: sums over its positions vary less than
    the binomial they are tested as, which only makes false alarms rarer.
    """
    q, bins = part.threshold / SCALE, part.bins
    if part.own is None or part.own.record is FakeRecord.BLANK:
        return q, q * q
    pair = (2 * q * (1 - q) + (bins - 2) * q * q) / bins
    return q + (1 - 2 * q) / bins, pair


def flip_audit(part, device, seed=1):
    chance, q, bins = SeededChance(seed), part.threshold / SCALE, part.bins
    flips, held, blanks = flips_of(part, chance, device)
    set_bits = column_counts(held, bins)
    fell, rose = column_counts(flips & held, bins), column_counts(flips & ~held, bins)
    fakes = [] if blanks is None else independent("fake", blanks, bins, *shown_by_a_fake(part))
    return [
        *independent("report", flips, bins, q),
        *fakes,
        Checks.of("set bit clear", fell, set_bits, q),
        Checks.of("clear bit set", rose, len(held) - set_bits, q),
    ]


def clear_audit(part, device, seed=1):
    chance, bins, layout = SeededChance(seed), part.bins, part.layout
    codes = np.arange(PEOPLE) % bins
    away = (layout.codes(device.reports(part, codes, chance)) - codes) % bins
    other = np.bincount(away, minlength=bins)[1:]
    due = (part.replaced or 0) / SCALE / bins
    checks = [Checks.of("report so many bins away", other, PEOPLE, due)]
    if part.replaced is not None and part.own is None:
        return checks
    if part.by_mixes:
        weights = np.array([float(w) for w in part.recipe.weights]) / SCALE
        rounds = PEOPLE // (2 * bins)
        draws = [layout.codes(device.added(part.recipe, layout, chance)) for _ in range(rounds)]
        numbers = np.array([np.bincount(one, minlength=bins) for one in draws])
        most = len(weights) - 1
        checks.append(Checks.of("too many fakes", int((numbers > most).sum()), numbers.size, 0.0))
        numbers = np.minimum(numbers, most)
        seen = np.array([np.bincount(numbers[:, i], minlength=most + 1) for i in range(bins)])
        checks.append(Checks.of("number in a bin", seen, rounds, weights[None, :]))
        if part.recipe.paired:  # one bin says everything
            off = int((numbers.sum(axis=1) != most).sum())
            return [*checks, Checks.of("total that is not fixed", off, rounds, 0.0)]
        checks.append(Checks.of("number in any bin", seen.sum(axis=0), rounds * bins, weights))
        for lag in range(1, bins):
            same = int((numbers[:, :-lag] == numbers[:, lag:])[:, 0].sum())
            checks.append(Checks.of(f"bins {lag} apart", same, rounds, float(weights @ weights)))
        return checks
    drawn = layout.codes(device.fakes(part, PEOPLE, chance)[0])
    seen = np.bincount(drawn, minlength=bins)
    checks.append(Checks.of("fake past the last bin", int(seen[bins:].sum()), PEOPLE, 0.0))
    checks.append(Checks.of("fake in a bin", seen[:bins], PEOPLE, 1.0 / bins))
    for lag in LAGS:
        blocks = drawn[: PEOPLE // (2 * lag) * 2 * lag].reshape(-1, 2, lag)
        same = blocks[:, 0] == blocks[:, 1]
        checks.append(Checks.of(f"fakes {lag} apart", int(same.sum()), same.size, 1.0 / bins))
    if bins < 10:
        pairs = np.bincount(drawn[0::2] * bins + drawn[1::2], minlength=bins * bins)[: bins * bins]
        checks.append(Checks.of("pair of fakes", pairs, PEOPLE // 2, 1.0 / bins**2))
    return checks


def memoized_audit(mechanism, device=memoized, seed=1):
    """Both levels; two reports of what is kept are independent, given what is kept."""
    chance = SeededChance(seed)
    records = one_hot_rows(np.arange(PEOPLE) % mechanism.bins, mechanism.bins)
    held = device.draw_permanent_response(mechanism, records, chance)
    first, second = (device.draw_reports(mechanism, held, chance) for _ in range(2))
    kept = column_counts(held, mechanism.bins)
    checks = independent("kept", held ^ records, mechanism.bins, mechanism.f / 2.0)
    for name, chosen, trials, rate in (
        ("kept 1", held, kept, mechanism.q / SCALE),
        ("kept 0", ~held, PEOPLE - kept, mechanism.p / SCALE),
    ):
        for place, shown in enumerate((first, second)):
            counts = column_counts(shown & chosen, mechanism.bins)
            checks.append(Checks.of(f"{name} in report {place}", counts, trials, rate))
        twice = column_counts(first & second & chosen, mechanism.bins)
        checks.append(Checks.of(f"{name} in both", twice, trials, rate * rate))
    return checks


MIXED = flipped(23, most_set=5, q=0.31, blanks=PEOPLE)
NAMED = part(flip_blank(bins=65, fakes=500, threshold=threshold_of(0.31)), Form.POSITIONS)
_CHOSEN = [*map(part, flipping()), MIXED, NAMED, *map(part, clear())]
_OTHERS = [
    part(parse_parameters(name, examples_of(name)).honest_record.message.mechanism)
    for name in protocols()
    if name not in {one.protocol for one in _CHOSEN}
]
"""One of every protocol that is registered and not chosen above."""
AUDITS = [
    (name_of(one), clear_audit if one.threshold is None else flip_audit, one)
    for one in (*_CHOSEN, *_OTHERS)
]
SMALL = [
    part(one)
    for one in (
        flip_blank(bins=13, fakes=100, threshold=threshold_of(0.2)),
        flip_bits(bins=9, threshold=threshold_of(0.03), crowd=90),
        single_bit(fakes=9, threshold=threshold_of(0.1), crowd=90),
        flip_uniform(bins=12, fakes=100, threshold=threshold_of(0.05)),
        clear_uniform(bins=11, fakes=100),
    )
]
MEMOIZED = [
    memoized_mechanism(bins, f, p, q)
    for bins in (13, 64)
    for f, p, q in ((0.5, 0.5, 0.75), (0.004, 0.003, 0.9), (0.3, 0.0, 1.0))
]


def failures(checks):
    return find_failures(checks, ERROR)[0]
