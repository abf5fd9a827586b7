"""Delta of any small randomizer, from its definition alone: every crowd, every pair, every outcome.

A matrix has a row for each value that a person may hold and a column for each message; an entry is
the chance that the value is sent as the message. All numbers are exact fractions. ``matrix_of``
reads the matrix of a mechanism off its integers, ``truth`` enumerates it.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from functools import reduce
from itertools import chain, combinations, combinations_with_replacement, permutations, product
from math import lcm
from typing import NamedTuple

from mixtally.model.mechanism import BitFlips, InClear, KaryResponse, Shuffled
from mixtally.primitives.fixed_point import SCALE

Law = dict[int, int]
"""What is added to what an observer sees, with its integer weight."""
Profile = Counter[tuple[int, int]]
"""Weights of an outcome under two values, and how many outcomes have them."""
Row = Sequence[Fraction | int]


class Collection(NamedTuple):
    """A matrix and all that is sent.

    where
      people   those who hold a row of the matrix, with the one who is attacked
      fakes    public rows: what fakes send
      seen     what a column adds to what is seen, in digits to base 256; by default its own count
      repeats  how often every person and every fake draws from its row
      pieces   how many such collections a person takes part in, shown side by side
    """

    matrix: Sequence[Row]
    people: int = 1
    fakes: Sequence[Row] = ()
    seen: Sequence[int] | None = None
    repeats: int = 1
    pieces: int = 1


def exp_exactly(epsilon: float) -> Fraction:
    """e^epsilon to 60 digits."""
    return Fraction(Context(prec=60).exp(Decimal(epsilon)))


def truth(
    matrix: Sequence[Row], people: int, ratio: Fraction, fakes: Sequence[Row] = ()
) -> Fraction:
    """The largest sum of (P_u - ratio P_v)_+ over all crowds and ordered pairs of rows."""
    return worst(Collection(matrix, people, fakes), [ratio])[0]


def truth_of(mechanism: Shuffled, epsilon: float) -> Fraction:
    """The same for a mechanism, at one epsilon."""
    return worst(matrix_of(mechanism), [exp_exactly(epsilon)])[0]


def brackets(ends: tuple[float, float], truth: Fraction) -> bool:
    """Whether the ends hold the truth between them, and closely."""
    lower, upper = ends
    near = abs(Fraction(upper) - truth) <= Fraction(1e-12) + Fraction(2e-9) * truth
    return lower <= truth <= upper and near


def worst(
    of: Collection,
    ratios: Sequence[Fraction],
    crowds: Iterable[Sequence[int]] | None = None,
    pairs: Iterable[tuple[int, int]] | None = None,
) -> list[Fraction]:
    """The same at each of ``ratios``, over given crowds and pairs, by number of their rows."""
    each: Iterable[Profile] = (profile(*laws) for laws in scenes(of, crowds, pairs))
    if of.pieces > 1:
        several = {frozenset(one.items()): one for one in each}.values()
        each = (reduce(both, some) for some in combinations_with_replacement(several, of.pieces))
    found = [gains(one, ratios) for one in each]
    return [max(column) for column in zip(*found, strict=True)]


def scenes(
    of: Collection,
    crowds: Iterable[Sequence[int]] | None = None,
    pairs: Iterable[tuple[int, int]] | None = None,
) -> Iterator[tuple[Law, Law]]:
    """What is seen of two values, for each crowd and pair, one of each kind."""
    seen = of.seen or [1 << 8 * column for column in range(len(of.matrix[0]))]
    assert (of.people + len(of.fakes)) * of.repeats < 256
    rows, fakes = _integers(of.matrix), _integers(of.fakes)
    laws, sent = ([_law(row, seen, of.repeats) for row in some] for some in (rows, fakes))
    public, known = total(sent), set()
    shared = any(one.bit_count() != 1 or one.bit_length() % 8 != 1 for one in seen)
    every = range(len(rows))
    crowds = combinations_with_replacement(every, of.people - 1) if crowds is None else crowds
    pairs = list(permutations(every, 2) if pairs is None else pairs)
    for crowd in crowds:
        kinds = {(crowd, p) if shared else _kind(rows, fakes, crowd, p): p for p in pairs}
        left = [pair for kind, pair in kinds.items() if kind not in known]
        known |= kinds.keys()
        behind = total([public, *(laws[other] for other in crowd)]) if left else {}
        outcomes = {one: total([behind, laws[one]]) for one in {*chain(*left)}}
        yield from ((outcomes[u], outcomes[v]) for u, v in left)


def profile(one: Law, other: Law) -> Profile:
    """How many outcomes have the same two weights."""
    assert sum(one.values()) == sum(other.values())
    return Counter((one.get(seen, 0), other.get(seen, 0)) for seen in one.keys() | other.keys())


def both(one: Profile, other: Profile) -> Profile:
    """Two independent observations."""
    found: Profile = Counter()
    for ((p, q), many), ((r, s), more) in product(one.items(), other.items()):
        found[p * r, q * s] += many * more
    return found


def gains(of: Profile, ratios: Sequence[Fraction]) -> list[Fraction]:
    """sum of (P - ratio Q)_+ over all outcomes, at each of ``ratios``."""
    weight = sum(p * many for (p, _), many in of.items())
    found = []
    for ratio in map(Fraction, ratios):
        a, b = ratio.denominator, ratio.numerator
        gain = sum((a * p - b * q) * many for (p, q), many in of.items() if a * p > b * q)
        found.append(Fraction(gain, a * weight))
    return found


def total(laws: Iterable[Law]) -> Law:
    """The law of a sum of independent sights."""
    found: Law = {0: 1}
    for law in laws:
        wider: Law = {}
        for seen, weight in found.items():
            for more, chance in law.items():
                wider[seen + more] = wider.get(seen + more, 0) + weight * chance
        found = wider
    return found


def _integers(rows: Sequence[Row]) -> list[list[int]]:
    exact = [[Fraction(chance) for chance in row] for row in rows]
    assert all(sum(row) == 1 and min(row) >= 0 for row in exact)
    scale = lcm(*(chance.denominator for row in exact for chance in row))
    return [[int(chance * scale) for chance in row] for row in exact]


def _law(row: Sequence[int], seen: Sequence[int], repeats: int) -> Law:
    once: Law = {}
    for weight, sight in zip(row, seen, strict=True):
        if weight:
            once[sight] = once.get(sight, 0) + weight
    return total([once] * repeats)


def _kind(
    rows: list[list[int]], fakes: list[list[int]], crowd: Sequence[int], pair: tuple[int, int]
) -> tuple[object, ...]:
    """What is equal for crowds and pairs that another order of the columns maps to each other."""
    orders = set(permutations(crowd))
    return min(
        tuple(sorted(zip(*(rows[one] for one in (*pair, *order)), *fakes, strict=True)))
        for order in orders
    )


def matrix_of(mechanism: Shuffled, *, sums: bool = False) -> Collection:
    """The matrix, people and fakes of a mechanism; ``sums``: only the count of each bit is seen."""
    if isinstance(mechanism, BitFlips):
        return _strings(mechanism, sums)
    assert isinstance(mechanism, InClear | KaryResponse)
    return _cells(mechanism)


def flips(bits: int, threshold: int, held: Iterable[int]) -> list[list[Fraction]]:
    """A row for each string in ``held``: every bit is flipped with chance threshold / 2^64."""
    q = Fraction(threshold, SCALE)
    changed = [q**many * (1 - q) ** (bits - many) for many in range(bits + 1)]
    return [[changed[(own ^ sent).bit_count()] for sent in range(1 << bits)] for own in held]


def mean(rows: Sequence[Row]) -> list[Fraction]:
    """The row of one of ``rows`` at random."""
    return [Fraction(sum(column)) / len(rows) for column in zip(*rows, strict=True)]


def _strings(one: BitFlips, sums: bool) -> Collection:
    """Records of flipped bits."""
    strings, single = range(1 << one.bins), [1 << position for position in range(one.bins)]
    held = single if one.max_set == 1 else [s for s in strings if s.bit_count() <= one.most_set]
    matrix, empty, full = (flips(one.bins, one.threshold, some) for some in (held, [0], single))
    fakes = [mean(full) if one.uniform_fakes else empty[0]] * one.fakes.count
    seen = [sum(1 << 8 * b for b in range(one.bins) if string >> b & 1) for string in strings]
    return Collection(matrix, max(1, one.crowd), fakes, seen if sums else None, one.repeats)


def _cells(one: InClear | KaryResponse) -> Collection:
    """Records that name a cell for each possible member of a set, each replaced by chance."""
    bins, size, cells = one.bins, one.max_set, range(one.cells)
    gone = Fraction(one.replaced or 0, SCALE)
    record: Iterable[tuple[int, ...]] = ((own,) for own in cells)
    if size > 1:  # pads take the place of missing members
        sets = (some for many in range(size + 1) for some in combinations(range(bins), many))
        record = ((*some, *range(bins, bins + size - len(some))) for some in sets)
    people = [_sights(own, cells, gone) for own in record]
    if one.shaped_fakes is None:
        fakes = [_sights((0,), cells, Fraction(1))] * one.fakes.count
    else:
        table = one.shaped_fakes.shape.weights
        numbers = [
            {k << 8 * cell: Fraction(weight, SCALE) for k, weight in enumerate(table)}
            for cell in cells
        ]
        if one.shaped_fakes.shape.paired:  # the second cell gets the rest of a fixed total
            rest = len(table) - 1
            numbers = [{k + (rest - k << 8): chance for k, chance in numbers[0].items()}]
        fakes = numbers * one.shaped_fakes.mixes
    columns = sorted(set().union(*people, *fakes))
    matrix, public = (
        [[law.get(c, 0) for c in columns] for law in some] for some in (people, fakes)
    )
    return Collection(matrix, max(1, one.crowd), public, columns, one.repeats)


def _sights(own: Sequence[int], cells: range, gone: Fraction) -> dict[int, Fraction]:
    """What messages that name ``own`` add to the counts of ``cells``, with chances."""
    found: dict[int, Fraction] = {0: Fraction(1)}
    for cell in own:
        wider: dict[int, Fraction] = {}
        for (seen, chance), to in product(found.items(), cells):
            step = chance * (gone / len(cells) + (1 - gone) * (to == cell))
            if step:
                wider[seen + (1 << 8 * to)] = wider.get(seen + (1 << 8 * to), 0) + step
        found = wider
    return found
