"""An audit of everything of ours that draws noise: every bit position of every protocol, flipped
records of any number of bits, repeats, both kernels, fakes in clear and from mixes, one person's
own code, and both levels of a memory.

Each audit shares 1e-4 among its exact binomial tests.
"""

from dataclasses import dataclass

import numpy as np

from lab.attack.conftest import ERROR
from mixtally.ground.bits import column_counts, one_hot
from mixtally.ground.fixed import SCALE, threshold_of
from mixtally.lab.attack.checks import Checks, flagged
from mixtally.lab.seeded import SeededChance
from mixtally.mix import shaped_fakes
from mixtally.protocols.clear_shaped import ClearShaped, ratio_of
from mixtally.protocols.clear_uniform import ClearUniform
from mixtally.protocols.flip_blank import FlipBlank
from mixtally.protocols.flip_uniform import FlipUniform
from mixtally.protocols.flip_vector import FlipVector
from mixtally.protocols.flips import Flips
from mixtally.protocols.single_bit import SingleBit
from mixtally.protocols.two_level import two_level
from mixtally.randomize import fakes, memory, one_fake, one_report, reports
from mixtally.records.question import Question

PEOPLE = 200_000
LAGS = (1, 2, 3, 7, 8, 63, 64, 1000)
RATES = (0.31, 0.0101, 0.0099, 2.0**-11)
"""On both sides of where one kernel takes over from the other."""


def flipping():
    """Every protocol that flips, at every rate that matters, with all it can hold."""
    for q in RATES:
        threshold = threshold_of(q)
        yield FlipBlank(bins=65, fakes=500, threshold=threshold)
        yield FlipBlank(bins=23, fakes=500, threshold=threshold, max_set=5)
        yield FlipVector(bins=40, fakes=0, threshold=threshold, crowd=500)
        yield FlipVector(bins=3, fakes=0, threshold=threshold, crowd=500, repeats=4)
        yield SingleBit(bins=1, fakes=100, threshold=threshold, crowd=500)
        yield FlipUniform(bins=20, fakes=500, threshold=threshold)


def clear():
    """Every protocol whose records travel in clear."""
    yield from (ClearUniform(bins=bins, fakes=1000) for bins in (2, 9, 105, 256, 257, 5000))
    yield ClearShaped.shaped(30, ratio_of(0.5), 27)
    yield ClearShaped.shaped(7, ratio_of(0.05), 200, mixes=3)


def name_of(protocol):
    flip = f", q = {protocol.flip_probability:.3g}" if isinstance(protocol, Flips) else ""
    return f"{protocol.name}, {protocol.bins} bins{flip}"


