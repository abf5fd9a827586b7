"""Flipped records among flipped records: free bits, and values among uniform fakes, in balls.

``derive`` uses this module. Every bit is flipped with probability q, p = 1 - q and r = p / q.

*Free bits in a crowd.* The notation is that of ``blanket``. Each of L bits is sent as 0 or as 1
with probability p or q. So every string of bits is sent with probability at least m = q^L, whatever
the person holds. Let u and v be two strings that differ everywhere. A message that agrees with u in
a bits has R_u / m = r^a and R_v / m = r^(L - a), so V = r^a - e^eps r^(L - a), with probability
C(L, a) q^L.

No other pair has a larger bound. Take a bit in which u and v agree, and all other bits of the
message as given. R_u = X a and R_v = X b with X = r or 1, each with half the probability, so V is
(a - e^eps b) X. If they differ there, V is a X - e^eps b (1 + r - X). Both have the mean (1 + r)
(a - e^eps b) / 2. Their distances from it are |a - e^eps b| (r - 1) / 2 and (a + e^eps b)
(r - 1) / 2. The second is larger, so E[(V + c)_+] is larger for every c.

*A value among uniform fakes.* A flipped value of a uniform bin of d shows y with probability

    R(y) = q^|y| p^(d - |y|) (|y| r + (d - |y|) / r) / d,

since a bin that is shown multiplies the probability of a flipped blank by r, and one that is not by
1/r. For u, R_u(y) has r or 1/r in place of the average. Hence V depends on whether y shows u,
whether it shows v, and on the number of the other d - 2 bins that it shows. The fakes are messages
with the distribution R, so with n - 1 of them the bound of ``blanket`` is delta itself. Exchanging
u and v exchanges the orders. What other people send does not depend on u or v.

*Windows.* Numbers of other shown bins outside of a window are left out. E[V_+] over these messages
is at most their probability under u, where the number is Bin(d - 2, q).

Source: docs/explanation/accounting.md, "The identity"; ``blanket``.
"""

from fractions import Fraction
from itertools import product
from math import comb

from mixtally.accounting.verification.balls import SCALE, Bounds, arb, exact_ball
from mixtally.accounting.verification.binomials import Binomial
from mixtally.accounting.verification.blanket import blanket_bounds


def free_bits_bounds(people: int, bits: int, threshold: int, grow: arb, nats: float) -> Bounds:
    """Return the blanket's bound for ``bits`` bits among ``people`` people; ``grow`` is e^eps.

    Raises UndecidedError if balls overlap.
    """
    flip = Fraction(threshold, SCALE)
    ratio, least = exact_ball((1 - flip) / flip), flip**bits
    atoms = [
        (ratio**a - grow * ratio ** (bits - a), exact_ball(comb(bits, a) * least))
        for a in range(bits + 1)
    ]
    return blanket_bounds(atoms, (2 * flip) ** bits, people, nats)


def value_among_values(
    fakes: int, bins: int, threshold: int, grow: arb, nats: float, nodes: int | None = None
) -> Bounds:
    """Return delta of a flipped value among ``fakes`` flipped uniform ones; ``grow`` is e^eps.

    Raises UndecidedError if balls overlap.
    """
    flip = Fraction(threshold, SCALE)
    ratio = (1 - flip) / flip
    low, points, outside = 0, [arb(1)], arb(0)
    if bins > 2:
        rest = Binomial(bins - 2, flip)
        low, high = rest.window(nats)
        points = rest.points(low, high)
        outside = rest.lower_tail_bound(low - 1) + rest.upper_tail_bound(high + 1)
    atoms = []
    for u, v in product((0, 1), repeat=2):
        own = exact_ball((flip if u else 1 - flip) * (flip if v else 1 - flip))
        gain = exact_ball(ratio if u else 1 / ratio) - grow * exact_ball(ratio if v else 1 / ratio)
        for others, point in enumerate(points, low):
            shown = others + u + v
            mean = exact_ball((shown * ratio + (bins - shown) / ratio) / bins)
            atoms.append((gain / mean, own * point * mean))
    return blanket_bounds(atoms, Fraction(1), fakes + 1, nats, exposed=outside, nodes=nodes)
