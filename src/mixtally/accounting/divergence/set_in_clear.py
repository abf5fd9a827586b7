"""The divergence of a set in clear: k messages of different cells among uniform fakes, one stream.

A record is k distinct cells of D. With counts c_i of all N = m + k messages, m of them fakes,

    P_u(c) / P_v(c) = prod over u of c_i / prod over v of c_j,

since P_u(c) = m! D^-m / prod (c_i - u_i)!. What two records share is known to be there; taken away,
fewer cells differ. Two records that differ in r cells come from two that differ in r + 1 by merging
a cell of either, which then holds one message in both worlds. So *disjoint records are the worst*,
at every epsilon; 2k <= D, and others' messages are independent of u and v. Exchanging u and v
exchanges cells: both directions are one number.

*A set of at most k of d bins* has D = d + k cells. With s members it takes the first k - s of the
last k cells: k distinct cells in all, and the empty set is disjoint from a full one. (All pads in
one ordinary cell would be a record that holds it k times, which its fakes do not hide.)

*By Poisson numbers.* Let H be the fakes in the 2k cells that differ. The others say nothing, and
H + k is seen in either world, so delta is E g(H) with g(h) the divergence among h fakes in 2k cells
alone; g falls as h grows, since one fake more is post-processing. With m fakes H ~ Bin(m, 2k/D). If
H were Poisson, the cells would hold independent Poisson numbers, and delta would be that of k cells
that gain a message and k that lose one (``poisson_pairs``). ``poissonized`` bounds E g(H) by that
number from both sides. Coins of people make m random: H is then a sum of binomials.

*Replaced.* Let n people send a uniform cell in place of each of their k messages with chance g. Let
the observer see which messages of the others were not replaced, and take these away: uniform ones
are left, Bin(k (n-1), g) of them and the fakes. Of the person's own let the observer know which
were replaced, a choice that no value has a part in: r cells that are not, among still more uniform
ones, and delta_r is at most delta_k. So replacements of others are fakes by k (n-1) coins of the
chance g, and one's own are left out, which is dear where g is large.

From below let u and v differ in r cells each while all others hold a set without them, and take how
many messages name a cell of u alone less those of v alone: independent steps of 1, -1 and 0. A
uniform message makes either with the chance r/D, over planes of one line, where it parts them,
r (1 - kappa)/p, and so does one of the person's own that is replaced. The distribution is that of
the product of their characteristic functions, and its reflection for v.

*Over planes* (``model.planes``) member u_l draws one of |J_l| directions, in none of which it
meets another member, and with q_l = |J_l| / (J p), the chance that a fake is one of its messages,

    P_u(c) / P_b(c) = prod over l of S_l / q_l / (N)_k,    S_l of all messages are ones of u_l,

since no message is one of two members. Given all others, a message enters as a w - e^eps b w' with
a, b >= 0, w and w' 1 where it is one of u_l and of v_r, and [P_u - e^eps P_v]_+ is convex in that.
A message that is one of both moves mass from a and from -e^eps b to a - e^eps b and to 0, which lie
between them: delta rises where none is (Karamata), message by message, also where u and v share
members. That is the law of 2k cells of the chances q_l, and cells of smaller ones are not better
hidden: with kappa the share of directions in which two points meet,

    q_l >= (1 - (k-1) kappa) / p.

From below: 2k <= p points of one line all meet or none does, and in the share 1 - kappa of
directions in which none does they are cells of the chance 1/p. So among all sets of points the
divergence is at least that of sets in clear with cells of the chance (1 - kappa)/p, and for k = 2
it is that.

On the lattice a loss moves by less than a step, so that 2k steps above epsilon its divergence is
below the true one.

Source: proved here; the ratio is that of sufficient DP 000 (3.1) with uniform background.
"""

import math
from typing import NamedTuple

import numpy as np

from mixtally.accounting.composition.convolve import LossSum
from mixtally.accounting.composition.poisson_pairs import gain_and_loss_of_message
from mixtally.accounting.numerics import poissonized
from mixtally.accounting.numerics.bracket import Bracket
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
"""The power of a set's size by which its cover grows, about."""
_FINE, _COARSE = 2.0**-9, 2.0**-5
"""Steps of the lattice in standard deviations of a loss, at most: they add a quarter of their
square to a variance of one, or a part in 10^6 and a part in 4,000; delta rises by some ten times
as much."""
_MOST_MEAN = 1e8
"""More fakes in a cell are taken for so many: there is nothing left to tell apart."""
_SOME, _MANY = 1e3, 1e4
"""Of fewer fakes half a standard deviation is dear, of more it costs nothing beside a factor."""
_DEVIATIONS, _MOST_REACH, _TRANSFORM_ERROR = 12.0, 1 << 18, 1e-12
"""How far a difference is followed, at most, and the error of its transform, with room."""
_LOST_SHARE = 1e-3
"""Of the upper bound, what the lower one may lack by far too few fakes."""


class HiddenSet(NamedTuple):
    """What is among uniform fakes, and how many these are.

    where
      size     k, messages of a record, at least 1
      cells    D, at least 2k; of planes p
      fakes    (how many messages, the chance that each is one) of whatever brings any
      meeting  kappa of planes, of whose messages so many are none of a member; 0 of cells
      replaced the chance that each message of the record is a uniform one
    """

    size: int
    cells: int
    fakes: tuple[tuple[int, float], ...]
    meeting: float = 0.0
    replaced: float = 0.0

    @property
    def chance(self) -> float:
        """That a fake lies in one cell."""
        return (1.0 - (self.size - 1) * self.meeting) / self.cells

    @property
    def mean(self) -> float:
        """Fakes in a cell, on average."""
        return math.fsum(many * chance for many, chance in self.fakes) * self.chance

    @property
    def share(self) -> float:
        """The chance that a fake lies in a cell in which two records differ."""
        return 2.0 * self.size * self.chance

    def binomials(self) -> list[tuple[int, float]]:
        """Trials and chances of the fakes in these cells."""
        return [(many, chance * self.share) for many, chance in self.fakes]


