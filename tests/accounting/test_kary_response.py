"""k-ary response against every dataset of small crowds, in fractions, and against known numbers.

Nothing here uses the project's divergences but what is tested.
"""

import json
import math
from fractions import Fraction
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from helpers import contracts as c
from helpers.named import kary_response as made
from helpers.sampled import covering
from mixtally.accounting.accountant import Accountant, Record
from mixtally.accounting.calibrate import calibrate
from mixtally.accounting.divergence import Bound, ObservedMessage, kary_response
from mixtally.accounting.plans.honest_part import HonestPart
from mixtally.model.contract import FakeRecord, OwnFakes
from mixtally.model.mechanism import KaryResponse, Parameter, UniformFakes
from mixtally.model.mechanism.kary_response import replacement_threshold
from mixtally.primitives.fixed_point import SCALE
from oracle import Collection, worst

KNOWN = json.loads((Path(__file__).parent / "kary_golden.json").read_text())
CLOSE = 1.0 + 2e-3
"""What a bound may lie above the sum that it bounds."""


def known(group):
    return [pytest.param(one, id=one["id"]) for one in KNOWN if one["group"] == group]


def collection(users, bins, g, fakes):
    """Rows of people, and those of fakes."""
    share = Fraction(1, bins)
    rows = [[g * share + (1 - g) * (to == held) for to in range(bins)] for held in range(bins)]
    return Collection(rows, users, [[share] * bins] * fakes)


def truth(users, bins, g, fakes, grow):
    """The largest over all datasets of the others."""
    return worst(collection(users, bins, g, fakes), [grow])[0]


def third(users, bins, g, fakes, grow):
    """That of the crowd in which all others hold one other value."""
    crowd = (min(2, bins - 1),) * (users - 1)
    of = collection(users, bins, g, fakes)
    return worst(of, [grow], crowds=[crowd], pairs=[(0, 1), (1, 0)])[0]


def bound(users, bins, g, fakes, grow, *, others=None, own=None):
    """E_B[psi(B + 1)] by the plain sum over all multinomials.

    ``others`` replaces n - 1, ``own`` the share that one's own replacement counts with.
    """
    others, own = users - 1 if others is None else others, g if own is None else own
    total = Fraction(0)
    for extra in range(others + 1):
        chance = math.comb(others, extra) * g**extra * (1 - g) ** (others - extra)
        total += chance * psi(extra + fakes + 1, bins, g, own, grow)
    return total


@lru_cache(maxsize=4096)
def psi(records, bins, g, own, grow):
    share, rest = Fraction(1, bins), Fraction(bins - 2, bins)
    found = Fraction(0)
    for a in range(records + 1):
        for b in range(records + 1 - a):
            more = (1 - g) * bins * (a - grow * b) - (grow - 1) * own * records
            if more > 0:
                ways = math.comb(records, a) * math.comb(records - a, b)
                found += ways * share ** (a + b) * rest ** (records - a - b) * more
    return found / records


def mechanism(users, bins, g, fakes):
    return made(bins=bins, replaced=round(g * SCALE), crowd=users, fakes=fakes)


def priced(users, bins, g, fakes, grow):
    """What the accountant states."""
    one = mechanism(users, bins, g, fakes)
    return Accountant().delta(Record.of(one), math.log(grow)).bounds


SMALL = [
    (users, bins, g, fakes, grow)
    for users, bins in [(2, 2), (3, 2), (5, 2), (6, 2), (2, 3), (3, 3), (4, 3), (5, 3), (2, 4),
                        (3, 4), (4, 4)]
    for g in (Fraction(1, 16), Fraction(1, 4), Fraction(1, 2), Fraction(7, 8))
    for fakes in (0, 1, 2)
    for grow in (Fraction(9, 8), Fraction(2), Fraction(4))
    if users + fakes <= 6
]  # fmt: skip


def holds(case, ends):
    """Whether the truth lies between the ends, and these no farther than they say."""
    most, above = truth(*case), bound(*case)
    tight = ends.upper <= float(above) * CLOSE + 1e-12
    return ends.lower <= float(most) * (1 + 1e-12) and float(most) <= ends.upper and tight


@pytest.mark.parametrize(
    ("users", "bins", "g", "fakes", "grow"),
    covering(SMALL, lambda users, _bins, _g, fakes, _grow: users + fakes <= 4, width=3),
)
def test_both_ends_hold_for_every_dataset_of_small_crowds(users, bins, g, fakes, grow):
    case = users, bins, g, fakes, grow
    most, above, ends = truth(*case), bound(*case), priced(*case)
    assert most <= above
    assert holds(case, ends)
    if case[1] == 2:  # the exact law
        assert ends.upper <= float(most) * CLOSE + 1e-12
        return
    # At least what the crowd of one other value has in two cells, mostly all of it.
    assert ends.lower <= float(third(*case)) * (1 + 1e-12)


@pytest.mark.parametrize("case", SMALL[::7])
def test_the_bound_is_close_to_the_worst_crowd(case):
    """In fractions: nearly attained where a third value is there, within a seventh of two."""
    assert truth(*case) >= bound(*case) * Fraction(85 if case[1] == 2 else 94, 100)


