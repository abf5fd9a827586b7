"""Sets whose messages are replaced: against every dataset of small crowds, in fractions, and
against the mean over replacements by another way.

An outcome is how many messages name each cell, over planes each plane. Nothing here uses the
project's divergences but what is tested.
"""

import math
from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest
from scipy.special import gammaln
from scipy.stats import binom

from accounting import brute_sets
from accounting.test_sets_over_planes import messages, number_of
from mixtally.accounting.accountant import Accountant, Record
from mixtally.accounting.divergence import Bound, set_in_clear
from mixtally.device.contract.planes import Planes
from mixtally.model import planes as records
from mixtally.model.mechanism import InClear, KaryResponse, UniformFakes
from mixtally.primitives.fixed_point import SCALE
from oracle import matrix_of, worst

GROWS = Fraction(11, 10), Fraction(2), Fraction(6)
CASES = [
    (bins, size, users, fakes, Fraction(g))
    for bins, size, users in ((2, 2, 1), (2, 2, 2), (2, 2, 3), (3, 2, 2))
    for fakes in (0, 1)
    for g in (Fraction(1, 8), Fraction(1, 2), Fraction(15, 16))
]
DEAR = pytest.param(3, 3, 2, 0, Fraction(1, 2), marks=pytest.mark.seconds)


def of(bins, size, users, fakes, g, planes=None):
    return KaryResponse(
        bins=bins,
        max_set=size,
        crowd=users,
        replaced=int(g * SCALE),
        fakes=UniformFakes(fakes),
        planes=planes,
    )


def sent(cells, every, g):
    """Sorted messages of one record -> chance, each replaced by any of ``every`` with chance g."""
    law = Counter()
    for gone in product((False, True), repeat=len(cells)):
        ranges = [range(every) if lost else [cell] for lost, cell in zip(gone, cells, strict=True)]
        chance = math.prod(g / every if lost else 1 - g for lost in gone)
        for one in product(*ranges):
            law[tuple(sorted(one))] += chance
    return law


def together(laws):
    """Sorted messages of several senders -> chance."""
    found = {(): Fraction(1)}
    for law in laws:
        more = Counter()
        for seen, p in found.items():
            for own, q in law.items():
                more[tuple(sorted((*seen, *own)))] += p * q
        found = more
    return found


def true_delta(bins, size, users, fakes, g, grows):
    """The largest of all datasets and pairs of sets, at each of ``grows``, in both directions."""
    return worst(matrix_of(of(bins, size, users, fakes, g)), grows)


def one_way(one, other, grow):
    """sum of (P - e^epsilon Q)_+."""
    return sum(max(0, chance - grow * other.get(seen, 0)) for seen, chance in one.items())


@cache
def by_replacements(size, cells, many, fakes, g, grow):
    """E_B delta(B + fakes) of disjoint sets in so many cells, B ~ Bin(many, g)."""
    return sum(
        math.comb(many, gone)
        * g**gone
        * (1 - g) ** (many - gone)
        * brute_sets.disjoint(size, cells, fakes + gone, grow)
        for gone in range(many + 1)
    )


@pytest.mark.parametrize(("bins", "size", "users", "fakes", "g"), [*CASES, DEAR])
def test_no_dataset_is_above_the_bound_and_the_lower_end_is_below_the_worst(
    bins, size, users, fakes, g
):
    mechanism = of(bins, size, users, fakes, g)
    truth = true_delta(bins, size, users, fakes, g, GROWS)
    for grow, most in zip(GROWS, truth, strict=True):
        bounds = Accountant().delta(Record.of(mechanism), math.log(grow)).bounds
        assert bounds.lower <= most * (1 + 1e-9)
        assert most <= bounds.upper * (1 + 1e-9)


