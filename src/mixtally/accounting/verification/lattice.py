"""The divergence of several cells that gain a message and as many that lose one, in balls.

``sets`` and ``shaped`` use this module. Let x = P_v / P_u be the likelihood ratio of what a cell
shows. Cells are independent, so

    delta = E (1 - e^eps prod of x)_+    under u.

*Upper bound.* Let x be between two neighbors w and e^-s w on a lattice. Move its probability to
these two so that the mean is preserved. Let y be the product of the ratios of all other cells. As
(1 - e^eps x y)_+ is convex in x, this gives an upper bound, cell by cell.

*Lower bound.* The function bends only where e^eps x y = 1. So moving one cell changes nothing
unless the sum of losses -ln x is within s of eps, and then at most (e^s - 1) / 4. Losses move by
less than s per cell. Hence all 2k cells change delta by at most

    2k (e^s - 1) / 4 P(a sum on the lattice lies within (2k + 1) s of eps).

Products of polynomials add up the losses. Where x is 0 the loss is infinite. What was left out
counts as infinite for the upper bound and as zero for the lower bound.

Source: proved here; the upper bound is that of Doroshenko, Ghazi, Kamath, Kumar, Manurangsi,
Connect the Dots: Tighter Discrete Approximations of Privacy Loss Distributions (2022).
"""

import math
from collections import defaultdict
from fractions import Fraction
from typing import NamedTuple

from mixtally.accounting.verification.balls import (
    Bounds,
    arb,
    arb_poly,
    exact_ball,
    least_integer_above,
)

_NODES = 1 << 14
"""Approximate number of lattice points over the likely losses of all cells."""
_LIKELY = 1e-12
"""Losses of a cell that are more probable than this determine the step of the lattice."""
_FAR = 4.0
"""Losses are followed up to this multiple of the largest likely loss."""
Atoms = list[tuple[arb, arb]]
"""Pairs of x and its probability under u."""


def compose_cells(size: int, more: Atoms, less: Atoms, grow: arb, nats: float) -> Bounds:
    """Return delta of ``size`` cells that gain a message and ``size`` cells that lose one.

    ``more`` and ``less`` are the likelihood ratios of a cell of each kind with their probabilities,
    and ``grow`` is e^eps. Atoms that are less probable than e^-nats, or far out, are left out.
    Raises UndecidedError if balls overlap.
    """
    nothing = (-arb(nats)).exp() / _NODES**2
    probable = [(x, chance) for x, chance in (*more, *less) if x > 0 and chance > _LIKELY]
    far = max((abs(float(x.log())) for x, _ in probable), default=0.0) or 1.0
    more, less = (
        [(x, p) for x, p in atoms if p > nothing and (x == 0 or abs(float(x.log())) < _FAR * far)]
        for atoms in (more, less)
    )
    finite = arb(1)
    for atoms in (more, less):
        finite *= 1 - sum((chance for x, chance in atoms if x == 0), arb(0))
    step = exact_ball(Fraction(far * math.sqrt(2 * size) / _NODES))
    losses = _on_lattice(more, step).plus(_on_lattice(less, step), nothing).times(size, nothing)
    return _divergence(losses, size, step, grow, 1 - finite**size)


class _LatticeLosses(NamedTuple):
    """The probabilities of losses of ``first``, first + 1, ... steps of a lattice."""

    first: int
    chances: arb_poly

    def plus(self, other: "_LatticeLosses", nothing: arb) -> "_LatticeLosses":
        """Return the sum of two independent losses.

        At both ends of its distribution, losses of a probability below ``nothing`` are left out.
        """
        found = (self.chances * other.chances).coeffs()
        probable = [place for place, chance in enumerate(found) if not chance < nothing] or [0]
        low, high = probable[0], probable[-1] + 1
        return _LatticeLosses(self.first + other.first + low, arb_poly(found[low:high]))

    def times(self, many: int, nothing: arb) -> "_LatticeLosses":
        """Return the sum of ``many`` independent losses."""
        if many == 1:
            return self
        half = self.times(many // 2, nothing)
        both = half.plus(half, nothing)
        return both.plus(self, nothing) if many % 2 else both


def _on_lattice(atoms: Atoms, step: arb) -> _LatticeLosses:
    """Return the losses on a lattice whose j-th point is at (j - 1/2) steps."""
    found: dict[int, arb] = defaultdict(arb)
    half, whole = exact_ball(Fraction(1, 2)), 1 - (-step).exp()
    for x, chance in atoms:
        if x == 0:
            continue
        place = half - x.log() / step
        j = least_integer_above(place) - 1
        share = (1 - ((j - place) * step).exp()) / whole
        found[j] += chance * (1 - share)
        found[j + 1] += chance * share
    first, last = min(found, default=0), max(found, default=0)  # all losses may be infinite
    return _LatticeLosses(first, arb_poly([found[j] for j in range(first, last + 1)]))


def _divergence(losses: _LatticeLosses, size: int, step: arb, grow: arb, infinite: arb) -> Bounds:
    """Return delta of 2 ``size`` cells on the lattice.

    ``infinite`` is the probability that some loss is infinite.
    """
    chances = losses.chances.coeffs()
    place = grow.log() / step - (losses.first - size)  # of epsilon in the list of losses
    near = min(max(math.floor(float(place)), 0), len(chances) - 1)
    here, fall, total = ((place - near) * step).exp(), (-step).exp(), arb(0)
    for chance in chances[near:]:
        total += chance * (1 - here).max(arb(0))
        here *= fall
    missing, reach = 1 - sum(chances, arb(0)), 2 * size + 2
    close = sum(chances[max(near - reach, 0) : near + reach + 1], missing - infinite)
    cost = close * (1 / fall - 1) * size / 2
    return Bounds((total - cost + infinite).max(arb(0)), total + missing)
