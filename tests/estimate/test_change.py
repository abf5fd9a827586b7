"""Changes: their law from the definition, their intervals' coverage, and bugs that must be seen.

Statistical tests draw 20,000 pairs of collections (draw_counts: exact laws, fixed seeds). The exact
coverages of the cases lie between 0.9505 and 0.9519, a share of 20,000 has a standard error of
0.0015: it leaves 0.94 .. 0.96 with probability below 1e-6 a case.
"""

from functools import lru_cache

import numpy as np
import pytest
from msgspec.structs import replace

from mixtally.errors import MessageError, ParameterError
from mixtally.estimate import change as module
from mixtally.estimate.change import change_intervals, difference_distribution, estimate_change
from mixtally.estimate.intervals import EXACT, NORMAL
from mixtally.estimate.noise import noise_distribution
from mixtally.ground.fixed import threshold_of
from mixtally.records.mechanism import ShapedFakes
from mixtally.records.mechanism.fakes import ratio_of
from mixtally.records.mechanism.named import (
    clear_shaped,
    clear_uniform,
    flip_bits,
    flip_blank,
    flip_uniform,
)
from mixtally.records.results import Intervals, Tally
from mixtally.simulation.seeded import SeededChance
from reference.coverage import draw_counts

RUNS = 20_000
FLIP = flip_blank(bins=2, fakes=20_000, threshold=threshold_of(0.02))
WIDE = flip_blank(bins=2, fakes=20_000, threshold=threshold_of(0.2))
UNIFORM = clear_uniform(bins=2, fakes=2_000)
MANY = clear_uniform(bins=2, fakes=8_000)
SHAPED = clear_shaped(bins=2, ratio=ratio_of(0.05), shift=300)
BOTH = flip_uniform(bins=2, fakes=1_000, threshold=threshold_of(0.005))
LOUD = flip_uniform(bins=2, fakes=20_000, threshold=threshold_of(0.05))
TWICE = flip_bits(bins=2, threshold=int(0.02 * 2**64), crowd=20_000, repeats=2)
CASES = {
    "flips": FLIP, "wide": WIDE, "uniform": UNIFORM, "many": MANY, "shaped": SHAPED, "twice": TWICE,
    "flipped uniform": BOTH, "loud": LOUD,
    "uniform twice": replace(UNIFORM, repeats=2), "many thrice": replace(MANY, repeats=3),
    "shaped twice": replace(SHAPED, repeats=2),
}  # fmt: skip
BEFORE, AFTER = np.array([300, 9_000]), np.array([340, 12_000])
USERS = (20_000, 23_000)


@lru_cache
def pairs(name):
    """Distinct pairs of tallied counts of each bin, and how often they were drawn."""
    mechanism, chance = CASES[name], SeededChance(7)
    sizes = [users * mechanism.repeats + mechanism.fakes_promised for users in USERS]
    drawn = [
        draw_counts(mechanism, truth, size, RUNS, chance)
        for truth, size in zip((BEFORE, AFTER), sizes, strict=True)
    ]
    return mechanism, sizes, drawn


def covered(name, intervals=change_intervals):
    """Share of the drawn pairs, bin by bin, whose interval holds the true change.

    The interval depends on the difference alone, so all pairs are handed over as one tally.
    """
    mechanism, sizes, (first, second) = pairs(name)
    rise, shares = AFTER - BEFORE, []
    for place in (0, 1):
        tallies = [Tally(d[:, place], n) for d, n in zip((first, second), sizes, strict=True)]
        found = intervals(mechanism, *tallies, 0.95, simultaneous_over=1)
        shares.append(np.mean((found.lower <= rise[place]) & (rise[place] <= found.upper)))
    return shares


@pytest.mark.parametrize("name", CASES)
def test_95_percent_intervals_cover_94_to_96_percent(name):
    """False alarm below 1e-6 a case; fixed seed."""
    assert all(0.94 <= share <= 0.96 for share in covered(name))


