"""Sets over planes by every outcome, in exact fractions: from the messages a device can be made to
send, and from nothing else.
"""

import math
from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import combinations, product

import pytest

from accounting import brute_sets
from mixtally.accounting.divergence import set_in_clear
from mixtally.accounting.divergence.set_in_clear import hide_set
from mixtally.device.client import draw
from mixtally.device.contract.part import Layout
from mixtally.device.contract.planes import Planes, most_digits
from mixtally.model import planes as records
from mixtally.model.mechanism import InClear, KaryResponse, UniformFakes
from mixtally.primitives.fixed_point import SCALE
from oracle import Collection, exp_exactly, worst

GROWS = (Fraction(2), Fraction(27, 10))
"""e^epsilon."""
LINE, OTHER = ((0, 0), (1, 0)), ((2, 0), (3, 0))
GOLDEN = [
    (LINE, ((0, 1), (2, 3)), Fraction(829, 1125)),
    (LINE, OTHER, Fraction(17, 18)),
    (((0, 0), (1, 2)), ((1, 0), (0, 3)), Fraction(829, 1125)),
]
"""Sets of points of Z_5^2 and their delta among 2 fakes at e^epsilon = 2, worked out elsewhere."""
BOUND = Fraction(17, 18)


class AgainError(Exception):
    """The device wants another direction."""


def messages(family, point, points):
    """What a device may send for one member: one message for each direction that it keeps."""
    layout, found = Layout("index", family.messages, None), []
    for number in range(family.directions):
        left = [number]

        def source(count, left=left):
            if not left:
                raise AgainError
            return left.pop().to_bytes(8 * count, "little")

        try:
            sent = draw._draw_separate_plane(
                layout, family, point, points, draw.RandomWords(source)
            )
        except AgainError:
            continue
        found.append(int.from_bytes(sent, "little"))
    return found


def record_law(family, points):
    """What the messages of a set add to the counts of all, packed, with its chance."""
    law = Counter()
    for record in product(*(messages(family, point, points) for point in points)):
        law[sum(1 << 8 * message for message in record)] += 1
    return {seen: Fraction(many, law.total()) for seen, many in law.items()}


@cache
def true_delta(family, u, v, fakes, grow):
    """The larger of both directions."""
    laws, fake = [record_law(family, points) for points in (u, v)], brute_sets.fake(family.messages)
    columns = [*dict.fromkeys([*laws[0], *laws[1], *fake])]
    rows = [[law.get(column, 0) for column in columns] for law in (*laws, fake)]
    return worst(Collection(rows[:2], fakes=rows[2:] * fakes, seen=columns), [grow])[0]


def cells_of(chance, size, fakes, grow):
    """That of disjoint sets in clear whose cells have this chance each."""
    weights = [chance] * (2 * size) + [1 - 2 * size * chance]
    return max(
        brute_sets.divergences(
            range(size), range(size, 2 * size), 2 * size + 1, fakes, grow, weights
        )
    )


def kappa(family):
    p, t = family
    return Fraction(p ** (t - 1) - 1, p**t - 1)


def bound(family, size, fakes, grow):
    return cells_of((1 - (size - 1) * kappa(family)) / family.prime, size, fakes, grow)


def number_of(family, digits):
    return sum(digit * family.prime**place for place, digit in enumerate(digits))


@pytest.mark.parametrize(("u", "v", "value"), GOLDEN)
def test_delta_of_two_sets_is_what_was_worked_out_elsewhere(u, v, value):
    family = Planes(5, 2)
    one, other = (tuple(number_of(family, digits) for digits in each) for each in (u, v))
    assert true_delta(family, one, other, 2, Fraction(2)) == value
    assert bound(family, 2, 2, Fraction(2)) == BOUND


def pairs(family, size):
    """Sets of every kind: on one line, across, with members in common, and anywhere."""
    p, points = family.prime, family.points
    line = tuple(range(size))
    yield line, tuple(range(size, 2 * size))
    yield line, (*range(1, size), p)
    yield line, tuple(p + one for one in range(size))
    yield line, tuple(p * (one + 1) + one * one % p for one in range(size))
    yield tuple(one * p + one * one % p for one in range(size)), (*line[:-1], points - 1)
    yield (0, *(p * one + 1 for one in range(size - 1))), (0, *(p + 2 + one for one in line[1:]))


