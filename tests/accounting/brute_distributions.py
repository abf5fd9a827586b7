"""The worst divergence over all datasets, by enumeration in exact integers from the definition.

A record is a string of bits as an integer; every bit is flipped with a rational probability. What
the observer sees, a multiset of messages or the sum of each bit, is one integer: digits to base 64.
A sent blank is a record that holds nothing.
"""

from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, permutations
from typing import NamedTuple

from accounting.brute import exp_exactly
from mixtally.primitives.fixed_point import SCALE

Distribution = dict[int, int]
UNIFORM = -1
"""In place of a record: a one-hot fake whose bin is uniform."""


class World(NamedTuple):
    """How records reach the observer."""

    bits: int
    threshold: int
    sums: bool = False
    repeats: int = 1


class Scene(NamedTuple):
    """All other records, sent fakes among them, and what the person holds in P and in Q."""

    others: tuple[int, ...]
    one: int
    other: int


def added(distributions: Iterable[Distribution]) -> Distribution:
    """The distribution of a sum of independent sights."""
    total: Distribution = {0: 1}
    for pmf in distributions:
        wider: Distribution = {}
        for seen, weight in total.items():
            for more, chance in pmf.items():
                wider[seen + more] = wider.get(seen + more, 0) + weight * chance
        total = wider
    return total


@cache
def record(world: World, value: int) -> Distribution:
    """What one record adds to what is seen, with integer weights."""
    if value == UNIFORM:  # a fake of every round is a new one
        mixed: Distribution = {}
        for b in range(world.bits):
            for seen, weight in record(world._replace(repeats=1), 1 << b).items():
                mixed[seen] = mixed.get(seen, 0) + weight
        return added([mixed] * world.repeats)
    q = Fraction(world.threshold, SCALE)
    keep = q.denominator - q.numerator
    pmf: Distribution = {}
    for string in range(1 << world.bits):
        flips = (string ^ value).bit_count()
        seen = 64**string
        if world.sums:
            seen = sum(64**b for b in range(world.bits) if string >> b & 1)
        pmf[seen] = pmf.get(seen, 0) + q.numerator**flips * keep ** (world.bits - flips)
    return added([pmf] * world.repeats)


@cache
def hiding(world: World, others: tuple[int, ...]) -> Distribution:
    """The distribution of all records but the person's."""
    if not others:
        return {0: 1}
    return added([hiding(world, others[:-1]), record(world, others[-1])])


def one_way(scene: Scene, world: World, epsilons: Iterable[float]) -> list[Fraction]:
    """sum of (P - e^epsilon Q)_+ for every epsilon."""
    background = hiding(world, scene.others)
    p, q = (added([background, record(world, value)]) for value in (scene.one, scene.other))
    total = sum(p.values())
    assert total == sum(q.values())
    pairs = [(weight, q.get(seen, 0)) for seen, weight in p.items()]
    answers = []
    for epsilon in epsilons:
        grow = exp_exactly(epsilon)
        a, b = grow.denominator, grow.numerator
        gain = sum(a * x - b * y for x, y in pairs if a * x > b * y)
        answers.append(Fraction(gain, a * total))
    return answers


def worst(scenes: Iterable[Scene], world: World, epsilons: tuple[float, ...]) -> list[Fraction]:
    """The largest divergence over the scenes, for every epsilon."""
    found = [one_way(scene, world, epsilons) for scene in scenes]
    return [max(column) for column in zip(*found, strict=True)]


@cache
def scenes(
    bits: int,
    values: tuple[int, ...],
    others: int,
    fakes: tuple[int, ...] = (),
    *,
    vectors: bool = False,
) -> list[Scene]:
    """Every dataset of ``others`` people and every ordered pair of values of the person.

    One of each kind that a permutation of the bits maps to each other, for ``vectors`` also their
    negations: the flips are the same for all bits.
    """
    masks = range(1 << bits) if vectors else (0,)
    kinds, kept = set(), []
    for crowd in combinations_with_replacement(values, others):
        for one in values:
            for other in values:
                if one == other:
                    continue
                if (crowd, one, other) not in kinds:
                    kept.append(Scene((*crowd, *fakes), one, other))
                    kinds.update(_images(bits, masks, crowd, one, other))
    return kept


def _images(
    bits: int, masks: Iterable[int], crowd: tuple[int, ...], one: int, other: int
) -> Iterator[tuple[tuple[int, ...], int, int]]:
    for order in permutations(range(bits)):

        def moved(value: int, order: tuple[int, ...] = order) -> int:
            return sum(1 << order[b] for b in range(bits) if value >> b & 1)

        for mask in masks:
            image = tuple(sorted(moved(value ^ mask) for value in crowd))
            yield image, moved(one ^ mask), moved(other ^ mask)


def one_hot(bins: int) -> tuple[int, ...]:
    """The values of a one-hot record."""
    return tuple(1 << b for b in range(bins))


def at_most(bits: int, most: int) -> tuple[int, ...]:
    """The values of a record with at most ``most`` set bits."""
    return tuple(value for value in range(1 << bits) if value.bit_count() <= most)


def free(bits: int) -> tuple[int, ...]:
    """The values of a free vector."""
    return tuple(range(1 << bits))
