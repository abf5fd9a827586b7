"""Protocols by name with small parameters, and the matrix of each, read off the same parameters.

Which people, fakes, bits and messages there are is decided here, not by the accountant: one more or
fewer of any of them is noticed. No lower end is above the truth and no upper end below it.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any, NamedTuple

from accounting import by_name
from helpers import named
from mixtally.accounting.accountant import Accountant, Record
from mixtally.accounting.numerics.bracket import Bracket
from mixtally.model.guarantee import Observer
from mixtally.primitives.fixed_point import SCALE
from oracle import Collection, exp_exactly, matrix_of, worst

FEW = tuple(j << 57 for j in (13, 26, 39, 52, 58))
"""Flip probabilities from 0.10 to 0.45, of seven binary digits, times 2^64."""
MANY = (
    1 << 24, SCALE // 3000 + 1, *(SCALE * j // 32 + 12345 for j in (1, 3, 6, 9, 12, 15)),
    (1 << 63) - (1 << 50), 1 << 63,
)  # fmt: skip
EPSILONS = (0.05, 0.3, 1.0, 3.0)
TIGHT, CLOSE = Fraction(2, 10**9), Fraction(1, 1000)
"""By what share an upper end that is said to be exact may lie above the truth."""
SUMS = {"observer": Observer.SUMS}
PRIVATE = {"flip", "single-bit", "kary-response"}
"""Protocols that always count on what other people do."""


class Case(NamedTuple):
    """A protocol's parameters.

    where
      off      by what share the ends may differ from the truth; None for bounds
      beside   people who take part and are not counted on
    """

    name: str
    given: dict[str, Any]
    off: Fraction | None = None
    beside: int = 0
    thresholds: tuple[int, ...] = FEW

    def faults(
        self,
        thresholds: tuple[int, ...] = (),
        epsilons: tuple[float, ...] = EPSILONS,
        stated: Callable[["Case", int, float], Bracket] | None = None,
    ) -> Iterator[str]:
        """The numbers that do not hold, in words; ``stated`` takes the accountant's place."""
        for threshold in thresholds or self.thresholds:
            truths = self.truths(threshold, epsilons)
            for epsilon, truth in zip(epsilons, truths, strict=True):
                ends = (stated or state)(self, threshold, epsilon)
                if not self._holds(ends, truth):
                    where = f"{self.name} {self.given} {threshold=} {epsilon=}"
                    yield f"{where} {ends} {float(truth)!r}"

    def _holds(self, ends: Bracket, truth: Fraction) -> bool:
        if ends.upper < truth or (ends.lower > truth and not self.beside):
            return False
        slack = 0 if self.off is None else self.off * truth + Fraction(1, 10**11)
        return self.off is None or truth - slack <= ends.lower <= ends.upper <= truth + slack

    def truths(self, threshold: int, epsilons: tuple[float, ...]) -> list[Fraction]:
        """The largest divergence over all crowds, pairs and directions, at each epsilon."""
        return _truths(self.name, tuple(self.given.items()), self.beside, threshold, epsilons)


@cache
def _truths(
    name: str,
    items: tuple[tuple[str, Any], ...],
    beside: int,
    threshold: int,
    epsilons: tuple[float, ...],
) -> list[Fraction]:
    given, crowds, pairs = dict(items), None, None
    of = collection(name, threshold, given)
    of = of._replace(people=of.people + beside)
    if (ones := given.get("ones")) is not None:
        crowds = [(0,) * (of.people - 1 - ones) + (1,) * ones]
    if given.get("background"):
        top = len(of.matrix) - 1
        crowds, pairs = [(0,) * (of.people - 1)], [(0, top), (top, 0)]
    return worst(of, [exp_exactly(epsilon) for epsilon in epsilons], crowds, pairs)


def record(name: str, threshold: int, given: dict[str, Any]) -> Record:
    """What the accountant is asked about."""
    if name == "kary-response":
        return Record.of(_replaced(threshold, given))
    return by_name.record(
        name, threshold=threshold if "flip" in name or "bit" in name else None, **given
    )


def state(case: Case, threshold: int, epsilon: float) -> Bracket:
    """Both ends as the accountant has them."""
    return state_as(case.name, threshold, epsilon, case.given)


def state_as(name: str, threshold: int, epsilon: float, given: dict[str, Any]) -> Bracket:
    """Both ends of a protocol with these parameters."""
    shown = Accountant().certificate(record(name, threshold, given), epsilon)
    return Bracket(shown.lower, shown.upper)


def _replaced(threshold: int, given: dict[str, Any]) -> Any:
    return named.kary_response(
        bins=given["bins"], replaced=threshold, crowd=given["users"], fakes=given.get("fakes", 0)
    )