def hide_set(mechanism: Shuffled, fakes: int, coins: tuple[int, float] = (0, 0.0)) -> HiddenSet:
    """A set among so many uniform fakes, those of people's ``coins``, and others' replacements."""
    brought, replaced = [(fakes, 1.0), coins], 0.0
    if mechanism.flip_threshold is not None:
        raise TypeError(f"{mechanism.name}: a set is no messages of its members")
    if mechanism.replaced is not None:
        replaced = mechanism.replacement_probability
        brought.append((mechanism.most_set * (mechanism.crowd - 1), replaced))
    some = tuple((many, chance) for many, chance in brought if many * chance > 0.0)
    meeting = 0.0 if mechanism.planes is None else mechanism.planes.collision_probability
    return HiddenSet(mechanism.most_set, mechanism.cells, some, meeting, replaced)


def delta(hidden: HiddenSet, epsilon: float, memo: Memo | None = None) -> Bracket:
    """Bounds of delta(epsilon), the same in both directions."""
    above = _upper(hidden, epsilon, _FINE, memo)
    if hidden.replaced:
        return Bracket(min(above, lower_by_counting(hidden, epsilon, 1)), above)
    if above >= 1.0 and hidden.mean == 0.0:
        return Bracket(1.0, 1.0)
    return Bracket(min(above, _lower(hidden, epsilon, above, memo)), above)


def lower_by_counting(hidden: HiddenSet, epsilon: float, rounds: int) -> float:
    """What is told by how many messages name a cell of one record alone less those of the other's,
    of so many rounds together.
    """
    size, g = hidden.size, hidden.replaced
    apart = min(size, (hidden.cells - size) // 2)  # others hold another set, or pads alone
    named = apart * (1.0 - hidden.meeting) / hidden.cells
    steps = [(many, chance * named) for many, chance in hidden.fakes]
    steps.append((size - apart, g * named))
    deviation = math.sqrt(rounds * (2.0 * math.fsum(n * q for n, q in steps) + size))
    reach = rounds * size + math.ceil(_DEVIATIONS * deviation + _DEVIATIONS**2)
    if reach > _MOST_REACH:
        return 0.0
    length = 1 << (2 * reach).bit_length()
    angle = np.arange(length // 2 + 1) * (2.0 * math.pi / length)
    still = 2.0 * (1.0 - np.cos(angle))
    own = (1.0 - g) * np.exp(1j * angle) + g * (1.0 - named * still)
    every = math.prod(_power(q * still, n) for n, q in steps)
    pmf = np.fft.irfft(np.conj((every * own**apart) ** rounds), length)
    pmf = np.roll(pmf, length // 2)  # of -length/2 .. length/2 - 1
    above, below = np.cumsum(pmf[::-1])[::-1], np.cumsum(pmf)
    # P_v(difference >= t) is P_u(difference <= -t).
    told = above[length // 2 :] - math.exp(epsilon) * below[length // 2 : 0 : -1]
    return max(0.0, float(told.max()) - _TRANSFORM_ERROR * (1.0 + math.exp(epsilon)))


def _power(x: Floats, n: int) -> Floats:
    """(1 - x)^n for x in [0, 4/3], without n times the rounding of 1 - x where x is small."""
    small: Floats = np.exp(n * np.log1p(-np.minimum(x, 0.5)))
    return np.where(x < 0.5, small, (1.0 - x) ** n)


def upper(
    hidden: HiddenSet, epsilon: float, memo: Memo | None = None, *, near: bool = False
) -> float:
    """The upper bound alone; ``near`` it by some parts in a thousand, for a tenth of the work.

    That is for messages that are composed, so that a factor above 1 would be one of every message.
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
    """Poisson fakes in a cell, and by how much they tell more; hardly more where ``often``."""

    def compute_poissonized() -> tuple[float, float]:
        if not often:  # fakes and coins each for themselves, as the second proof has them
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
    if hidden.mean > _MOST_MEAN:
        return 0.0
    if hidden.meeting:  # points of one line
        hidden = hidden._replace(meeting=hidden.meeting / (hidden.size - 1))
    most = min(0.25, max(_LOST_SHARE * above, tails.CUT_TAIL / _LOST_SHARE))
    found = [poissonized.bound_below(*each, most) for each in hidden.binomials()]
    mean = math.fsum(one.mean for one in found) / (2.0 * hidden.size)
    composed = _sum(hidden, mean, _FINE, memo)
    value = composed.lower(epsilon + 2.0 * hidden.size * composed.step)
    value -= 8.0 * hidden.size * tails.CUT_TAIL
    value = value * math.prod(one.share for one in found) - sum(one.additive_loss for one in found)
    if not value <= 1.0 + 1e-9:
        raise AccountingError(f"set in clear: a lower bound of {value}; nothing may be promised")
    return max(0.0, value)


def _sum(hidden: HiddenSet, mean: float, step: float, memo: Memo | None) -> LossSum:
    """The losses of all cells that differ, each with a Poisson number of fakes."""
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
    """As many fakes as are looked at: fewer hide less."""
    if hidden.mean <= _MOST_MEAN:
        return hidden
    share = _MOST_MEAN / hidden.mean
    return hidden._replace(
        fakes=tuple((math.floor(many * share), chance) for many, chance in hidden.fakes)
    )
