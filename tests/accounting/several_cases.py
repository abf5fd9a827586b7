"""Prices of records sent as several messages beside every dataset that they must cover.

Messages of a split record are shuffled apart: what is seen is a product. Every part has its own
crowd, and the person's values differ in all parts, each in the worse way.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product
from typing import NamedTuple

from accounting import brute, by_name
from accounting import brute_distributions as many
from accounting.brute_distributions import UNIFORM, Scene, World
from accounting.comparisons import bit_scenes
from mixtally.accounting.accountant import Accountant
from mixtally.model.guarantee import Observer
from mixtally.model.shape import LaplaceShape
from mixtally.primitives.fixed_point import SCALE

Profile = dict[tuple[int, int], int]
"""Weights under P and under Q, and how many outcomes have them."""

THRESHOLDS = (SCALE // 16, SCALE * 7 // 32, SCALE * 13 // 32)
EPSILONS = (0.1, 1.0, 3.0)
NO_FLIPS = (None,)
SUMS = {"observer": Observer.SUMS}


class Case(NamedTuple):
    """A protocol's parameters and the divergences that its bounds must cover.

    where
      truth   from threshold and epsilons to the largest divergence for each of them
      fewer   whether it counts on less than the datasets hold: only its upper bound is theirs
    """

    name: str
    given: dict
    truth: Callable[[int | None, tuple[float, ...]], list[Fraction]]
    thresholds: tuple[int | None, ...] = THRESHOLDS
    fewer: bool = False

    @property
    def integrals(self) -> bool:
        """Whether it composes a curve of integrals, which take long for rare flips."""
        blanks, split = self.name == "flip-blank", self.given.get("split")
        if "observer" in self.given or self.name not in ("flip-blank", "flip", "flip-uniform"):
            return False
        if blanks and (split or "max_set" not in self.given):
            return "count_crowd" in self.given and not self.given["fakes"]
        return not split or self.given.get("max_set", 1) > 1

    @property
    def label(self) -> str:
        """The case in words."""
        return " ".join([self.name, *(f"{k}={v}" for k, v in self.given.items())])

    def faults(self) -> Iterator[str]:
        """The numbers that do not hold, in words."""
        accountant = Accountant()
        for threshold in self.thresholds:
            record = by_name.record(self.name, threshold=threshold, **self.given)
            for epsilon, truth in zip(EPSILONS, self.truth(threshold, EPSILONS), strict=True):
                ends = accountant.certificate(record, epsilon)
                if truth > ends.upper or (ends.lower > truth and not self.fewer):
                    found = f"[{ends.lower}, {ends.upper}]"
                    yield f"{self.label} {threshold=} {epsilon=} {found} {float(truth)!r}"


def together(scenes: tuple[Scene, ...] | list[Scene], bits: int, repeats: int = 1, **sums: bool):
    """The truth of records whose messages are all shuffled together."""
    scenes = tuple(scenes)

    @cache
    def truth(threshold: int, epsilons: tuple[float, ...]) -> list[Fraction]:
        return many.worst(scenes, World(bits, threshold, repeats=repeats, **sums), epsilons)

    return truth


def apart(scenes: tuple[Scene, ...] | list[Scene], bits: int, pieces: int, repeats: int = 1):
    """The truth of records whose ``pieces`` messages are shuffled apart."""
    scenes = tuple(scenes)

    @cache
    def truth(threshold: int, epsilons: tuple[float, ...]) -> list[Fraction]:
        world = World(bits, threshold, repeats=repeats)
        return worst_product([_profile(scene, world) for scene in scenes], pieces, epsilons)

    return truth


def _profile(scene: Scene, world: World) -> Profile:
    background = many.hiding(world, scene.others)
    p, q = (many.added([background, many.record(world, v)]) for v in (scene.one, scene.other))
    return profile(p, q)


def profile(p: dict, q: dict) -> Profile:
    """Outcomes with the same two weights counted together."""
    found: Profile = {}
    for seen in p.keys() | q.keys():
        pair = p.get(seen, 0), q.get(seen, 0)
        found[pair] = found.get(pair, 0) + 1
    return found


def worst_product(
    profiles: list[Profile], pieces: int, epsilons: tuple[float, ...]
) -> list[Fraction]:
    """The largest divergence over all choices of one profile for each of ``pieces``."""
    found = []
    for chosen in combinations_with_replacement(profiles, pieces):
        joint: Profile = {(1, 1): 1}
        for one in chosen:
            wider: Profile = {}
            for (a, b), times in joint.items():
                for (c, d), more in one.items():
                    pair = a * c, b * d
                    wider[pair] = wider.get(pair, 0) + times * more
            joint = wider
        found.append([_gain(joint, epsilon) for epsilon in epsilons])
    return [max(column) for column in zip(*found, strict=True)]


def _gain(joint: Profile, epsilon: float) -> Fraction:
    grow = brute.exp_exactly(epsilon)
    above, below = grow.denominator, grow.numerator
    total = sum(a * times for (a, _), times in joint.items())
    gains = ((above * a - below * b) * times for (a, b), times in joint.items())
    return Fraction(sum(gain for gain in gains if gain > 0), above * total)


def one_hots(bins: int, others: int, fakes: tuple[int, ...] = ()) -> list[Scene]:
    """Every dataset of one-hot records."""
    return many.scenes(bins, many.one_hot(bins), others, fakes)


def two_hots(bits: int, others: int, fakes: tuple[int, ...] = ()) -> list[Scene]:
    """Every dataset of records with at most two set bits."""
    return many.scenes(bits, many.at_most(bits, 2), others, fakes)


def vectors(bits: int, others: int) -> list[Scene]:
    """Every dataset of free vectors."""
    return many.scenes(bits, many.free(bits), others, vectors=True)


def bits_of(users: int, fakes: int = 0) -> list[Scene]:
    """Every dataset of single bits."""
    return [scene for ones in range(users) for scene in bit_scenes(users, fakes, ones)]


def repeated_blanks() -> Iterator[Case]:
    """flip-blank: fakes alone, in which case further people only help, and the crowd counted."""
    for k, r in [(0, 2), (1, 2), (3, 2), (0, 3), (2, 3)]:
        given = {"fakes": k, "repeats": r}
        yield Case("flip-blank", given, together(one_hots(2, 0, (0,) * k), 2, r))
    given = {"fakes": 1, "repeats": 2}
    yield Case("flip-blank", given, together(one_hots(3, 1, (0,)), 3, 2), fewer=True)
    for bins, n, k, r in [(2, 2, 0, 2), (3, 2, 1, 2), (2, 3, 1, 2), (3, 3, 0, 2), (2, 2, 1, 3)]:
        given = {"users": n, "fakes": k, "bins": bins, "count_crowd": True, "repeats": r}
        yield Case("flip-blank", given, together(one_hots(bins, n - 1, (0,) * k), bins, r))
    for bins, k, r in [(3, 0, 2), (3, 1, 2), (4, 0, 2), (4, 1, None)]:
        given = {"fakes": k, "bins": bins, "max_set": 2, "repeats": r}
        yield Case("flip-blank", given, together(two_hots(bins, 0, (0,) * k), bins, r or 1))
    for bins, n, k, r in [(3, 2, 0, None), (3, 3, 1, None), (3, 2, 0, 2), (4, 2, 0, None)]:
        given = {"users": n, "fakes": k, "bins": bins, "max_set": 2, "repeats": r}
        truth = together(two_hots(bins, n - 1, (0,) * k), bins, r or 1)
        yield Case("flip-blank", given | {"count_crowd": True}, truth)


def repeated_flips() -> Iterator[Case]:
    """flip: one-hot, two-hot and free, messages and sums."""
    for bins, n, r in [(2, 2, 2), (2, 4, 2), (3, 2, 2), (3, 3, 2), (2, 3, 3), (3, 2, 3)]:
        given = {"users": n, "bins": bins, "repeats": r}
        yield Case("flip", given, together(one_hots(bins, n - 1), bins, r))
    for bins, n, r in [(2, 2, 2), (2, 4, 2), (3, 2, 2), (3, 3, 2), (2, 3, 3), (3, 3, 3)]:
        given = {"users": n, "bins": bins, "repeats": r} | SUMS
        yield Case("flip", given, together(one_hots(bins, n - 1), bins, r, sums=True))
    for bins, n, r in [(3, 2, 2), (4, 2, 2)]:
        given = {"users": n, "bins": bins, "max_set": 2, "repeats": r}
        thresholds = THRESHOLDS if bins == 3 else THRESHOLDS[1:2]
        yield Case("flip", given, together(two_hots(bins, n - 1), bins, r), thresholds)
    for bins, n, r in [(2, 2, None), (3, 3, None), (4, 3, None), (3, 2, 2), (4, 2, 2)]:
        given = {"users": n, "bins": bins, "max_set": 2, "repeats": r} | SUMS
        yield Case("flip", given, together(two_hots(bins, n - 1), bins, r or 1, sums=True))
    for bits, n, r in [(1, 3, 2), (2, 2, 2), (2, 3, 2), (2, 2, 3), (3, 2, 2)]:
        given = {"users": n, "bits": bits, "repeats": r}
        yield Case("flip", given, together(vectors(bits, n - 1), bits, r))
        ones, zeros = (1 << bits) - 1, (0,) * (n - 1)
        scenes = (Scene(zeros, 0, ones), Scene(zeros, ones, 0))
        yield Case("flip", given | {"background": "zero"}, together(scenes, bits, r))
    for bits, n, r in [(1, 3, 2), (2, 2, None), (2, 3, 2), (3, 3, None), (3, 2, 2), (2, 2, 3)]:
        given = {"users": n, "bits": bits, "repeats": r} | SUMS
        yield Case("flip", given, together(vectors(bits, n - 1), bits, r or 1, sums=True))


def repeated_uniforms() -> Iterator[Case]:
    """flip-uniform at both observers."""
    for bins, k, r in [(2, 0, 2), (2, 2, 2), (3, 1, 2), (3, 0, 3), (2, 1, 3)]:
        given = {"users": 9, "fakes": k, "bins": bins, "repeats": r}
        fakes = (UNIFORM,) * k
        yield Case("flip-uniform", given, together(one_hots(bins, 0, fakes), bins, r))
    given = {"users": 2, "fakes": 1, "bins": 2, "repeats": 2}
    yield Case("flip-uniform", given, together(one_hots(2, 1, (UNIFORM,)), 2, 2), fewer=True)
    for bins, n, k, r in [(2, 2, 0, None), (2, 2, 2, None), (3, 3, 1, None), (2, 2, 1, 2),
                          (3, 2, 0, 2), (3, 2, 1, 2)]:  # fmt: skip
        given = {"users": n, "fakes": k, "bins": bins, "repeats": r}
        scenes = one_hots(bins, n - 1, (UNIFORM,) * k)
        crowd = given | {"count_crowd": True}
        yield Case("flip-uniform", crowd, together(scenes, bins, r or 1))
        if r:
            yield Case("flip-uniform", given | SUMS, together(scenes, bins, r, sums=True))


def repeated_bits() -> Iterator[Case]:
    """single-bit: the worst crowd and a known one."""
    for n, k, r in [(2, 0, 3), (3, 1, 2), (4, 0, 2), (2, 2, 3)]:
        given = {"users": n, "fakes": k, "repeats": r}
        yield Case("single-bit", given, together(bits_of(n, k), 1, r))
        ones = together(bit_scenes(n, k, 1), 1, r)
        yield Case("single-bit", given | {"ones": 1}, ones)


def split_records() -> Iterator[Case]:
    """Bits and attributes that travel as messages of their own."""
    for bits, n, r in [(1, 3, None), (2, 3, None), (3, 3, None), (2, 2, 2), (3, 2, 2), (2, 2, 3)]:
        given = {"users": n, "bits": bits, "split": True, "repeats": r}
        yield Case("flip", given, apart(bits_of(n), 1, bits, r or 1))
        zeros = apart(bit_scenes(n, 0, 0), 1, bits, r or 1)
        yield Case("flip", given | {"background": "zero"}, zeros)
    for n, r in [(2, None), (3, None), (2, 2)]:
        given = {"users": n, "bins": 3, "split": True, "repeats": r}
        yield Case("flip", given, together(one_hots(3, n - 1), 3, r or 1, sums=True))
        fakes = (UNIFORM,)
        truth = together(one_hots(3, n - 1, fakes), 3, r or 1, sums=True)
        yield Case("flip-uniform", given | {"fakes": 1}, truth)
    for bins, n, r in [(2, 2, None), (2, 3, None), (3, 2, None), (2, 2, 2)]:
        given = {"users": n, "bins": bins, "max_set": 2, "split": True, "repeats": r}
        yield Case("flip", given, apart(one_hots(bins, n - 1), bins, 2, r or 1))
        blank = {"fakes": 1, "count_crowd": True}
        truth = apart(one_hots(bins, n - 1, (0,)), bins, 2, r or 1)
        yield Case("flip-blank", given | blank, truth)
        truth = apart(one_hots(bins, n - 1, (UNIFORM,)), bins, 2, r or 1)
        yield Case("flip-uniform", given | blank, truth)
    for k, parts, r in [(0, 2, None), (2, 2, None), (1, 3, None), (1, 2, 2), (0, 2, 3)]:
        given = {"fakes": k, "max_set": parts, "split": True, "repeats": r}
        yield Case("flip-blank", given, apart(one_hots(2, 0, (0,) * k), 2, parts, r or 1))
        given |= {"users": 5, "bins": 2}
        truth = apart(one_hots(2, 0, (UNIFORM,) * k), 2, parts, r or 1)
        yield Case("flip-uniform", given, truth)


def clear_records() -> Iterator[Case]:
    """Records in clear: nobody but the fakes hides, counted or not."""
    for bins, k, r, parts in product((2, 3), (0, 1, 3), (None, 2, 3), (1, 2)):
        if (r or parts > 1) and k * (r or 1) < 7:
            given = {"fakes": k, "bins": bins, "repeats": r}
            given |= {"max_set": parts, "split": True} if parts > 1 else {}
            yield Case("clear-uniform", given, _uniform_in_clear(bins, k, r or 1, parts), NO_FLIPS)
    for shift, r, parts in [(1, 2, 1), (2, 2, 1), (1, 3, 1), (1, None, 2), (2, None, 2), (1, 2, 2)]:
        given = {
            "ratio": SCALE // 20,
            "shift": shift,
            "repeats": r,
            "users": 2,
            "count_crowd": True,
        }
        given |= {"max_set": parts, "split": True} if parts > 1 else {}
        yield Case("clear-shaped", given, _shaped_in_clear(shift, r or 1, parts), NO_FLIPS)


def _uniform_in_clear(bins: int, fakes: int, repeats: int, parts: int):
    nobody = {(0,) * bins: 1}
    return _in_clear([nobody, *[brute.uniform(bins)] * (fakes * repeats)], bins, repeats, parts)


def _shaped_in_clear(shift: int, repeats: int, parts: int):
    weights = LaplaceShape(SCALE // 20, shift).weights
    return _in_clear([brute.shaped(2, b, weights) for b in (0, 1)] * repeats, 2, repeats, parts)


def _in_clear(hiding: list[brute.Distribution], bins: int, repeats: int, parts: int):
    @cache
    def truth(_threshold: None, epsilons: tuple[float, ...]) -> list[Fraction]:
        pmfs = [brute.sum_of([*hiding, *[brute.in_clear(bins, b)] * repeats]) for b in (0, 1)]
        return worst_product([profile(*pmfs), profile(*pmfs[::-1])], parts, epsilons)

    return truth


SUITES = {
    "blanks": repeated_blanks, "flips": repeated_flips, "uniform fakes": repeated_uniforms,
    "bits": repeated_bits, "split": split_records, "clear": clear_records,
}  # fmt: skip
CASES = {
    case.label: case._replace(thresholds=case.thresholds[-1:]) if case.integrals else case
    for suite in SUITES.values()
    for case in suite()
}
