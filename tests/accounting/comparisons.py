"""Every divergence of a distribution beside the scenes that it must cover, to hold against
enumeration.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from itertools import permutations, product
from typing import NamedTuple

from accounting import brute_distributions as brute
from accounting.brute_distributions import UNIFORM, Scene, World
from mixtally.accounting.divergence import (
    flip_blank,
    flip_uniform,
    k_hot,
    one_hot,
    single_bit,
    vectors,
)
from mixtally.accounting.numerics.bracket import Bracket
from mixtally.accounting.numerics.flip_ratios import Orbit
from mixtally.primitives.fixed_point import SCALE

MANY_EPSILONS = (0.01, 0.05, 0.2, 0.5, 1.0, 1.7, 3.0, 5.0)
MANY = tuple(
    [1 << 24, SCALE // 3000 + 1, (1 << 63) - (1 << 50), 1 << 63]
    + [SCALE * j // 32 + 12345 for j in range(1, 16)]
)
FEW_EPSILONS = (0.01, 0.1, 0.3, 1.0, 2.0, 4.0)
FEW = tuple(j << 57 for j in (13, 26, 39, 52, 58))
"""From 0.10 to 0.45, of seven binary digits."""


class Comparison(NamedTuple):
    """One divergence and what it is the divergence of.

    where
      divergence    from threshold and epsilon to both bounds
      exact    whether the ends are the divergence itself, not bounds of it
    """

    label: str
    price: Callable[[int, float], Bracket]
    scenes: tuple[Scene, ...]
    bits: int = 1
    sums: bool = False
    repeats: int = 1
    exact: bool = False
    thresholds: tuple[int, ...] = FEW
    epsilons: tuple[float, ...] = FEW_EPSILONS

    def cases(self) -> int:
        """How many numbers are compared."""
        return len(self.thresholds) * len(self.epsilons)

    def faults(self, *, lower: bool = True) -> Iterator[str]:
        """The numbers that do not hold, in words."""
        for threshold in self.thresholds:
            world = World(self.bits, threshold, self.sums, self.repeats)
            truths = _truths(world, self.scenes, self.epsilons)
            for epsilon, truth in zip(self.epsilons, truths, strict=True):
                ends = self.price(threshold, epsilon)
                if not self._holds(ends, truth, lower):
                    yield f"{self.label}: {threshold=} {epsilon=} {ends} {float(truth)!r}"

    def _holds(self, ends: Bracket, truth: Fraction, lower: bool) -> bool:
        if ends.upper < truth or (lower and ends.lower > truth):
            return False
        off, slack = Fraction(1, 1000), Fraction(1, 10**12)
        near = truth * (1 - off) - slack <= Fraction(ends.lower)
        return not self.exact or (near and Fraction(ends.upper) <= truth * (1 + off) + slack)


@cache
def _truths(world: World, scenes: tuple[Scene, ...], epsilons: tuple[float, ...]) -> list[Fraction]:
    return brute.worst(scenes, world, epsilons)


def bit_scenes(users: int, fakes: int, ones: int) -> tuple[Scene, Scene]:
    """A person's bit, both ways, when ``ones`` of the others hold a one."""
    others = (1,) * ones + (0,) * (users - 1 - ones + fakes)
    return Scene(others, 0, 1), Scene(others, 1, 0)


def single_bits(repeats: int, crowds: list[tuple[int, int]]) -> Iterator[Comparison]:
    """With known numbers of ones, for the worst number, and with fakes alone."""
    fine = {"thresholds": MANY, "epsilons": MANY_EPSILONS, "repeats": repeats}
    for n, fakes in crowds:
        for ones in range(n):
            yield Comparison(
                f"single bit {n=} {fakes=} {ones=} {repeats=}",
                lambda t, e, n=n, k=fakes, m=ones: single_bit.delta(n, k, t, e, m, repeats=repeats),
                bit_scenes(n, fakes, ones),
                exact=True,
                **fine,
            )
        yield Comparison(
            f"single bit, worst {n=} {fakes=} {repeats=}",
            lambda t, e, n=n, k=fakes: single_bit.delta(
                n, k, t, e, count_crowd=True, repeats=repeats
            ),
            tuple(scene for ones in range(n) for scene in bit_scenes(n, fakes, ones)),
            **fine,
        )
    for fakes in sorted({fakes for _, fakes in crowds}):
        yield Comparison(
            f"single bit among fakes {fakes=} {repeats=}",
            lambda t, e, k=fakes: single_bit.delta(9, k, t, e, repeats=repeats),
            bit_scenes(1, fakes, 0),
            exact=True,
            **fine,
        )