def collection(name: str, threshold: int, given: dict[str, Any]) -> Collection:
    """The matrix of a protocol, how many people count, and how many messages travel apart."""
    read = {"max_set": None, "split": None, "users": 0, "fakes": 0, "repeats": 1, **given}
    split, size, bits = read["split"], read["max_set"] or 1, given.get("bits")
    sums = given.get("observer") is Observer.SUMS
    pieces = (bits or size) if split else 1
    if split and size == 1 and not bits and name in ("flip", "flip-uniform"):
        sums = True  # a value's bits, apart
    elif split:
        size, bits = 1, bits and 1
    counted = name in PRIVATE or sums or given.get("count_crowd")
    crowd, times = read["users"] if counted else 0, read["repeats"]
    sent = {"threshold": threshold, "crowd": crowd, "repeats": times}
    bins = {"bins": given.get("bins", 2)}
    match name:
        case "flip" if bits:
            made = named.flip_bits(bins=bits, **sent)
        case "flip":
            made = named.flip(max_set=size, **bins, **sent)
        case "flip-blank":
            made = named.flip_blank(fakes=read["fakes"], max_set=size, **bins, **sent)
        case "flip-uniform":
            made = named.flip_uniform(fakes=read["fakes"], **bins, **sent)
        case "single-bit":
            made = named.single_bit(fakes=read["fakes"], **sent)
        case "kary-response":
            made = _replaced(threshold, given)
        case "clear-uniform":
            made = named.clear_uniform(fakes=read["fakes"], max_set=size, repeats=times, **bins)
        case "clear-shaped":
            shape = {key: given[key] for key in ("ratio", "shift")}
            if given.get("paired"):
                made = named.clear_paired(repeats=times, **shape)
            else:
                made = named.clear_shaped(max_set=size, repeats=times, **bins, **shape)
    return matrix_of(made, sums=sums)._replace(pieces=pieces)


def bits() -> Iterator[Case]:
    """single-bit: the worst crowd and known ones."""
    for n, k in [(2, 0), (2, 4), (3, 1), (4, 1), (5, 0), (6, 0)]:
        yield Case("single-bit", {"users": n, "fakes": k}, CLOSE, thresholds=MANY)
        for ones in range(n):
            yield Case("single-bit", {"users": n, "fakes": k, "ones": ones}, CLOSE, thresholds=MANY)


def repeated_bits() -> Iterator[Case]:
    """The same bit several times."""
    for n, k, r in [(2, 0, 3), (3, 1, 2), (4, 0, 2), (2, 2, 3)]:
        given = {"users": n, "fakes": k, "repeats": r}
        yield Case("single-bit", given)
        yield Case("single-bit", given | {"ones": 1}, CLOSE)


def blanks() -> Iterator[Case]:
    """flip-blank with fakes alone, once and several times; further people are not counted on."""
    for bins, k in [*((2, k) for k in range(6)), (3, 2)]:
        yield Case("flip-blank", {"fakes": k, "bins": bins}, TIGHT, thresholds=MANY)
    for k, r in [(0, 2), (1, 2), (3, 2), (0, 3), (2, 3)]:
        yield Case("flip-blank", {"fakes": k, "bins": 2, "repeats": r}, 2 * TIGHT, thresholds=MANY)
    yield Case("flip-blank", {"fakes": 1, "bins": 3, "repeats": 2}, beside=1)
    for k, more in [(0, 1), (1, 2), (2, 2)]:
        yield Case("flip-blank", {"fakes": k, "bins": 3}, beside=more)


def blanks_in_crowds() -> Iterator[Case]:
    """flip-blank where people's own flips count too."""
    for bins, n, k, r in [(3, 2, 1, 1), (2, 4, 0, 1), (3, 3, 1, 1), (2, 4, 2, 1), (2, 2, 0, 2),
                          (3, 2, 1, 2), (2, 3, 1, 2), (3, 3, 0, 2), (2, 2, 1, 3)]:  # fmt: skip
        given = {"users": n, "fakes": k, "bins": bins, "count_crowd": True, "repeats": r}
        yield Case("flip-blank", given)


def sets() -> Iterator[Case]:
    """Records with at most two or three set bits, among blanks."""
    for bins, k in product((3, 4), range(4)):
        given = {"fakes": k, "bins": bins, "max_set": 2}
        yield Case("flip-blank", given, CLOSE if bins == 4 else None, thresholds=FEW[1::2])
    yield Case("flip-blank", {"fakes": 1, "bins": 4, "max_set": 3}, thresholds=FEW[1::2])
    for bins, k in [(3, 0), (3, 1), (4, 0)]:
        given = {"fakes": k, "bins": bins, "max_set": 2, "repeats": 2}
        yield Case("flip-blank", given, thresholds=FEW[3:4])