def test_the_truth_is_attained_where_it_is_said_to_be():
    ends = priced(3, 3, Fraction(1, 2), 0, Fraction(2))
    assert ends.lower == pytest.approx(41 / 216, rel=1e-8)
    assert ends.upper == pytest.approx(41 / 216, rel=CLOSE - 1)


@pytest.mark.parametrize(
    "wrong",
    [
        {"others": 3},  # everybody, oneself among them
        {"own": Fraction(1)},  # one's own replacement counts more than it does
    ],
    ids=["B of n", "own too much"],
)
def test_a_wrong_sum_is_below_the_truth_of_some_dataset(wrong):
    """The formulas that are easily taken for the right one: each promises too much somewhere."""
    cases = [one for one in SMALL if one[0] == 3]
    assert any(bound(*case, **wrong) < truth(*case) for case in cases)


@pytest.mark.parametrize("more", [(1, 0), (0, 1)], ids=["a person", "a fake"])
def test_one_more_than_there_are_is_noticed(more):
    people, fakes = more

    def taken(users, bins, g, sent, grow):
        return priced(users + people, bins, g, sent + fakes, grow)

    assert not all(holds(case, taken(*case)) for case in SMALL[:60])


def without_fakes(users, bins, g, grow, drawn):
    """The same as one of ``drawn`` people each replaced or not, over the share."""
    chances_ = (
        (k, math.comb(drawn, k) * g**k * (1 - g) ** (drawn - k)) for k in range(1, drawn + 1)
    )
    return sum(p * k * psi(k, bins, g, g, grow) for k, p in chances_) / (users * g)


def test_without_fakes_it_is_a_sum_over_all_people():
    cases, missed = [one for one in SMALL if one[3] == 0 and one[0] == 3], False
    for users, bins, g, fakes, grow in cases:
        sums = [without_fakes(users, bins, g, grow, drawn) for drawn in (users, users - 1)]
        assert sums[0] == bound(users, bins, g, fakes, grow)
        missed = missed or sums[1] < truth(users, bins, g, fakes, grow)
    assert missed


def test_one_person_alone_has_the_local_law():
    for bins, g, grow in ((2, 0.5, 2.0), (7, 0.3, 3.0), (1000, 0.01, 2.0)):
        one = made(bins=bins, replaced=replacement_threshold(g), crowd=1)
        exact = max(0.0, 1 - g + g / bins - grow * g / bins)
        assert kary_response.upper_bound(one, math.log(grow)) == pytest.approx(exact, rel=1e-3)
        assert kary_response.lower_bound(one, math.log(grow)) == pytest.approx(exact, rel=1e-7)
        left = math.log((1 - g + g / bins) / (g / bins))
        assert one.local_epsilon == pytest.approx(left, rel=1e-12)
        assert kary_response.upper_bound(one, left * 1.0001) == 0.0
        assert kary_response.upper_bound(one, left * 0.99) > 0.0


@pytest.mark.parametrize("one", known("replace-exact"))
def test_known_fractions(one):
    given, value = one["inputs"], one["value"]
    case = (given["n"], given["d"], Fraction(given["g"]), given["m"], Fraction(given["e_eps"]))
    assert truth(*case) == Fraction(value["truth"])
    assert bound(*case) == Fraction(value["blanket"])
    assert holds(case, priced(*case))


@pytest.mark.parametrize("one", known("replace-hashed-exact"))
def test_known_fractions_over_planes_have_the_bound_of_so_many_cells(one):
    given, value = one["inputs"], one["value"]
    case = (given["n"], given["p"], Fraction(given["g"]), given["m"], Fraction(given["e_eps"]))
    assert bound(*case) == Fraction(value["bound"])
    assert float(Fraction(value["worst"])) <= priced(*case).upper


def psi_by_totals(records, bins, g, grow):
    """psi by the binomial tails of SciPy, given the total of both cells."""
    low, high = max(1, binom.ppf(1e-25, records, 2 / bins)), binom.isf(1e-25, records, 2 / bins)
    total = np.arange(low, max(low, high) + 1)
    h = (grow - 1) * g * records / ((1 - g) * bins)
    tau = (grow * total + h) / (1 + grow)
    a = np.floor(tau) + 1
    term = (1 + grow) * (
        total / 2 * binom.sf(a - 2, total - 1, 0.5) - tau * binom.sf(a - 1, total, 0.5)
    )
    weight = binom.pmf(total, records, 2 / bins)
    return (1 - g) * bins / records * float((weight * np.maximum(term, 0.0)).sum())


@pytest.mark.parametrize("one", known("replace-large") + known("replace-brute"))
def test_known_large_numbers(one):
    given, value = one["inputs"], one["value"]
    case = given["n"], given["d"], given["g"], given["m"]
    ends = Accountant().delta(Record.of(mechanism(*case)), given["eps"]).bounds
    assert value * (1 - 1e-8) <= ends.upper <= value * 1.0005
    assert 0.97 * value <= ends.lower <= value
    loose = kary_response.upper_bound(mechanism(*case), given["eps"], 3e-3)
    assert value <= loose <= value * 1.005


