"""Records of at most two bins among flipped blanks: delta from its definition, in balls.

``derive`` uses this module. Let r = (1 - q) / q. A message has the weight r^2, 1 or r^-2 under u if
it shows two, one or none of the two bins of u. For two records u and v without a common bin, X_u
and X_v are independent. For two records that share one bin, they are independent given the number
N_1 of the N messages that show it:

    none shared:  X = n_2 r^2 + n_1 + (N - n_1 - n_2) r^-2, n_i messages that show i of the two,
    one shared:   X = a r^2 + (N_1 - a + b) + (N - N_1 - b) r^-2, where the other bin of u is shown
                  by a of the N_1 messages and by b of the rest.

Ignoring a bin, which is post-processing, turns these two kinds of pairs into every other pair of
records of at most two bins. So with four bins or more delta is the larger of the two results.
Exchanging u and v exchanges the orders. All values of X are integer multiples of one number, so
they are sorted exactly.

*Windows.* Each count is summed over a window of its likely values only. The omitted part of delta
is at most the probability that a count is outside its window, when one of the N messages is the
person's.

Source: docs/explanation/accounting.md, "The identity".
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

from mixtally.accounting.verification.balls import (
    FIRST_NATS,
    NOTHING,
    SCALE,
    Bounds,
    UndecidedError,
    arb,
    certainly_below,
    exact_ball,
)
from mixtally.accounting.verification.binomials import Binomial

Atom = tuple[int, arb]
"""A value of X, as a multiple of ``Values.unit``, and its probability."""


class Values:
    """The values of X as integer multiples of ``unit``."""

    def __init__(self, threshold: int) -> None:
        stays, flips = (SCALE - threshold) ** 2, threshold**2
        self.flip = Fraction(threshold, SCALE)
        self._weights = stays**2, stays * flips, flips**2
        self.unit = Fraction(1, stays * flips)
        self.ratio = Fraction(stays, flips) ** 2

    def of(self, two: int, one: int, none: int) -> int:
        """Return X for numbers of messages that show two, one and none of the bins."""
        high, middle, low = self._weights
        return two * high + one * middle + none * low


def count_values(fakes: int, threshold: int) -> int:
    """Return an estimate of the number of terms that the sums over X have."""
    nats = FIRST_NATS
    flip = Fraction(threshold, SCALE)
    one = _length(Binomial(fakes + 1, flip), nats)
    both = _length(Binomial(fakes + 1, flip * flip), nats)
    return both * _length(Binomial(fakes + 1, 2 * flip * (1 - flip)), nats) + one * one * both


def _length(binomial: Binomial, nats: float) -> int:
    low, high = binomial.window(nats)
    return high - low + 1


def disjoint_sets_delta(fakes: int, threshold: int, grow: arb, nats: float) -> Bounds:
    """Return delta of two records without a common bin, among ``fakes`` blanks.

    Raises UndecidedError if balls overlap.
    """
    records, values = fakes + 1, Values(threshold)
    if not certainly_below(grow, exact_ball(values.ratio)):
        return NOTHING
    flip = values.flip
    both, one = flip * flip, 2 * flip * (1 - flip)
    binomial = Binomial(records, both)
    (low, high), (first, last) = binomial.window(nats), Binomial(records, one).window(nats)
    atoms = []
    for two, chance in enumerate(binomial.points(low, high), low):
        end = min(last, records - two)
        if end < first:
            continue
        given = _points(Binomial(records - two, one / (1 - both)), first, end)
        for n, share in enumerate(given, first):
            atoms.append((values.of(two, n, records - two - n), chance * share))
    total = _positive_part(atoms, grow) * exact_ball(values.unit) / records
    cut = _outside(fakes, both, (low, high)) + _outside(fakes, one, (first, last))
    return Bounds(total, total + cut)


def overlapping_sets_delta(fakes: int, threshold: int, grow: arb, nats: float) -> Bounds:
    """Return delta of two records that share one bin, among ``fakes`` blanks.

    Raises UndecidedError if balls overlap.
    """
    records, values = fakes + 1, Values(threshold)
    flip = values.flip
    if not certainly_below(grow, exact_ball(((1 - flip) / flip) ** 2)):
        return NOTHING
    binomial = Binomial(records, flip)
    low, high = binomial.window(nats)
    inner = Binomial(records, flip * flip).window(nats)
    outer = Binomial(records, flip * (1 - flip)).window(nats)
    total = arb(0)
    for shown, chance in enumerate(binomial.points(low, high), low):
        rest = records - shown
        if shown < inner[0] or rest < outer[0]:
            continue
        many = _points(Binomial(shown, flip), inner[0], min(inner[1], shown))
        few = _points(Binomial(rest, flip), outer[0], min(outer[1], rest))
        atoms = [
            (values.of(a, shown - a + b, rest - b), left * right)
            for (a, left), (b, right) in product(
                enumerate(many, inner[0]), enumerate(few, outer[0])
            )
        ]
        total += chance * _positive_part(atoms, grow)
    total = total * exact_ball(values.unit) / records
    cut = _outside(fakes, flip, (low, high)) + _outside(fakes, flip * flip, inner)
    cut += _outside(fakes, flip * (1 - flip), outer)
    return Bounds(total, total + cut)


def _points(binomial: Binomial, first: int, last: int) -> Sequence[arb]:
    return binomial.points(first, last) if binomial.trials else [arb(1)]


def _positive_part(atoms: list[Atom], grow: arb) -> arb:
    """Return E[(X_u - e^eps X_v)_+] for two independent draws of the same atoms."""
    atoms.sort(key=lambda atom: atom[0], reverse=True)
    total = chance = mean = arb(0)
    taken = 0
    for value, share in atoms:
        limit = grow * value
        # Values of X_v fall, so the set of X_u above the limit only grows.
        while taken < len(atoms) and _exceeds(atoms[taken][0], limit):
            chance += atoms[taken][1]
            mean += atoms[taken][1] * atoms[taken][0]
            taken += 1
        if taken:
            total += share * (mean - limit * chance)
    return total


def _exceeds(value: int, limit: arb) -> bool:
    if limit < value:
        return True
    if limit > value:
        return False
    raise UndecidedError("rigorous check: two weights too close to compare")


def _outside(fakes: int, chance: Fraction, window: tuple[int, int]) -> arb:
    """Return an upper bound of the probability that the count of u or of v leaves its window.

    Each count is Bin(``fakes``, ``chance``) for the blanks, plus 0 or 1 for the person's message.
    """
    low, high = window
    blanks = Binomial(fakes, chance)
    return 2 * (blanks.lower_tail_bound(low - 1) + blanks.upper_tail_bound(high))