def forgetful(mechanism, earlier, later, level, *, simultaneous_over):
    """The planted bug: the later epoch's own interval, moved by the earlier estimate."""
    found = module.intervals(mechanism, later, level, simultaneous_over=simultaneous_over)
    before = np.rint(mechanism.unbiased(earlier.counts, earlier.messages)).astype(np.int64)
    return Intervals(found.lower - before, found.upper - before, level, found.method, False)


@pytest.mark.parametrize("name", ["uniform", "many", "shaped", "flipped uniform", "loud"])
def test_forgetting_one_epochs_noise_would_be_seen(name):
    """It covers about 83 %: 70 standard errors away."""
    assert max(covered(name, forgetful)) < 0.9


def test_shared_noise_would_be_seen():
    """A second planted bug: the earlier epoch's tally once more, as if noise were never drawn anew.

    Then the change has no noise at all and every interval holds it: far above 96 %.
    """
    mechanism, sizes, (first, _) = pairs("uniform")
    rise = (AFTER - BEFORE)[0]
    copied = Tally(first[:, 0] + rise, sizes[1])
    found = change_intervals(
        mechanism, Tally(first[:, 0], sizes[0]), copied, 0.95, simultaneous_over=1
    )
    assert np.mean((found.lower <= rise) & (rise <= found.upper)) == 1.0


@pytest.mark.parametrize("name", CASES)
def test_estimates_are_unbiased_with_the_stated_error(name):
    """False alarm below 1e-8 a case: means within six standard errors, deviations within 4 %."""
    mechanism, sizes, (first, second) = pairs(name)
    rises = [
        estimate_change(mechanism, Tally(a, sizes[0]), Tally(b, sizes[1]))
        for a, b in zip(first[:1], second[:1], strict=True)
    ]
    error = rises[0].standard_error
    unbiased = mechanism.unbiased(second, sizes[1]) - mechanism.unbiased(first, sizes[0])
    assert np.array_equal(rises[0].counts, unbiased[0])
    off = unbiased - (AFTER - BEFORE)
    assert np.all(np.abs(off.mean(axis=0)) < 6 * error / RUNS**0.5)
    assert off.std(axis=0) == pytest.approx([error, error], rel=0.04)


def tallied(mechanism, messages, z):
    """P(s) for s = 0.. from the noise's own law."""
    law = noise_distribution(mechanism, messages, z)
    out = np.zeros(messages + len(law.pmf) + 1)
    start = z + law.first
    out[start : start + len(law.pmf)] = law.pmf
    return out


@pytest.mark.parametrize(
    "mechanism",
    [
        flip_blank(bins=2, fakes=3, threshold=threshold_of(0.1)),
        flip_blank(bins=2, fakes=0, threshold=threshold_of(0.4)),
        clear_uniform(bins=2, fakes=6),
        clear_shaped(bins=2, ratio=ratio_of(0.5), shift=3),
    ],
    ids=lambda p: f"{p.name}-{p.fakes_promised}",
)
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_an_interval_is_every_change_that_the_exact_test_keeps(mechanism, level):
    """Against the law of s' - s from the definition, for every pair of counts with that change."""
    users, tail = (5, 7), (1 - level) / 2
    sizes = [n + mechanism.fakes_promised for n in users]
    most = [
        n if not isinstance(mechanism.fakes, ShapedFakes) else n + mechanism.fakes_promised
        for n in users
    ]
    zero = sizes[0] + 2 * mechanism.fakes_promised + 8
    kept = {}
    for z in range(most[0] + 1):
        for w in range(most[1] + 1):
            law = np.convolve(
                tallied(mechanism, sizes[1], w), tallied(mechanism, sizes[0], z)[::-1]
            )
            first = -len(tallied(mechanism, sizes[0], z)) + 1
            for d in range(-zero, zero + sizes[1]):
                at = d - first
                above = law[max(at, 0) :].sum() if at < len(law) else 0.0
                below = law[: at + 1].sum() if at >= 0 else 0.0
                good = above > tail * (1 + 1e-9) and below > tail * (1 + 1e-9)
                assert (
                    kept.setdefault((d, w - z), good) == good
                )  # the counts themselves say nothing
    for d in range(-users[0], users[1] + 1):
        want = [c for c in range(-most[0], most[1] + 1) if kept[d, c]]
        base = mechanism.fakes_promised + users[0]
        earlier, later = (
            Tally(np.array([base, 0]), sizes[0]),
            Tally(np.array([base + d, 0]), sizes[1]),
        )
        found = change_intervals(mechanism, earlier, later, level, simultaneous_over=1)
        assert found.method == EXACT
        if want:
            assert (found.lower[0], found.upper[0]) == (want[0], want[-1])