@pytest.mark.parametrize(("bins", "size", "users", "fakes"), [(2, 2, 3, 1), (3, 2, 2, 2)])
def test_the_lower_end_is_that_of_a_dataset(bins, size, users, fakes):
    """Others hold nothing: the differences that tell the most, message by message."""
    g, cells = Fraction(1, 4), bins + size
    apart = min(size, bins // 2)
    u, v = (
        [*range(first, first + apart), *range(bins, bins + size - apart)] for first in (0, apart)
    )

    def differences(own):
        law = {0: Fraction(1)}
        pads = [sent(range(bins, cells), cells, g)] * (users - 1)
        fake = [{(cell,): Fraction(1, cells) for cell in range(cells)}] * fakes
        for one in [*pads, *fake, sent(own, cells, g)]:
            more = Counter()
            for seen, p in law.items():
                for named, q in one.items():
                    moved = sum((c < apart) - (apart <= c < 2 * apart) for c in named)
                    more[seen + moved] += p * q
            law = more
        return law

    p, q = differences(u), differences(v)
    for grow in GROWS:
        wanted = one_way(p, q, grow)
        mechanism = of(bins, size, users, fakes, g)
        hidden = set_in_clear.hide_set(mechanism, fakes)
        found = set_in_clear.lower_by_counting(hidden, math.log(grow), 1)
        assert found == pytest.approx(float(wanted), rel=1e-9, abs=2e-11)


def test_of_a_replacement_nothing_is_counted_on_twice():
    """The mean over others' replacements lies above the truth; with the person's own counted as
    theirs are it would not.
    """
    assert set_in_clear.hide_set(of(9, 3, 5, 2, Fraction(1, 8)), 2).fakes == ((2, 1.0), (12, 0.125))
    truth, g = true_delta(2, 2, 2, 0, Fraction(1, 8), GROWS[1:2])[0], Fraction(1, 8)
    assert truth <= by_replacements(2, 4, 2, 0, g, GROWS[1])
    assert truth > by_replacements(2, 4, 24, 0, g, GROWS[1])


@pytest.mark.parametrize(("cells", "users", "fakes"), [(200, 601, 1), (400, 801, 300)])
def test_the_bound_is_the_mean_over_others_replacements(cells, users, fakes):
    """In many cells: the mean over Bin(k (n - 1), g) fakes of sums over four cells."""
    size, g, epsilon = 2, 0.5, 3.0
    many = size * (users - 1)
    mechanism = of(cells - size, size, users, fakes, g)
    wanted = math.fsum(
        binom.pmf(gone, many, g) * two_of_few(fakes + gone, cells, epsilon)
        for gone in range(many // 2 - 120, many // 2 + 121)
    )
    bound = Accountant().delta(Record.of(mechanism), epsilon).bounds.upper
    assert 1e-4 < wanted <= bound * (1 + 1e-6)
    assert bound <= wanted * 1.03


def two_of_few(fakes, cells, epsilon, most=18):
    """``brute_sets.two_of`` where hardly ever more than so many fakes fall into a cell."""
    a, b, c, d = np.ogrid[tuple(slice(0, most + 1) for _ in range(4))]
    rest = fakes - a - b - c - d
    log = gammaln(fakes + 1) - sum(gammaln(n + 1) for n in (a, b, c, d, rest))
    log = log + rest * math.log1p(-4 / cells) - (fakes - rest) * math.log(cells)
    lost = 1.0 - math.exp(epsilon) * c * d / ((a + 1.0) * (b + 1.0))
    return float((np.exp(log) * np.maximum(lost, 0.0)).sum())


def over(points, family, g):
    """Sorted planes of a record of points -> chance."""
    every = family.messages
    laws = []
    for point in points:
        own = messages(family, point, points)
        law = {(named,): g / every for named in range(every)}
        for named in own:
            law[named,] += (1 - g) / len(own)
        laws.append(law)
    return together(laws)


@pytest.mark.parametrize("g", [0.25, 0.75])
def test_over_planes_no_pair_of_sets_is_above_the_bound(g):
    """Two people, sets of two of Z_5^2, on a line, across and with a member in common."""
    family = Planes(5, 2)
    named = {
        name: tuple(number_of(family, digits) for digits in points)
        for name, points in {
            "line": ((0, 0), (1, 0)), "on": ((2, 0), (3, 0)), "across": ((0, 1), (2, 3)),
            "one": ((0, 0), (4, 2)),
        }.items()
    }  # fmt: skip
    mechanism = of(25, 2, 2, 0, g, records.Planes(5, 2))
    own = {name: over(points, family, g) for name, points in named.items()}
    for other in ("on", "across"):
        seen = {name: together([own[other], law]) for name, law in own.items()}
        for u, v in product(seen, seen):
            for epsilon in (0.5, 2.0):
                truth = one_way(seen[u], seen[v], math.exp(epsilon))
                bounds = Accountant().delta(Record.of(mechanism), epsilon).bounds
                assert truth <= bounds.upper * (1 + 1e-9)


def test_without_others_to_hide_it_is_what_the_local_epsilon_says():
    """The largest ratio of one record's messages, by every outcome."""
    g, mechanism = Fraction(1, 2), of(3, 2, 1, 0, Fraction(1, 2))
    laws = [sent(one, 5, g) for one in brute_sets.every_record(3, 2)]
    most = max(p[seen] / q[seen] for p, q in product(laws, laws) for seen in p)
    assert most <= math.exp(mechanism.local_epsilon) * (1 + 1e-9)
    family, planes = Planes(5, 3), records.Planes(5, 3)
    points = [(0, 1), (2, 3), (7, 31)]
    laws = [over(one, family, 0.5) for one in points]
    most = max(p[seen] / q[seen] for p, q in product(laws, laws) for seen in p)
    assert most <= math.exp(of(125, 2, 1, 0, 0.5, planes).local_epsilon) * (1 + 1e-9)


def test_a_message_is_one_of_a_member_with_the_chance_that_is_stated():
    """Of all messages over planes, those of a member of which no other member meets it."""
    family, planes = Planes(5, 3), records.Planes(5, 3)
    points = 7, 31
    (one, other) = (len(messages(family, point, points)) for point in points)
    assert one == other
    stated = of(125, 2, 1, 0, 0.5, planes).hiding_cells
    assert family.messages / one == pytest.approx(stated, rel=1e-12)


def test_with_hardly_any_replaced_it_is_a_set_in_clear():
    among = set_in_clear.upper(brute_sets.hidden(3, 103, 9000), 1.0)
    fakes = UniformFakes(9000)
    replaced = KaryResponse(bins=100, max_set=3, crowd=2, replaced=1, fakes=fakes)
    clear = InClear(bins=100, max_set=3, fakes=fakes)
    accountant = Accountant()
    found = [accountant.upper(Record.of(one), 1.0) for one in (replaced, clear)]
    assert found[0] == pytest.approx(among, rel=1e-9)
    assert found[1] == pytest.approx(among, rel=1e-12)


def test_it_falls_with_the_crowd_the_replacements_and_the_fakes():
    accountant = Accountant()

    def upper(**more):
        given = {"users": 400, "fakes": 100, "g": 0.25} | more
        return accountant.upper(Record.of(of(50, 2, **given)), 1.0)

    usual = upper()
    assert upper(users=800) < usual
    assert upper(fakes=900) < usual
    assert upper(g=0.75) < usual


def test_points_of_a_curve_are_above_what_is_exact():
    accountant, record = Accountant(), Record.of(of(100, 3, 4000, 50, 0.25))
    epsilons = [0.2, 1.0, 3.0]
    exact, near = (
        accountant.one_message_upper(record, epsilons, b) for b in (Bound.EXACT, Bound.NEAR)
    )
    assert all(a <= b <= a * 1.02 for a, b in zip(exact, near, strict=True))


@pytest.mark.parametrize("epsilon", [0.5, 1.5, 3.0])
def test_the_lower_end_among_a_million_is_below_the_upper_one(epsilon):
    """A power of that many rounds a number near 1 a million times as much."""
    hidden = set_in_clear.hide_set(of(536, 4, 281_562, 0, Fraction(1, 9)), 0)
    assert set_in_clear.lower_by_counting(hidden, epsilon, 1) <= set_in_clear.upper(hidden, epsilon)
