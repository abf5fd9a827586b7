"""The divergence of several cells that gain a message and as many that lose one, in balls.

Given what it shows, let x = P_v / P_u be what a cell says against u; cells are independent, so that

    delta = E (1 - e^eps prod of x)_+    under u.

Let x lie between two neighbors w and e^-s w of a lattice, and put its chance on these so that its
mean is kept. As (1 - e^eps x y)_+ is convex in x, that is an upper bound, cell by cell. It bends
only where e^eps x y = 1, so that one cell costs nothing unless the sum of losses -ln x lies within
s of eps, and then at most (e^s - 1) / 4. Losses move by less than s a cell: hence all 2k cells cost
at most

    2k (e^s - 1) / 4 P(a sum on the lattice lies within (2k + 1) s of eps).

Products of polynomials add up the losses. Where x is 0 the loss is infinite, and what was left out
is taken for that above, for nothing below.

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
"""Of the lattice between likely losses of all cells together, about."""
_LIKELY = 1e-12
"""Losses of a cell that are likelier say how fine the lattice is."""
_FAR = 4.0
"""Of the largest of these, how far losses are followed."""
Atoms = list[tuple[arb, arb]]
"""x and its chance under u."""


def compose_cells(size: int, more: Atoms, less: Atoms, grow: arb, nats: float) -> Bounds:
    """Delta of ``size`` cells as ``more`` and ``size`` as ``less``; ``grow`` is e^eps.

    Atoms that are less likely than e^-nats, or far out, are left out. Raises UndecidedError.
    """
    nothing = (-arb(nats)).exp() / _NODES**2
    likely = [(x, chance) for x, chance in (*more, *less) if x > 0 and chance > _LIKELY]
    far = max(abs(float(x.log())) for x, _ in likely) or 1.0
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
    """Chances of losses on the lattice: those of ``first``, first + 1, .. steps."""

    first: int
    chances: arb_poly

    def plus(self, other: "_LatticeLosses", nothing: arb) -> "_LatticeLosses":
        """The sum of two independent ones, without ends where any chance is below ``nothing``."""
        found = (self.chances * other.chances).coeffs()
        likely = [place for place, chance in enumerate(found) if not chance < nothing] or [0]
        low, high = likely[0], likely[-1] + 1
        return _LatticeLosses(self.first + other.first + low, arb_poly(found[low:high]))

    def times(self, many: int, nothing: arb) -> "_LatticeLosses":
        """The sum of so many."""
        if many == 1:
            return self
        half = self.times(many // 2, nothing)
        both = half.plus(half, nothing)
        return both.plus(self, nothing) if many % 2 else both


def _on_lattice(atoms: Atoms, step: arb) -> _LatticeLosses:
    """Between neighbors of a lattice whose j-th is at (j - 1/2) steps."""
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
    first, last = min(found), max(found)
    return _LatticeLosses(first, arb_poly([found[j] for j in range(first, last + 1)]))


def _divergence(losses: _LatticeLosses, size: int, step: arb, grow: arb, infinite: arb) -> Bounds:
    """Of 2 ``size`` cells on the lattice, with the chance that a loss is ``infinite``."""
    chances = losses.chances.coeffs()
    place = grow.log() / step - (losses.first - size)  # of epsilon among them
    near = min(max(math.floor(float(place)), 0), len(chances) - 1)
    here, fall, total = ((place - near) * step).exp(), (-step).exp(), arb(0)
    for chance in chances[near:]:
        total += chance * (1 - here).max(arb(0))
        here *= fall
    missing, reach = 1 - sum(chances, arb(0)), 2 * size + 2
    close = sum(chances[max(near - reach, 0) : near + reach + 1], missing - infinite)
    cost = close * (1 / fall - 1) * size / 2
    return Bounds((total - cost + infinite).max(arb(0)), total + missing)