LONG = pytest.mark.seconds
CASES = [
    (5, 2, 2, 1), (5, 2, 2, 2), pytest.param(7, 2, 2, 2, marks=LONG),
    pytest.param(5, 3, 2, 1, marks=LONG), pytest.param(7, 2, 3, 1, marks=LONG),
]  # fmt: skip


@pytest.mark.parametrize(("prime", "digits", "size", "fakes"), CASES)
def test_no_pair_of_sets_exceeds_smaller_cells_and_a_line_has_what_is_proved(
    prime, digits, size, fakes
):
    family = Planes(prime, digits)
    for grow in GROWS:
        most = bound(family, size, fakes, grow)
        least = cells_of((1 - kappa(family)) / prime, size, fakes, grow)
        found = [true_delta(family, u, v, fakes, grow) for u, v in pairs(family, size)]
        assert max(found) <= most
        assert found[0] == least
        if size == 2:
            assert least == most
        over = InClear(
            bins=family.points,
            fakes=UniformFakes(fakes),
            planes=records.Planes(prime, digits),
            max_set=size,
        )
        priced = set_in_clear.delta(hide_set(over, fakes), math.log(grow))
        assert priced.lower <= float(least)
        assert priced.upper >= float(most)


def test_the_twin_that_prices_cells_of_whole_planes_is_caught():
    """Planted: (k - 1) / p more fakes are forgotten."""
    family, grow = Planes(5, 2), Fraction(2)
    line, other = next(pairs(family, 2))
    assert true_delta(family, line, other, 2, grow) > cells_of(Fraction(1, 5), 2, 2, grow)


def test_the_twin_that_keeps_every_direction_is_caught(plant):
    """Planted: members of one set may meet."""
    family = Planes(5, 2)
    kept = [len(messages(family, point, (0, 1))) for point in (0, 1)]
    assert kept == [family.directions - 1] * 2
    plant(Planes, "has_collision", lambda *_: False)
    assert [len(messages(family, point, (0, 1))) for point in (0, 1)] == [family.directions] * 2


@pytest.mark.parametrize(("fakes", "size", "epsilon"), [(4000, 2, 1.0), (9000, 4, 0.5)])
def test_bounds_of_many_fakes_are_those_of_cells(fakes, size, epsilon):
    """As sets in clear of as many whole cells, p + k - 1 or hardly more: between p and p + k."""
    family = records.Planes(53, 11)
    over = InClear(bins=10**6, fakes=UniformFakes(fakes), planes=family, max_set=size)
    upper = set_in_clear.upper(hide_set(over, fakes), epsilon)
    fewer, more = (
        set_in_clear.upper(brute_sets.hidden(size, cells, fakes), epsilon)
        for cells in (53, 53 + size)
    )
    assert fewer < upper < more


LIST = 40
"""Labels of a list, whose points are hashes."""


