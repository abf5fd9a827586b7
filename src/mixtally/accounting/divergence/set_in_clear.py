"""The divergence of a set in clear: k messages of different cells among uniform fakes.

``in_clear``, ``kary_response`` and ``plans.honest_part`` use this file. All messages are in one
stream.

*Likelihood ratio.* A record consists of k distinct cells out of D. It is hidden among m uniform
fakes; N = m + k messages are observed. Let u and v be two records, c_i the counts of all cells, and
u_i = 1 for a cell in u and 0 otherwise. Then P_u(c) = m! D^-m / prod (c_i - u_i)!. Therefore

    P_u(c) / P_v(c) = prod over u of c_i / prod over v of c_j.

*Disjoint records are the worst.* A message that both records share arrives in either case. Removing
all such messages leaves two disjoint records of r <= k cells, which is called a pair that differs
in r cells. Take a pair that differs in r + 1 cells, and merge two of these cells, one of each
record. The merged cell contains one message under both records, so the result is a pair that
differs in r cells. Merging is post-processing. So disjoint records have the largest divergence at
every epsilon, provided that 2k <= D. The messages of others are independent of u and v. Exchanging
u and v only exchanges cells, so both orders have the same divergence.

*A set of at most k of d bins* uses D = d + k cells. A set with s members also takes the first k - s
of the last k cells, called pads. So every record has k distinct cells, and the empty set is
disjoint from a full one. (If all pads were in one ordinary cell, a record could contain this cell k
times, and uniform fakes would not hide that.)

*Poisson numbers.* Let H be the number of fakes in the 2k cells that differ. The other cells reveal
nothing, and H + k is visible under both records. So delta is E g(H), where g(h) is the divergence
among h fakes in 2k cells alone. One more fake is post-processing, so g falls. With m fakes, H ~
Bin(m, 2k/D). If H were Poisson, the cells would contain independent Poisson numbers. Then delta
would be that of k cells that gain a message and k cells that lose one (``poisson_pairs``).
``poissonized`` bounds E g(H) by this delta from both sides. If people toss coins for fakes, m is
random and H is a sum of binomial numbers.

*Replaced values, upper bound.* Each of n people sends a uniform cell in place of each of their k
messages with probability g. Let the observer also see which messages of the others were not
replaced, and remove these. The uniform messages remain: Bin(k (n-1), g) of them, and the fakes. Let
the observer also learn which of the person's own messages were replaced, which does not depend on
the value. Then r cells that were not replaced are hidden among even more uniform messages, and
delta_r <= delta_k. So the replacements of others act as fakes drawn by k (n-1) coins of probability
g. The person's own replacements are ignored, which loses much if g is large.

*Replaced values, lower bound.* Let u and v differ in r cells each, while all others hold a set
without these cells. The observer computes how many messages name a cell of u alone, minus those
that name a cell of v alone. This number is a sum of independent steps 1, -1 and 0. A uniform
message makes a step of 1, and of -1, with probability r/D each. So does a message of the person
that is replaced. Over planes whose points lie on one line, the probability is r (1 - kappa)/p. The
distribution is obtained from the product of the characteristic functions; for v it is reflected.
The same number bounds delta from below without replacements.

*Over planes* (``model.planes``): two points *meet* in a direction if they are in one plane. Of all
J directions, a member u_l draws one of the |J_l| directions in which it meets no other member of
its set. Let q_l = |J_l| / (J p) be the probability that a fake is one of the messages of u_l, and b
the distribution of fakes alone. No message belongs to two members, so

    P_u(c) / P_b(c) = prod over l of S_l / q_l / (N)_k,

where S_l is the number of messages of u_l. Given all other messages, one message enters this ratio
as a w - e^eps b w' with a, b >= 0. Here w and w' are 1 if the message is one of u_l and of v_r. The
function [P_u - e^eps P_v]_+ is convex in this number. A message that belongs to both moves
probability from a and from -e^eps b to a - e^eps b and to 0, which lie between them. By Karamata's
inequality, applied message by message, delta is larger if no message belongs to both. This is so
also if u and v share members. The result is the distribution of 2k cells with probabilities q_l.
Cells of smaller probability are not better hidden. With kappa the share of directions in which two
points meet,

    q_l >= (1 - (k-1) kappa) / p.

*Over planes, lower bound.* If every point is a value, take points of one line, which all meet or
none do. In the share 1 - kappa of directions in which none do, they are cells of probability 1/p.
So the largest divergence over all sets of points is at least that of sets in clear with cells of
probability (1 - kappa)/p. For k = 2 it is equal to it.

The labels of a list are hashed, and no three of their points need be on one line. There a message
that belongs to u and v makes delta smaller. Let u, v and the set w of all others be disjoint. A
message *shows* one of their 3k points if its plane contains this point and no other of them. For
each point this is so in a share of at least

    gamma = 1 - (3k - 1) kappa

of all directions. The observer ignores messages that show no point of u or v, so all messages of
others. At random, the observer also ignores some that show a point, so that a fake shows each point
with probability gamma/p. A message of the person for this point remains with probability gamma or
more, as its directions are fewer than all. Let E be the event that messages of u exceed those of v
by t or more. If more messages of the person remain, then P_u(E) rises and P_v(E) falls. So the
difference of counts with this probability, gamma, bounds delta from below.

*Sampled slots.* A record of k cells sends m >= 2 of them, drawn anew each time. Given the drawn
places, the messages are a set of m different cells. The places do not depend on the record. By
joint convexity delta is at most that of sets of m cells. For the lower bound, take two disjoint
records. The number of messages in the cells of the one, minus that of the other, is a sum of steps
as above: m steps of the person, and a fake makes a step of 1, and of -1, with probability k/D each.

*Lattice.* A rounded loss moves by less than one step. So the rounded divergence at 2k steps above
epsilon is below the true one at epsilon.

Source: proved here; the ratio is that of sufficient DP 000 (3.1) with uniform background.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mixtally.accounting.composition.convolve import LossSum
from mixtally.accounting.composition.poisson_pairs import gain_and_loss_of_message
from mixtally.accounting.numerics import poissonized
from mixtally.accounting.numerics.bracket import Bracket, join_ends
from mixtally.errors import AccountingError
from mixtally.model.mechanism import Shuffled
from mixtally.primitives import tails
from mixtally.primitives.memo import Memo
from mixtally.primitives.tails import Floats

SOURCE = (
    "disjoint sets are the worst; the distribution of their cells among uniform fakes, bounded by "
    "that of independent Poisson cells, composed (divergence/set_in_clear)"
)
GROWTH = 0.9
"""Approximate power with which the required number of fakes per cell grows with the size of a set.
"""
_FINE, _COARSE = 2.0**-9, 2.0**-5
"""Largest steps of the lattice, in standard deviations of a loss, for exact and for near bounds.