def sets_in_crowds() -> Iterator[Case]:
    """The same among each other."""
    for bins, n, k, r in [(4, 2, 0, 1), (3, 2, 0, 1), (3, 3, 1, 1), (3, 2, 0, 2)]:
        given = {"users": n, "bins": bins, "max_set": 2, "repeats": r}
        more = {"fakes": k, "count_crowd": True}
        yield Case("flip-blank", given | more, thresholds=FEW[3:4] if bins == 3 else FEW[1:5:3])
        if not k:
            yield Case("flip", given, thresholds=FEW[3:4])
    yield Case("flip", {"users": 3, "bins": 4, "max_set": 2}, thresholds=FEW[3:4])


def values() -> Iterator[Case]:
    """flip: one value in a crowd, once and several times."""
    for bins, n in product((2, 3), (2, 3, 4)):
        yield Case("flip", {"users": n, "bins": bins})
    for bins, n, r in [(2, 2, 2), (2, 4, 2), (3, 2, 2), (3, 3, 2), (2, 3, 3), (3, 2, 3)]:
        yield Case("flip", {"users": n, "bins": bins, "repeats": r}, thresholds=FEW[1::2])


def value_sums() -> Iterator[Case]:
    """Sums of bins alone are seen, also among uniform fakes."""
    for bins, n in product((2, 3), (2, 3, 4)):
        yield Case("flip", {"users": n, "bins": bins} | SUMS)
    for bins, n, k in product((2, 3), (2, 3), (1, 2)):
        yield Case("flip-uniform", {"users": n, "fakes": k, "bins": bins} | SUMS)
    for bins, n, r in [(2, 2, 2), (2, 4, 2), (3, 2, 2), (3, 3, 2), (2, 3, 3)]:
        yield Case("flip", {"users": n, "bins": bins, "repeats": r} | SUMS, thresholds=FEW[1::2])
    for bins, n, r in [(2, 2, 1), (3, 3, 1), (4, 3, 1), (3, 2, 2), (4, 2, 2)]:
        given = {"users": n, "bins": bins, "max_set": 2, "repeats": r} | SUMS
        yield Case("flip", given, thresholds=FEW[1::2])
    for bins, n, k, r in [(2, 2, 1, 2), (3, 2, 0, 2), (3, 2, 1, 2)]:
        given = {"users": n, "fakes": k, "bins": bins, "repeats": r} | SUMS
        yield Case("flip-uniform", given, thresholds=FEW[1::2])


def uniform_fakes() -> Iterator[Case]:
    """flip-uniform; further people are covered, but not counted."""
    for bins, k in product((2, 3), range(5)):
        yield Case("flip-uniform", {"users": 9, "fakes": k, "bins": bins}, CLOSE)
    for bins, k in product((2, 3), range(3)):
        yield Case("flip-uniform", {"users": 9, "fakes": k, "bins": bins}, beside=2)
    for bins, k, r in [(2, 0, 2), (2, 2, 2), (3, 1, 2), (3, 0, 3), (2, 1, 3)]:
        given = {"users": 9, "fakes": k, "bins": bins, "repeats": r}
        yield Case("flip-uniform", given, thresholds=FEW[1::2])
    yield Case("flip-uniform", {"users": 9, "fakes": 1, "bins": 2, "repeats": 2}, beside=1)
    for bins, n, k, r in [(2, 2, 0, 1), (2, 2, 2, 1), (3, 3, 1, 1), (2, 2, 1, 2), (3, 2, 0, 2)]:
        given = {"users": n, "fakes": k, "bins": bins, "repeats": r, "count_crowd": True}
        yield Case("flip-uniform", given, thresholds=FEW[1::2])


def vectors() -> Iterator[Case]:
    """Free vectors, in any crowd and in one of zeros."""
    for size, n in product((2, 3, 1), (3, 4, 2)):
        yield Case("flip", {"users": n, "bits": size}, thresholds=FEW[1::2])
        given = {"users": n, "bits": size, "background": "zero"}
        yield Case("flip", given, CLOSE)
    for size, n, r in [(1, 3, 2), (2, 2, 2), (2, 3, 2), (2, 2, 3), (3, 2, 2)]:
        given = {"users": n, "bits": size, "repeats": r}
        yield Case("flip", given, thresholds=FEW[1::2])
        yield Case("flip", given | {"background": "zero"}, thresholds=FEW[1::2])
    for size, n, r in [(1, 3, 2), (2, 2, 1), (2, 3, 2), (3, 3, 1), (3, 2, 2), (2, 2, 3)]:
        yield Case("flip", {"users": n, "bits": size, "repeats": r} | SUMS, thresholds=FEW[1::2])


