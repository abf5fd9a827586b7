"""Some of the slots of a record, drawn anew and sent: against every pair of records, in fractions.

An outcome is the counts of all cells. Nothing here uses the project's divergences but what is
tested.
"""

import math
from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import combinations

import pytest

from accounting.by_name import calibrated, record
from mixtally.accounting.accountant import Accountant, Record
from mixtally.accounting.divergence import Bound, ObservedMessage, in_clear
from mixtally.errors import ParameterError
from mixtally.model.mechanism import InClear, Parameter, ShapedFakes, UniformFakes
from mixtally.model.planes import Planes
from mixtally.model.shape import LaplaceShape
from mixtally.primitives.fixed_point import SCALE
from mixtally.primitives.memo import Memo

GROWS = Fraction(21, 20), Fraction(3, 2), Fraction(2), Fraction(4), Fraction(15)
EXACT = [
    (4, 2, 3, Fraction(2), Fraction(1, 4)),
    (6, 2, 5, Fraction(3, 2), Fraction(47, 162)),
    (7, 3, 4, Fraction(2), Fraction(526, 2401)),
]
"""Cells, slots of a record, fakes, e^epsilon, and delta if one slot is sent."""
LEAST = [
    (1005, 5, 1.0, 1e-6, 8_569, 9.99193949635407e-7, 1.00039958570192e-6, 14.592707263207),
    (35, 3, 1.0, 1e-6, 493, 9.87362035823069e-7, 1.0082688050291e-6, 11.097269382831),
    (100016, 16, 0.5, 1e-9, 1_492_246, 9.99998812459146e-10, 1.00000930901403e-9, 61.802107120571),
]
"""Cells, slots, epsilon, delta, least fakes, delta there, delta with one fake less, empty bin."""
CASES = [
    (cells, size, fakes) for cells in (4, 5, 6, 7) for size in (2, 3) for fakes in (1, 2, 3, 4, 5)
]


def sampled(cells, size, fakes, slots=1, *, full=False):
    return InClear(
        bins=cells if full else cells - size,
        max_set=size,
        slots=slots,
        full=full,
        fakes=UniformFakes(fakes),
    )


def bounds_of(mechanism, grow):
    return Accountant().delta(Record.of(mechanism), math.log(grow)).bounds


def shared(messages, cells):
    """Every way to put so many messages into so many cells."""
    if cells == 1:
        yield (messages,)
        return
    for own in range(messages + 1):
        for rest in shared(messages - own, cells - 1):
            yield (own, *rest)


def seen(sent, cells, fakes):
    """Counts of all cells -> chance, of messages that are sent among so many fakes."""
    found = {}
    for counts in shared(fakes, cells):
        ways = math.factorial(fakes) // math.prod(map(math.factorial, counts))
        total = list(counts)
        for cell in sent:
            total[cell] += 1
        found[tuple(total)] = Fraction(ways, cells**fakes)
    return found


def one_way(one, other, grow):
    """sum of (P - e^epsilon Q)_+."""
    gaps = (chance - grow * other.get(counts, 0) for counts, chance in one.items())
    return sum(gap for gap in gaps if gap > 0)


@cache
def law_of(held, cells, fakes, slots):
    """Counts of all cells -> chance, of a record that sends so many of its cells."""
    found, ways = Counter(), list(combinations(held, slots))
    for sent in ways:
        for counts, chance in seen(sent, cells, fakes).items():
            found[counts] += chance / len(ways)
    return found


def enumerated(one, other, cells, fakes, grow, slots=1):
    return one_way(law_of(one, cells, fakes, slots), law_of(other, cells, fakes, slots), grow)


@pytest.mark.parametrize(("cells", "size", "fakes", "grow", "true"), EXACT)
def test_known_fractions(cells, size, fakes, grow, true):
    apart = tuple(range(size)), tuple(range(size, 2 * size))
    assert enumerated(*apart, cells, fakes, grow) == true
    bounds = bounds_of(sampled(cells, size, fakes), grow)
    assert bounds.lower <= true <= bounds.upper
    assert bounds.upper == pytest.approx(float(true), rel=3e-9)
    assert bounds.lower == pytest.approx(float(true), rel=3e-9)


@pytest.mark.parametrize(
    ("cells", "size", "epsilon", "delta", "least", "at", "below", "noise"), LEAST
)
def test_known_fakes(cells, size, epsilon, delta, least, at, below, noise):
    given = {"bins": cells - size, "max_set": size, "slots": 1}
    made = calibrated("clear-uniform", epsilon, delta, **given)
    assert made.message.mechanism.fakes.count == least
    for fakes, known in ((least, at), (least - 1, below)):
        bounds = bounds_of(sampled(cells, size, fakes), math.exp(epsilon))
        assert bounds.upper == pytest.approx(known, rel=1e-8)
        assert bounds.upper - bounds.lower < 1e-8 * known
    assert sampled(cells, size, least).standard_error(10**6) == pytest.approx(noise, rel=1e-12)