def test_the_normal_is_used_where_noise_is_large():
    methods = {}
    for name in CASES:
        mechanism, sizes, (first, second) = pairs(name)
        found = estimate_change(mechanism, Tally(first[0], sizes[0]), Tally(second[0], sizes[1]))
        methods[name] = found.each.method
    assert methods == {
        "flips": EXACT, "wide": NORMAL, "uniform": EXACT, "many": NORMAL, "shaped": EXACT,
        "flipped uniform": EXACT, "loud": NORMAL,
        "twice": EXACT, "uniform twice": EXACT, "many thrice": NORMAL, "shaped twice": EXACT,
    }  # fmt: skip


def test_a_long_law_is_convolved_as_a_short_one(monkeypatch):
    long = clear_shaped(bins=2, ratio=ratio_of(0.01), shift=1500)
    direct = difference_distribution(long)
    monkeypatch.setattr(module, "_DIRECT", 10)
    turned = difference_distribution(long)
    assert (direct.first, len(direct.pmf)) == (turned.first, len(turned.pmf))
    assert np.abs(direct.pmf - turned.pmf).max() < 1e-15
    assert turned.pmf.sum() == pytest.approx(1.0, abs=1e-12)


def test_together_shares_the_error_among_bins_and_changes():
    """Far wider than each alone, and wider still for more changes."""
    mechanism, sizes, (first, second) = pairs("uniform")
    tallies = Tally(first[0], sizes[0]), Tally(second[0], sizes[1])
    alone, many = (estimate_change(mechanism, *tallies, changes=k) for k in (1, 50))
    for narrow, wide in ((alone.each, alone.together), (alone.together, many.together)):
        assert np.all(wide.lower < narrow.lower)
        assert np.all(wide.upper > narrow.upper)
    assert many.together.simultaneous
    assert many.surely.dtype == np.bool_


def test_all_bins_at_once_are_held_as_often_as_stated():
    """Level 0.5 over two bins: at least half of 20,000 (Bonferroni), so 0.48 is 5 sigma away.

    The planted twin: intervals of each bin alone hold both together in about a quarter.
    """
    mechanism, sizes, (first, second) = pairs("shaped")
    rise = AFTER - BEFORE

    def both(share):
        held = np.ones(RUNS, dtype=bool)
        for i in (0, 1):
            tallies = [Tally(d[:, i], n) for d, n in zip((first, second), sizes, strict=True)]
            found = change_intervals(mechanism, *tallies, 0.5, simultaneous_over=share)
            held &= (found.lower <= rise[i]) & (rise[i] <= found.upper)
        return held.mean()

    assert both(2) > 0.48
    assert both(1) < 0.4


def test_what_does_not_fit_is_refused():
    good = Tally(np.array([1_000, 1_000]), 12_000)
    with pytest.raises(MessageError, match="compare collections under one plan"):
        estimate_change(UNIFORM, good, Tally(np.array([1, 2, 3]), 12_000))
    with pytest.raises(MessageError, match="each of them complete"):
        estimate_change(UNIFORM, Tally(np.array([1, 2]), 1_999), good)
    with pytest.raises(ParameterError):
        estimate_change(UNIFORM, good, good, level=1.0)