def split() -> Iterator[Case]:
    """Bits and attributes that travel as messages of their own."""
    for size, n, r in [(1, 3, 1), (2, 3, 1), (3, 3, 1), (2, 2, 2), (3, 2, 2), (2, 2, 3)]:
        given = {"users": n, "bits": size, "split": True, "repeats": r}
        yield Case("flip", given, thresholds=FEW[1::2])
        yield Case("flip", given | {"background": "zero"}, thresholds=FEW[1::2])
    for n, r in [(2, 1), (3, 1), (2, 2)]:
        given = {"users": n, "bins": 3, "split": True, "repeats": r}
        yield Case("flip", given, thresholds=FEW[1::2])
        yield Case("flip-uniform", given | {"fakes": 1}, thresholds=FEW[1::2])
    for bins, n, r in [(2, 2, 1), (2, 3, 1), (3, 2, 1), (2, 2, 2)]:
        given = {"users": n, "bins": bins, "max_set": 2, "split": True, "repeats": r}
        yield Case("flip", given, thresholds=FEW[1::2])
        more = given | {"fakes": 1, "count_crowd": True}
        yield Case("flip-blank", more, thresholds=FEW[1::2])
        yield Case("flip-uniform", more, thresholds=FEW[1::2])
    for k, parts, r in [(0, 2, 1), (2, 2, 1), (1, 3, 1), (1, 2, 2), (0, 2, 3)]:
        given = {"fakes": k, "bins": 2, "max_set": parts, "split": True, "repeats": r}
        yield Case("flip-blank", given, thresholds=FEW[1::2])
        yield Case("flip-uniform", given | {"users": 5}, thresholds=FEW[1::2])


def answers() -> Iterator[Case]:
    """k-ary response, alone and beside uniform fakes."""
    for n, bins, k in [(2, 2, 0), (3, 2, 1), (6, 2, 0), (2, 3, 0), (3, 3, 0), (3, 3, 1), (4, 3, 2),
                       (5, 3, 0), (2, 4, 1), (4, 4, 0)]:  # fmt: skip
        given = {"users": n, "bins": bins, "fakes": k}
        off = Fraction(2, 1000) if bins == 2 else None
        yield Case("kary-response", given, off, thresholds=(SCALE >> 4, SCALE >> 2, SCALE // 8 * 7))


def clear() -> Iterator[Case]:
    """Records in clear: nobody but the fakes hides, counted or not."""
    for bins, k in product((2, 3), range(6)):
        yield Case("clear-uniform", {"fakes": k, "bins": bins}, TIGHT, thresholds=(0,))
    for k, more in [(0, 1), (2, 2), (4, 3)]:
        yield Case("clear-uniform", {"fakes": k, "bins": 3}, None, more, thresholds=(0,))
    for bins, k, r, parts in product((2, 3), (0, 1, 3), (1, 2, 3), (1, 2)):
        if (r > 1 or parts > 1) and k * r < 7:
            given = {"fakes": k, "bins": bins, "repeats": r}
            given |= {"max_set": parts, "split": True} if parts > 1 else {}
            yield Case("clear-uniform", given, thresholds=(0,))
    for bins, ratio, shift in product((2, 3), (1 << 40, SCALE // 20, SCALE >> 7), (1, 2)):
        given = {"ratio": ratio, "shift": shift, "bins": bins}
        yield Case("clear-shaped", given, TIGHT, thresholds=(0,))
    for ratio, shift in product((1 << 40, SCALE // 20, SCALE // 3), (1, 2, 5)):
        given = {"ratio": ratio, "shift": shift, "bins": 2, "paired": True}
        yield Case("clear-shaped", given, TIGHT, thresholds=(0,))
    for r, parts in [(2, 1), (3, 1), (1, 2), (1, 3), (2, 2)]:
        given = {"ratio": SCALE // 3, "shift": 2, "bins": 2, "paired": True, "repeats": r}
        given |= {"max_set": parts, "split": True} if parts > 1 else {}
        yield Case("clear-shaped", given, thresholds=(0,))
    yield Case("clear-shaped", {"ratio": SCALE // 20, "shift": 2, "bins": 3}, None, 2, (0,))
    for shift, r, parts in [(1, 2, 1), (2, 2, 1), (1, 3, 1), (1, 1, 2), (2, 1, 2), (1, 2, 2)]:
        given = {"ratio": SCALE // 20, "shift": shift, "bins": 2, "repeats": r, "users": 2}
        given |= {"max_set": parts, "split": True} if parts > 1 else {}
        yield Case("clear-shaped", given | {"count_crowd": True}, thresholds=(0,))


SUITES = {
    suite.__name__: list(suite())
    for suite in (
        bits, repeated_bits, blanks, blanks_in_crowds, sets, sets_in_crowds, values, value_sums,
        uniform_fakes, vectors, split, answers, clear,
    )
}  # fmt: skip