@pytest.mark.parametrize(("cells", "size", "fakes"), CASES)
def test_no_pair_of_records_exceeds_the_law_and_disjoint_ones_attain_it(cells, size, fakes):
    """Every overlap; cells are exchangeable, so one pair of each is enough."""
    if 2 * size > cells:
        with pytest.raises(ParameterError, match="bins: expected"):
            sampled(cells, size, fakes, full=True)
        return
    mechanism, first = sampled(cells, size, fakes, full=True), tuple(range(size))
    for grow in GROWS:
        bounds = bounds_of(mechanism, grow)
        for shared in range(size):
            other = tuple(range(size - shared, 2 * size - shared))
            truth = enumerated(first, other, cells, fakes, grow)
            assert truth == enumerated(other, first, cells, fakes, grow)  # both directions
            assert truth <= bounds.upper
        assert bounds.lower <= truth or shared
        apart = enumerated(first, tuple(range(size, 2 * size)), cells, fakes, grow)
        assert bounds.lower <= apart <= bounds.upper
        assert float(apart) == pytest.approx(bounds.upper, rel=3e-9, abs=1e-15)


def test_a_law_of_rounded_cells_or_of_pads_that_share_a_bin_is_too_small():
    """The law would notice its planted bugs: cells rounded up, and a record with one cell twice."""
    cells, size, fakes, grow = 7, 3, 4, Fraction(2)
    true = enumerated((0, 1, 2), (3, 4, 5), cells, fakes, grow)
    rounded = InClear(bins=math.ceil(cells / size), fakes=UniformFakes(fakes))
    assert bounds_of(rounded, grow).lower > true  # fewer fakes in a cell: another law
    floor = InClear(bins=cells // size, fakes=UniformFakes(fakes))
    assert bounds_of(floor, grow).upper < true
    pads = Counter(law_of((0, 1, 2), cells, fakes, 1)), seen((3,), cells, fakes)
    assert max(one_way(*pads, grow), one_way(*pads[::-1], grow)) > true


@pytest.mark.parametrize(("cells", "size", "slots"), [(6, 3, 2), (7, 3, 2), (8, 4, 2), (8, 4, 3)])
def test_several_slots_are_bounded_on_both_sides(cells, size, slots):
    mechanism, first = sampled(cells, size, 3, slots, full=True), tuple(range(size))
    for grow in GROWS[1:4]:
        truth = max(
            enumerated(first, tuple(range(size - shared, 2 * size - shared)), cells, 3, grow, slots)
            for shared in range(size)
        )
        bounds = bounds_of(mechanism, grow)
        assert 0.0 < bounds.lower <= truth <= bounds.upper


def test_several_slots_are_not_priced_as_one():
    one, two, whole = (
        bounds_of(one, math.e).upper
        for one in (
            sampled(1005, 5, 9_000),
            sampled(1005, 5, 9_000, 2),
            InClear(bins=1000, max_set=5, fakes=UniformFakes(9_000)),
        )
    )
    assert one < 1e-6 < two < whole


def test_curves_are_upper_bounds_of_the_law():
    message, epsilons = ObservedMessage(sampled(1005, 5, 8_569)), [0.3, 0.7, 1.0, 1.5]
    exact = [in_clear.delta(message, one, Memo(10**6)).bounds for one in epsilons]
    for bound in Bound:
        found = in_clear.upper(message, epsilons, bound, Memo(10**6))
        for true, one in zip(exact, found, strict=True):
            assert true.lower <= one <= true.upper * 1.002


def test_repeated_records_draw_their_slots_anew_and_compose():
    made = record("clear-uniform", bins=20, max_set=4, slots=1, fakes=600, repeats=3)
    one = record("clear-uniform", bins=20, max_set=4, slots=1, fakes=600)
    assert made.message.mechanism.gain == 3 / 4
    several, single = (Accountant().delta(each, 1.0).bounds for each in (made, one))
    assert single.upper < several.lower
    assert several.upper < 1.0


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"slots": 0, "max_set": 3}, "slots: expected an integer in [1, 2], got 0"),
        ({"slots": 3, "max_set": 3}, "slots: expected an integer in [1, 2], got 3"),
        ({"slots": 4, "max_set": 3}, "slots: expected an integer in [1, 2], got 4"),
        ({"slots": 1}, "slots: expected a record of several members"),
        ({"slots": 1, "max_set": 1}, "slots: expected"),
        ({"slots": 1, "max_set": 3, "split": True}, "slots: expected a record of several members"),
    ],
)
def test_impossible_slots_are_refused(given, expected):
    with pytest.raises(ParameterError) as caught:
        record("clear-uniform", bins=20, fakes=100, **given)
    assert expected in str(caught.value)


@pytest.mark.parametrize("name", ["clear-shaped", "kary-response", "flip-blank", "single-bit"])
def test_other_protocols_have_no_slots(name):
    with pytest.raises(ParameterError, match="--slots"):
        record(name, bins=20, max_set=3, slots=1)


def test_combinations_without_a_proof_are_refused():
    more = {"bins": 20, "max_set": 3, "slots": 1}
    with pytest.raises(ParameterError, match="got shaped fakes"):
        InClear(**more, fakes=ShapedFakes(LaplaceShape(SCALE // 2, 5)))
    with pytest.raises(ParameterError, match="got planes"):
        InClear(**more, fakes=UniformFakes(5), planes=Planes(7, 4))
    with pytest.raises(TypeError, match="expected sampled slots"):
        InClear(bins=20, max_set=3, full=True, fakes=UniformFakes(5))


def test_bits_have_a_slot_each():
    """Twenty bits are 40 cells, two for each slot, as many as two bins for one value."""
    bits = sampled(40, 20, 85, full=True)
    value = InClear(bins=2, fakes=UniformFakes(85))
    assert bounds_of(bits, math.e) == bounds_of(value, math.e)
    assert bits.with_parameter(Parameter.FAKES, 3).fakes.count == 3