def held_by(protocol, people):
    """Records of as many set bits as there may be, a different choice for every person."""
    most = protocol.most_set if protocol.most_set < protocol.bins else -(-protocol.bins // 2)
    people = np.arange(people)
    rows = np.zeros((len(people), protocol.layout.message_bytes), dtype=np.uint8)
    for place in range(most):
        rows |= one_hot((people // protocol.bins + people + place * 3) % protocol.bins,
                        protocol.bins)  # fmt: skip
    return rows


def flips_of(protocol, chance, device):
    """The flips of reports, what the reports held, and the flips of blanks."""
    times = protocol.messages_per_record
    held = held_by(protocol, PEOPLE // times)
    rows = device.reports(protocol, held, chance)
    held = np.repeat(held, times, axis=0)
    return rows ^ held, held, device.fakes(protocol, PEOPLE, chance)


@dataclass
class Release:
    """What is audited: ours, or something broken in its place."""

    reports: object = reports
    fakes: object = fakes
    shaped: object = shaped_fakes
    one_report: object = one_report
    one_fake: object = one_fake


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


def shown_by_a_fake(protocol):
    """The chance that a fake sets a position, and two of them.

    One bit of a uniform fake is likelier than the others: sums over its positions vary less than
    the binomial they are tested as, which only makes false alarms rarer.
    """
    q, bins = protocol.flip_probability, protocol.bins
    if not protocol.uniform_fakes:
        return q, q * q
    pair = (2 * q * (1 - q) + (bins - 2) * q * q) / bins
    return q + (1 - 2 * q) / bins, pair


def flip_audit(protocol, device, seed=1):
    chance, q, bins = SeededChance(seed), protocol.flip_probability, protocol.bins
    flips, held, blanks = flips_of(protocol, chance, device)
    set_bits = column_counts(held, bins)
    fell, rose = column_counts(flips & held, bins), column_counts(flips & ~held, bins)
    return [
        *independent("report", flips, bins, q),
        *independent("fake", blanks, bins, *shown_by_a_fake(protocol)),
        Checks.of("set bit clear", fell, set_bits, q),
        Checks.of("clear bit set", rose, len(held) - set_bits, q),
    ]


def clear_audit(protocol, device, seed=1):
    chance, bins, layout = SeededChance(seed), protocol.bins, protocol.layout
    codes = np.arange(PEOPLE) % bins
    wrong = layout.codes(device.reports(protocol, codes, chance)) != codes
    checks = [Checks.of("report of another bin", int(wrong.sum()), PEOPLE, 0.0)]
    if isinstance(protocol, ClearShaped):
        weights = np.array([float(w) for w in protocol.weights]) / SCALE
        rounds = PEOPLE // (2 * bins)
        draws = [layout.codes(device.shaped(protocol.weights, layout, chance))
                 for _ in range(rounds)]  # fmt: skip
        numbers = np.array([np.bincount(one, minlength=bins) for one in draws])
        most = len(weights) - 1
        checks.append(Checks.of("too many fakes", int((numbers > most).sum()), numbers.size, 0.0))
        numbers = np.minimum(numbers, most)
        seen = np.array([np.bincount(numbers[:, i], minlength=most + 1) for i in range(bins)])
        checks.append(Checks.of("number in a bin", seen, rounds, weights[None, :]))
        checks.append(Checks.of("number in any bin", seen.sum(axis=0), rounds * bins, weights))
        for lag in range(1, bins):
            same = int((numbers[:, :-lag] == numbers[:, lag:])[:, 0].sum())
            checks.append(Checks.of(f"bins {lag} apart", same, rounds, float(weights @ weights)))
        return checks
    drawn = layout.codes(device.fakes(protocol, PEOPLE, chance))
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


def memory_audit(plan, device=memory, seed=1):
    """Both levels; two reports of what is kept are independent, given what is kept."""
    chance = SeededChance(seed)
    records = one_hot(np.arange(PEOPLE) % plan.bits, plan.bits)
    held = device.permanent_response(plan, records, chance)
    first, second = (device.report(plan, held, chance) for _ in range(2))
    kept = column_counts(held, plan.bits)
    checks = independent("kept", held ^ records, plan.bits, plan.f / 2.0)
    for name, chosen, trials, rate in (
        ("kept 1", held, kept, plan.q / SCALE),
        ("kept 0", ~held, PEOPLE - kept, plan.p / SCALE),
    ):
        for place, shown in enumerate((first, second)):
            counts = column_counts(shown & chosen, plan.bits)
            checks.append(Checks.of(f"{name} in report {place}", counts, trials, rate))
        twice = column_counts(first & second & chosen, plan.bits)
        checks.append(Checks.of(f"{name} in both", twice, trials, rate * rate))
    return checks


def one_audit(protocol, device, seed=1, people=20_000):
    """The code of a single device, written apart from that of batches."""
    chance, bins = SeededChance(seed), protocol.bins
    sent = [device.one_report(protocol, i % bins, chance) for i in range(people)]
    blanks = [device.one_fake(protocol, chance) for _ in range(people)]
    rows, fake_rows = protocol.layout.read(sent), protocol.layout.read(blanks)
    if isinstance(protocol, Flips):
        q, held = protocol.flip_probability, protocol.layout.rows(np.arange(people) % bins)
        found = independent("report", rows ^ held, bins, q)
        return found + independent("fake", fake_rows, bins, *shown_by_a_fake(protocol))
    seen = np.bincount(protocol.layout.codes(fake_rows), minlength=bins)
    return [
        Checks.of("report", int((protocol.layout.codes(rows) != np.arange(people) % bins).sum()),
                  people, 0.0),
        Checks.of("fake", seen, people, 1.0 / bins),
    ]  # fmt: skip


AUDITS = [(name_of(p), flip_audit, p) for p in flipping()] + [
    (name_of(p), clear_audit, p) for p in clear()
]
SMALL = [
    FlipBlank(bins=13, fakes=100, threshold=threshold_of(0.2)),
    FlipVector(bins=9, fakes=0, threshold=threshold_of(0.03), crowd=90),
    SingleBit(bins=1, fakes=9, threshold=threshold_of(0.1), crowd=90),
    FlipUniform(bins=12, fakes=100, threshold=threshold_of(0.05)),
    ClearUniform(bins=11, fakes=100),
]
MEMORIES = [
    two_level(Question(name="color", bins=bins), f, p, q)
    for bins in (13, 64)
    for f, p, q in ((0.5, 0.5, 0.75), (0.004, 0.003, 0.9), (0.3, 0.0, 1.0))
]


def failures(checks):
    return flagged(checks, ERROR)[0]