def blanks() -> Iterator[Comparison]:
    """flip-blank with fakes alone."""
    for fakes in range(6):
        yield Comparison(
            f"flip-blank {fakes=}",
            lambda t, e, k=fakes: flip_blank.delta(k, t, e),
            tuple(brute.scenes(2, brute.one_hot(2), 0, (0,) * fakes)),
            bits=2,
            exact=True,
            thresholds=MANY,
            epsilons=MANY_EPSILONS,
        )


def crowds(*, sums: bool, fake: int = 0) -> Iterator[Comparison]:
    """One-hot records with everybody counted, fakes that are blank or uniform."""
    for bins, n, fakes in product((2, 3), (2, 3, 4), (0, 1, 2)):
        yield Comparison(
            f"one-hot crowd {bins=} {n=} {fakes=} {sums=} {fake=}",
            (lambda t, e, n=n, k=fakes, d=bins: one_hot.sums_delta(n, k, t, e, d)) if sums
            else (lambda t, e, n=n, k=fakes, d=bins: one_hot.messages_delta(n, k, t, e, d)),
            tuple(brute.scenes(bins, brute.one_hot(bins), n - 1, (fake,) * fakes)),
            bits=bins,
            sums=sums,
            epsilons=FEW_EPSILONS if sums else FEW_EPSILONS[1::2],
        )  # fmt: skip


def uniform_fakes(others: int = 0) -> Iterator[Comparison]:
    """flip-uniform, ``messages``; further people are covered, but not counted."""
    for bins, fakes in product((2, 3), range(5 - others)):
        yield Comparison(
            f"flip-uniform {bins=} {fakes=} {others=}",
            lambda t, e, k=fakes, d=bins: flip_uniform.messages_delta(k, d, t, e),
            tuple(brute.scenes(bins, brute.one_hot(bins), others, (UNIFORM,) * fakes)),
            bits=bins,
            exact=not others,
        )


def vectors_of_bits() -> Iterator[Comparison]:
    """Free vectors, in a crowd of zeros and in any."""
    for bits, n in product((1, 2, 3), (2, 3, 4)):
        zeros, ones = (0,) * (n - 1), (1 << bits) - 1
        yield Comparison(
            f"vectors among zeros {bits=} {n=}",
            lambda t, e, n=n, b=bits: vectors.homogeneous_delta(n, b, t, e),
            (Scene(zeros, 0, ones), Scene(zeros, ones, 0)),
            bits=bits,
            exact=True,
        )
        yield Comparison(
            f"vectors, any dataset {bits=} {n=}",
            lambda t, e, n=n, b=bits: vectors.any_dataset_delta(n, b, t, e),
            tuple(brute.scenes(bits, brute.free(bits), n - 1, vectors=True)),
            bits=bits,
            thresholds=FEW[1::2],
            epsilons=FEW_EPSILONS[1::2],
        )


def orbits_of_bits() -> Iterator[Comparison]:
    """One direction for every way in which two vectors lie in a crowd of zeros."""
    for one, other in permutations((0b000, 0b001, 0b010, 0b011, 0b110, 0b111), 2):
        both = (one & other).bit_count()
        orbit = Orbit(one.bit_count() - both, other.bit_count() - both, both)
        yield Comparison(
            f"vectors {one:03b} against {other:03b} among zeros",
            lambda t, e, orbit=orbit: vectors.orbit_delta(3, orbit, t, e),
            (Scene((0, 0), one, other),),
            bits=3,
            exact=True,
            thresholds=FEW[1:],
            epsilons=FEW_EPSILONS[1::2],
        )


def k_hots(bits: int) -> Iterator[Comparison]:
    """Records with at most two set bits among blanks."""
    for fakes in range(4):
        yield Comparison(
            f"two-hot {bits=} {fakes=}",
            lambda t, e, k=fakes: k_hot.delta_among_blanks(k, 2, t, e, bits),
            tuple(brute.scenes(bits, brute.at_most(bits, 2), 0, (0,) * fakes)),
            bits=bits,
            exact=True,
            thresholds=FEW[1::2] if fakes == 3 else FEW[1:],
            epsilons=FEW_EPSILONS[1::2],
        )


def k_hot_crowds(bits: int) -> Iterator[Comparison]:
    """Records with at most two set bits among each other."""
    for n in (2, 3):
        yield Comparison(
            f"two-hot crowd {bits=} {n=}",
            lambda t, e, n=n: k_hot.delta_in_crowd(n, 0, 2, t, e, bits),
            tuple(brute.scenes(bits, brute.at_most(bits, 2), n - 1)),
            bits=bits,
            thresholds=FEW[3:4],
            epsilons=FEW_EPSILONS[1:4:2],
        )