@pytest.mark.parametrize("one", known("replace-brute"))
def test_known_numbers_are_the_sum_over_every_crowd(one):
    given, grow = one["inputs"], math.exp(one["inputs"]["eps"])
    users, g = given["n"], given["g"]
    every = range(users)
    weight = binom.pmf(every, users - 1, g)
    values = [psi_by_totals(b + given["m"] + 1, given["d"], g, grow) for b in every]
    assert float(weight @ np.array(values)) == pytest.approx(one["value"], rel=1e-8)


@pytest.mark.parametrize("one", known("replace-calibrated") + known("replace-hashed"))
def test_known_least_replacements(one):
    """Known ones are of a coarser sum, some ten-thousandths above the least."""
    given, value = one["inputs"], one["value"]
    cells = given.get("d") or given["b"]
    start = made(bins=cells, replaced=1 << 63, crowd=given["n"], fakes=given.get("m", 0))
    found = calibrate(
        Accountant(), Record.of(start), Parameter.REPLACED, given["eps"], given["delta"]
    ).message.mechanism
    tolerance = max(one["rel_tol"], 4e-4)
    assert found.replacement_probability == pytest.approx(value["g"], rel=tolerance)
    left = value.get("local_eps") or value["local"]
    assert found.local_epsilon == pytest.approx(left, rel=tolerance)
    if "SE1" in value:
        errors = [found.standard_error(given["n"], given["n"] // part) for part in (100, 10)]
        assert found.standard_error(given["n"]) == pytest.approx(value["SE0"], rel=tolerance)
        assert errors == pytest.approx([value["SE1"], value["SE10"]], rel=tolerance)


@pytest.mark.parametrize("parameter", [Parameter.REPLACED, Parameter.FAKES])
def test_what_is_found_keeps_the_promise_and_hardly_less_does(parameter):
    start = made(bins=50, replaced=replacement_threshold(0.1), crowd=3000)
    found = calibrate(Accountant(), Record.of(start), parameter, 1.0, 1e-6)
    assert Accountant().delta(found, 1.0).bounds.upper <= 1e-6
    own = found.message.mechanism
    value = own.replaced if parameter is Parameter.REPLACED else own.fakes.count
    less = Accountant().delta(found.with_parameter(parameter, round(value * 0.998)), 1.0).bounds
    assert less.upper > 1e-6


def test_no_lower_end_is_above_its_upper_one_however_far_out():
    """Where chances are cut off, what is left out must not raise the lower end."""
    for g in (0.05, 0.3, 0.6, 0.9):
        for epsilon in (0.05, 0.2, 1.0, 2.0, 8.0):
            for bins, crowd, fakes in ((3, 50, 0), (100, 10**4, 0), (100, 10**4, 300)):
                one = made(bins=bins, replaced=replacement_threshold(g), crowd=crowd, fakes=fakes)
                low = kary_response.lower_bound(one, epsilon)
                assert low <= kary_response.upper_bound(one, epsilon)


def test_points_of_a_curve_are_above_the_bound_by_little():
    one = ObservedMessage(made(bins=100, replaced=replacement_threshold(0.2346), crowd=10**4))
    epsilons = [0.0, 0.1, 0.5, 1.0, 1.5]
    exact = [kary_response.upper_bound(one.mechanism, each) for each in epsilons]
    for bound_, most in ((Bound.NEAR, 1.005), (Bound.ROUGH, 1.015)):
        found = kary_response.upper(one, epsilons, bound_, None)
        assert all(e <= f * CLOSE <= most * CLOSE * e for e, f in zip(exact, found, strict=True))


def test_coins_are_averaged_upwards():
    """The sum over every number of fakes, at one coin each of a small crowd."""
    users, bins, g, epsilon, coin = 400, 20, 0.3, 1.0, 0.37
    own = OwnFakes(FakeRecord.UNIFORM, 0, round(coin * SCALE))
    ends = HonestPart(c.replaced(bins, share=g, own=own), users, flips=True).bounds(
        Accountant(), epsilon
    )
    weight = binom.pmf(np.arange(users + 1), users, coin)
    some = np.flatnonzero(weight > 1e-14)
    each = [kary_response.upper_bound(mechanism(users, bins, g, int(k)), epsilon) for k in some]
    average = float(weight[some] @ np.array(each))
    assert average * (1 - 1e-3) <= ends.upper <= average * 1.03
    assert 0.9 * average <= ends.lower <= ends.upper


@pytest.mark.parametrize(("bins", "crowd", "fakes"), [(1000, 43, 30_032), (10**6, 18_454_254, 44)])
def test_no_lower_end_comes_of_what_windows_cut_off(bins, crowd, fakes):
    """Both sources of totals are cut; their largest sums lack most of their probability."""
    replaced = 16602069666338596864
    one = KaryResponse(
        bins=bins, replaced=replaced, fakes=UniformFakes(fakes), crowd=crowd, max_set=1
    )
    assert kary_response.lower_bound(one, 0.5) <= kary_response.upper_bound(one, 0.5) < 1e-40