Rounding adds a quarter of the squared step to a variance of one: a part in 10^6, or in 4,000. Delta
increases by about ten times as much.
"""
_MOST_MEAN = 1e8
"""Fakes in a cell are counted up to this number; more make no visible difference."""
_SOME, _MANY = 1e3, 1e4
"""Numbers of fakes between which both kinds of Poisson bounds are tried.

One kind has the true mean, and a factor that is not near 1. The other kind has a factor near 1, and
a mean that is half a standard deviation lower. This lower mean costs much if the fakes are few. If
they are many, it costs nothing compared to the factor.
"""
_DEVIATIONS, _MOST_REACH, _TRANSFORM_ERROR = 12.0, 1 << 18, 1e-12
"""Range of a difference in standard deviations, its largest size, and the error of its transform.
"""
_UNIT = 2.0**-53
_LOST_SHARE = 1e-3
"""Share of the upper bound that the lower one may lose by omitting small numbers of fakes."""


class HiddenSet(NamedTuple):
    """A set of ``size`` = k messages in ``cells`` = D >= 2k cells, among uniform messages.

    For planes, ``cells`` is p. ``fakes`` has pairs (number, probability that each is sent) for
    every source of uniform messages. ``meeting`` is kappa for planes and 0 for cells. ``replaced``
    is the probability that a message of the record itself is replaced. If only some cells of a
    record are drawn and sent, k is the number of sent cells, and ``slots`` is the number of all
    cells of the record; otherwise ``slots`` is 0. ``hashed`` is whether only some points of the
    planes are values. Then several values need not lie on one line.
    """

    size: int
    cells: int
    fakes: tuple[tuple[int, float], ...]
    meeting: float = 0.0
    replaced: float = 0.0
    slots: int = 0
    hashed: bool = False

    @property
    def chance(self) -> float:
        """The probability that a fake is in one given cell."""
        return (1.0 - (self.size - 1) * self.meeting) / self.cells

    @property
    def mean(self) -> float:
        """The expected number of fakes in a cell."""
        return math.fsum(many * chance for many, chance in self.fakes) * self.chance

    @property
    def share(self) -> float:
        """The probability that a fake is in one of the 2k cells in which two records differ."""
        return 2.0 * self.size * self.chance

    def binomials(self) -> list[tuple[int, float]]:
        """Return pairs (trials, probability) of binomial numbers, one for each source of fakes.

        The sum of these numbers is the number of fakes in the 2k cells in which two records differ.
        """
        return [(many, chance * self.share) for many, chance in self.fakes]


def hide_set(mechanism: Shuffled, fakes: int, coins: tuple[int, float] = (0, 0.0)) -> HiddenSet:
    """Return the set that a mechanism sends, and what hides it: fakes, coins and replaced values.

    ``coins`` has the number of people who toss a coin for one more fake, and the probability of
    this fake.
    """
    brought, replaced = [(fakes, 1.0), coins], 0.0
    if mechanism.flip_threshold is not None:
        raise TypeError(f"{mechanism.name}: expected a set whose members are sent in clear")
    if mechanism.replaced is not None:
        replaced = mechanism.replacement_probability
        brought.append((mechanism.most_set * (mechanism.crowd - 1), replaced))
    some = tuple((many, chance) for many, chance in brought if many * chance > 0.0)
    over = mechanism.planes
    meeting = 0.0 if over is None else over.collision_probability
    hashed = over is not None and mechanism.bins < over.points
    size = mechanism.record_messages // mechanism.repeats
    slots = 0 if mechanism.sent_share == 1.0 else mechanism.most_set
    return HiddenSet(size, mechanism.cells, some, meeting, replaced, slots, hashed)


def delta(hidden: HiddenSet, epsilon: float, memo: Memo | None = None) -> Bracket:
    """Return bounds of delta(epsilon), which is the same for both orders of the neighbors."""
    above = _upper(hidden, epsilon, _FINE, memo)
    if hidden.replaced or hidden.slots or hidden.hashed:
        return join_ends(lower_by_counting(hidden, epsilon, 1), above)
    if above >= 1.0 and hidden.mean == 0.0:
        return Bracket(1.0, 1.0)
    return join_ends(_lower(hidden, epsilon, above, memo), above)


def lower_by_counting(hidden: HiddenSet, epsilon: float, rounds: int) -> float:
    """Return a lower bound of delta(epsilon) for ``rounds`` rounds.

    The bound is the divergence of one statistic for the neighbors u and v: the number of messages
    that name a cell in u but not in v, minus the number that name a cell in v but not in u.
    """
    size, g = hidden.size, hidden.replaced
    differing = min(size, (hidden.cells - size) // 2)  # others hold another set, or only pads
    if hidden.slots or hidden.hashed:  # nobody else's messages are uniform, or they show nothing
        differing = size
    shown = 1.0 - (3 * size - 1) * hidden.meeting if hidden.hashed else 1.0
    if shown <= 0.0:
        return 0.0
    visible = shown if hidden.hashed else 1.0 - hidden.meeting
    named = (hidden.slots or differing) * visible / hidden.cells
    steps = [(many, chance * named) for many, chance in hidden.fakes]
    steps.append((size - differing, g * named))
    deviation = math.sqrt(rounds * (2.0 * math.fsum(n * q for n, q in steps) + size))
    reach = rounds * size + math.ceil(_DEVIATIONS * deviation + _DEVIATIONS**2)
    if reach > _MOST_REACH:
        return 0.0
    length = 1 << (2 * reach).bit_length()
    half = np.arange(length // 2 + 1, dtype=np.float64) * (math.pi / length)
    transform, errors = _transform_steps(half, steps, (differing, g, named, shown), rounds)
    pmf = np.fft.irfft(np.conj(transform), length)
    pmf = np.roll(pmf, length // 2)  # index 0 is now the difference -length/2
    above, below = np.cumsum(pmf[::-1])[::-1], np.cumsum(pmf)
    # A frequency 2 h enters a tail with a geometric sum of modulus at most 1 / sin h. The rounding
    # of the transform back is bounded in the Euclidean norm (``composition.convolve``).
    error = _TRANSFORM_ERROR + 2.0 / length * float((errors[1:] / np.sin(half[1:])).sum())
    norm = math.sqrt(length * float((pmf * pmf).sum()))
    error += 16.0 * _UNIT * math.log2(length) * norm
    # P_v(difference >= t) is P_u(difference <= -t). A cumulative sum has a rounding for each term.
    above, below = above[length // 2 :], math.exp(epsilon) * below[length // 2 : 0 : -1]
    excess = above - below - length * _UNIT * (np.abs(above) + np.abs(below))
    return max(0.0, float(excess.max()) - error * (1.0 + math.exp(epsilon)))


def _transform_steps(
    half: Floats, steps: list[tuple[int, float]], own: tuple[int, float, float, float], rounds: int
) -> tuple[NDArray[np.complex128], Floats]:
    """Return the characteristic function of the difference, and bounds of its errors.

    ``half`` has the frequencies, divided by 2. ``steps`` has pairs: a number of messages, and the
    probability q with which each makes a step of 1; a step of -1 has the same probability. ``own``
    has the number of the person's messages that differ, the probability that such a message is
    replaced, the probability q for a replaced message, and the probability that a message which is
    not replaced makes a step of 1.

    Logarithms are added, because a power would multiply the rounding of its base. Each has a
    relative error of a few units, divided by the modulus of its argument where that is small.
    """
    still, (differing, g, named, shown) = 4.0 * np.sin(half) ** 2, own
    turned = (1.0 - g) * shown * np.exp(2j * half)
    stays = (1.0 - g) * (1.0 - shown) + g * (1.0 - named * still)
    modulus = np.maximum(np.abs(turned + stays), _UNIT)
    # |a e^(i w) + b|^2 is (a + b)^2 - 4 a b sin(w/2)^2, and a + b is 1 - g named still.
    lost = still * ((1.0 - g) * shown * stays + g * named * (2.0 - g * named * still))
    moved = np.where(lost < 0.5, 0.5 * np.log1p(-np.minimum(lost, 0.5)), np.log(modulus))
    many = rounds * differing
    nats, angle = many * moved, many * np.angle(turned + stays)
    sizes = many * (np.abs(moved) + 2.0 * half) / modulus
    for n, q in steps:
        rest = 1.0 - q * still
        modulus = np.maximum(np.abs(rest), _UNIT)
        moved = np.where(rest > 0.5, np.log1p(-np.minimum(q * still, 0.5)), np.log(modulus))
        nats = nats + rounds * n * moved
        angle = angle + np.where(rest < 0.0, math.pi * (rounds * n % 2), 0.0)
        sizes = sizes + rounds * n * np.abs(moved) / modulus
    size = np.exp(nats)
    return size * np.exp(1j * angle), 16.0 * _UNIT * size * (1.0 + sizes)


def upper(
    hidden: HiddenSet, epsilon: float, memo: Memo | None = None, *, near: bool = False
) -> float:
    """Return the upper bound of delta, or a near bound for a tenth of the work.

    The near bound is larger by some thousandths. Compositions use the near bound. Its Poisson
    factor is kept near 1, because a composition multiplies the factor once for every message.
    """
    if not near:
        return _upper(hidden, epsilon, _FINE, memo)
    fakes = hidden.mean * 2.0 * hidden.size
    ways = [False] * (fakes < _MANY) + [True] * (fakes >= _SOME)
    return min(_upper(hidden, epsilon, _COARSE, memo, often=often) for often in ways)


def _upper(
    hidden: HiddenSet, epsilon: float, step: float, memo: Memo | None, *, often: bool = False
) -> float:
    hidden = _limit_fakes(hidden)
    if hidden.mean == 0.0:
        return 1.0
    mean, share = _poissonize_fakes(hidden, memo, often=often)
    return min(1.0, share * _sum(hidden, mean, step, memo).delta(epsilon))


def _poissonize_fakes(hidden: HiddenSet, memo: Memo | None, *, often: bool) -> tuple[float, float]:
    """Return the mean of Poisson fakes in a cell, and the factor of the bound.

    ``often`` requests a factor near 1, for bounds that are multiplied for many messages.
    """

    def compute_poissonized() -> tuple[float, float]:
        if not often:  # fakes and coins separately, as ``verification`` bounds them
            factors = [poissonized.upper_factor([each]) for each in hidden.binomials()]
            return hidden.mean, math.prod(factors)
        found = poissonized.bound_above(hidden.binomials())
        return found.mean / (2.0 * hidden.size), found.share

    key = "set fakes", hidden, often
    found: tuple[float, float] = (
        compute_poissonized() if memo is None else memo.get(key, compute_poissonized)
    )
    return found


def _lower(hidden: HiddenSet, epsilon: float, above: float, memo: Memo | None) -> float:
    """Return the lower bound of delta."""
    if hidden.mean > _MOST_MEAN:
        return 0.0
    if hidden.meeting:  # all points on one line, see the derivation
        hidden = hidden._replace(meeting=hidden.meeting / (hidden.size - 1))
    most = min(0.25, max(_LOST_SHARE * above, tails.CUT_TAIL / _LOST_SHARE))
    found = [poissonized.bound_below(*each, most) for each in hidden.binomials()]
    mean = math.fsum(one.mean for one in found) / (2.0 * hidden.size)
    composed = _sum(hidden, mean, _FINE, memo)
    value = composed.lower(epsilon + 2.0 * hidden.size * composed.step)
    value -= 8.0 * hidden.size * tails.CUT_TAIL
    value = value * math.prod(one.share for one in found) - sum(one.additive_loss for one in found)
    if not value <= 1.0 + 1e-9:
        raise AccountingError(f"set in clear: expected a lower bound of at most 1, got {value}")
    return max(0.0, value)


def _sum(hidden: HiddenSet, mean: float, step: float, memo: Memo | None) -> LossSum:
    """Return the sum of the losses of the 2 k cells in which two disjoint sets differ.

    Each cell has a Poisson number of fakes with this ``mean``. ``step`` is the largest lattice
    step.
    """
    size = hidden.size

    def build_sum() -> LossSum:
        fine = 2.0 ** math.floor(math.log2(step / math.sqrt(max(mean, 1.0))))
        more, less = gain_and_loss_of_message(mean, fine)
        return LossSum([(more, size), (less, size)])

    if memo is None:
        return build_sum()
    found: LossSum = memo.get(("set", size, mean, step), build_sum)
    return found


def _limit_fakes(hidden: HiddenSet) -> HiddenSet:
    """Return ``hidden`` with at most ``_MOST_MEAN`` expected fakes in a cell.

    An upper bound of delta stays valid, because fewer fakes hide less.
    """
    if hidden.mean <= _MOST_MEAN:
        return hidden
    share = _MOST_MEAN / hidden.mean
    return hidden._replace(
        fakes=tuple((math.floor(many * share), chance) for many, chance in hidden.fakes)
    )