def independent(family, points):
    """Whether the differences of these points are linearly independent modulo p."""
    p, t = family.prime, family.digits
    rows = [[(one // p**place - points[0] // p**place) % p for place in range(t)]
            for one in points[1:]]  # fmt: skip
    for place in range(t):
        pivot = next((row for row in rows if row[place] and not any(row[:place])), None)
        if pivot is None:
            continue
        for row in rows:
            if row is not pivot and row[place]:
                share = row[place] * pow(pivot[place], -1, p)
                row[:] = [(a - share * b) % p for a, b in zip(row, pivot, strict=True)]
    return all(map(any, rows))


@cache
def shown_by_a_fake(prime, u, v):
    """(member of u that a fake shows, or None, the same of v) -> chance, of independent points."""
    points, found = sorted({*u, *v}), Counter()
    for bits in product((0, 1), repeat=len(points)):
        met = {point for point, bit in zip(points, bits, strict=True) if bit}
        kind = tuple(
            next(iter(met & {*own}), None) if len(met & {*own}) == 1 else None for own in (u, v)
        )
        found[kind] += Fraction((prime - 1) ** (len(points) - len(met)), prime ** len(points))
    return found


def independent_delta(prime, u, v, fakes, epsilon, gone=Fraction(0)):
    """Of two sets of two, each member replaced with chance ``gone``, if points are independent."""
    law, records, grow = shown_by_a_fake(prime, u, v), fakes + 2, exp_exactly(epsilon)
    own = Fraction(prime - 1, prime**2)  # the chance that a fake shows a given member

    def likelihood(one, other):
        both = one * other / (own**2 * records * (records - 1))
        single = (one + other) / (own * records)
        return (1 - gone) ** 2 * both + gone * (1 - gone) * single + gone**2

    total = Fraction(0)
    for counts in spread(records, len(law)):
        chance, seen = Fraction(math.factorial(records)), Counter()
        for many, ((one, other), share) in zip(counts, law.items(), strict=True):
            chance *= share**many / math.factorial(many)
            seen["u", one] += many
            seen["v", other] += many
        first, second = (likelihood(*(seen[name, one] for one in own_set))
                         for name, own_set in (("u", u), ("v", v)))  # fmt: skip
        total += chance * max(first - grow * second, 0)
    return total


@cache
def spread(many, kinds):
    """Every way to give so many messages a kind."""
    if kinds == 1:
        return [(many,)]
    return [(own, *rest) for own in range(many + 1) for rest in spread(many - own, kinds - 1)]


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize(("prime", "fakes"), [(5, 1), (5, 4), (7, 1), (7, 3), (11, 2), (53, 2)])
def test_the_points_of_a_list_are_on_no_line_and_tell_less_than_a_line(prime, fakes, epsilon):
    """Others only help. Pads are points too; any two sets of two share a member or none."""
    digits = most_digits(prime)
    family = Planes(prime, digits)
    points = [family.member(one, LIST) for one in (0, 1, 2, 3, LIST, LIST + 1)]
    assert independent(family, points)
    kinds = {"bins": LIST, "max_set": 2, "planes": records.Planes(prime, digits)}
    for gone in (0, SCALE // 8):
        hiding = UniformFakes(fakes)
        sent = (
            KaryResponse(**kinds, fakes=hiding, replaced=gone, crowd=1)
            if gone
            else InClear(**kinds, fakes=hiding)
        )
        bounds = set_in_clear.delta(hide_set(sent, fakes), epsilon)
        truth = max(
            independent_delta(prime, (0, 1), other, fakes, epsilon, Fraction(gone, SCALE))
            for other in ((2, 3), (0, 2))
        )
        assert bounds.lower <= truth <= bounds.upper
        assert bounds.lower > 0.0 or prime == 5 or epsilon == 3.0


@pytest.mark.seconds
def test_the_law_of_independent_points_is_that_of_enumerated_ones():
    """In three digits four points can be independent."""
    family, u, v = Planes(5, 3), (0, 1), (5, 25)
    assert independent(family, (*u, *v))
    assert not independent(family, (*u, 2))
    truth = independent_delta(5, u, v, 1, math.log(2))
    assert float(true_delta(family, u, v, 1, Fraction(2))) == pytest.approx(float(truth), rel=1e-2)


def test_others_point_with_one_in_p_where_points_are_in_general_position():
    """The law of a count, by counting directions; in special position it is at most 1/p away."""
    family, size = Planes(5, 3), 2
    dependent, one, trials = 0, Fraction(1, 5), 0
    for u, v in combinations(range(1, family.points), 2):
        trials += 1
        line = any(_on_line(family, u, v, share) for share in range(family.prime))
        dependent += line
        if trials % 40:
            continue
        for point in (u, v):
            sent = messages(family, point, (u, v))
            met = sum(family.message(0, code // 5) == code for code in sent)
            share = Fraction(met, len(sent))
            assert abs(share - one) <= one
            assert line or share == one
    p, t = family
    assert Fraction(dependent, trials) <= Fraction(p**size - 1, (p - 1) * p**t)


def _on_line(family, u, v, share):
    """Whether 0 is u + share (v - u)."""
    digits = [(u // 5**place % 5, v // 5**place % 5) for place in range(family.digits)]
    return all((a + share * (b - a)) % 5 == 0 for a, b in digits)
