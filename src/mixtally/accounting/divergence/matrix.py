"""The divergence of any local randomizer, given as a matrix of probabilities.

R(x, y) is the probability that a person with value x sends y. All n people, the target among them,
send one message each, and the observer sees how often every output was sent. With g = e^epsilon,

    delta(epsilon) = max over u, v and all crowds of sum_h [P_u(h) - g P_v(h)]_+.

Both directions are in the maximum, because (v, u) is a pair too.

*Theorem 1, an upper bound for every crowd.* Let theta be any distribution of outputs. The people
are in groups. Every person of group i sends a draw of theta with probability gamma_i = min_y
m_i(y) / theta(y), whatever value the person holds; m_i(y) is the least probability of y over all
rows of the group. Group i has n_i people, not counting the target. A fake with the public
distribution phi is such a draw with probability kappa = min_y phi(y) / theta(y). Let the observer
also see who did something else and what they sent. What is left are B draws of theta, B = sum
Bin(n_i, gamma_i) + Bin(fakes, kappa), and the target's message. An output with theta(y) = 0 reveals
the target. Removing one y from the counts h of N draws changes their probability by the factor
h_y / (N theta(y)), so that

    delta_uv <= exposed + E[psi(B + 1)],   psi(N) = (1/N) E[(W_1 + .. + W_N)_+],
    W = (R_u(y) - g R_v(y)) / theta(y) with y ~ theta,
    exposed = sum over theta(y) = 0 of (R_u(y) - g R_v(y))_+.

With one group and no fakes theta proportional to m is the best (Su, Cheng, Wang 2025), and then
this is the blanket of Balle, Bell, Gascon, Nissim 2019. It falls with n, with fakes and with
epsilon. A smaller gamma also gives an upper bound.

*A lower end.* If all others hold x, theta = R_x and N = n give the divergence of that crowd
exactly. With fakes or several groups, one set of outputs is counted, which any observer can do. The
lower end is the divergence of one dataset, not an estimate of delta.

*Exact cases.* With two outputs ``two_outputs`` is exact. If a row w equals m wherever R_u and R_v
differ, the crowd that holds w differs from the blanket only because N is not seen. With two rows,
let l and L be the least and the largest ratio R_u(y) / R_v(y). The pair is a post-processing of two
outputs with lo = (1 - l) / (L - l) and hi = L lo, because (R_u - l R_v) / (1 - l) and
(L R_v - R_u) / (L - 1) are distributions. So their exact divergence is another upper bound.

*Merging.* Equal rows are one value. Outputs whose columns are proportional, over all rows that
anybody may send, carry the same information. Outputs are never merged for a single pair, because
the others distinguish them.
"""

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mixtally.accounting.divergence import two_outputs
from mixtally.accounting.divergence.two_outputs import TwoOutputMessage
from mixtally.accounting.numerics.binomial_pairs import (
    CONVOLUTION_ERROR,
    BitChances,
    Pair,
    divergence,
    tail_divergence,
)
from mixtally.accounting.numerics.blanket_draws import (
    ROUNDING,
    Background,
    bound_expectation,
    chernoff_bounds,
    find_tilt,
    prepare_background,
)
from mixtally.accounting.numerics.bracket import check_order
from mixtally.accounting.numerics.saddle_point import saddle_point_bounds
from mixtally.accounting.numerics.small_support import Distribution, merge_values
from mixtally.accounting.numerics.two_binomials import Chances, add_binomial
from mixtally.errors import EffortError
from mixtally.model.matrix import Integers, RandomizerMatrix, merge_outputs, to_floats
from mixtally.primitives import tails
from mixtally.primitives.memo import Memo
from mixtally.primitives.tails import Floats

_MOST_WORK = 100_000_000
"""Largest number of pairs of rows times outputs."""
_MOST_CELLS = 1 << 21
"""Largest array of intermediate results."""
_ALL_CROWDS, _SOME_CROWDS = 600, 24
"""Number of triples (u, v, x) up to which all are computed, and the number computed otherwise."""
_MOST_PRODUCTS = 1 << 27
_LOWERED = 1.0 - 1e-9
_SAME = 1e-6
"""Relative distance of both ends at which they are called equal."""
_WITHIN = 2e-3
"""Relative distance of both ends of two outputs at which they are called exact."""
EXACT_TWO_OUTPUTS = "two outputs: the worst crowd holds the two extreme values only"
_MOST_BYTES = 64_000_000


class Found(NamedTuple):
    """A bound of delta and the labels of the values that attain it.

    ``crowd`` says what all others hold; it is empty for bounds that cover every crowd.
    """

    value: float
    one: str
    other: str
    crowd: str = ""


class Ends(NamedTuple):
    """The lower and the upper end of delta.

    ``exact`` says why both ends are the true delta, up to two parts in a thousand; it is empty if
    they are not. ``note`` says why both ends approach each other for many people; it is empty if
    they do not.
    """

    lower: Found
    upper: Found
    exact: str = ""
    note: str = ""


class Group(NamedTuple):
    """Other people who certainly take part, with the matrix of their randomizer."""

    matrix: RandomizerMatrix
    people: int


class Randomizer:
    """A randomizer among other people and fakes, prepared for many epsilons.

    Parameters
    ----------
    matrix : RandomizerMatrix
        The probabilities of the target and of ``users`` - 1 other people.
    users : int
        The number of people with this matrix, the target among them.
    fakes : int
        The number of fakes that certainly arrive.
    fake_row : sequence of Fraction, optional
        The public distribution of a fake over the outputs.
    groups : sequence of Group
        Further people, whose matrices have the same outputs.

    Raises
    ------
    EffortError
        If there are too many pairs of rows.
    """

    def __init__(
        self,
        matrix: RandomizerMatrix,
        users: int,
        fakes: int = 0,
        fake_row: Sequence[Fraction] = (),
        groups: Sequence[Group] = (),
    ) -> None:
        self.users, self.fakes = users, fakes if len(fake_row) else 0
        cells, labels, scale = _stack(matrix, fake_row, groups)
        ends = np.cumsum([0, *(len(one.cells) for one in (matrix, *(g.matrix for g in groups)))])
        cells = merge_outputs(cells)
        first = {tuple(row): i for i, row in reversed(list(enumerate(cells[: ends[1]])))}
        kept = sorted(first.values())
        self.labels, self.cells = [labels[i] for i in kept], cells[kept]
        self.scale, outputs = scale, cells.shape[1]
        if len(kept) * (len(kept) - 1) * outputs > _MOST_WORK:
            raise EffortError(
                "matrix",
                expected=f"at most {_MOST_WORK:,} pairs of rows times outputs",
                got=f"{len(kept) * (len(kept) - 1) * outputs:,}",
                do="use a protocol such as kary-response, or fewer rows",
            )
        self.law = cells[-1] if self.fakes else None
        self.groups = [
            (cells[first:last], group.people)
            for group, first, last in zip(groups, ends[1:-1], ends[2:], strict=True)
            if group.people
        ]
        self.chances = to_floats(self.cells, scale)
        ranks = [np.unique(column, return_inverse=True)[1].ravel() for column in self.cells.T]
        self.ranks = np.array(ranks, dtype=np.int32).T
        """Place of each entry in its column, for exact comparisons; 0 for the least."""
        every = range(len(kept))
        self.ones, self.others = (
            np.array([(u, v) for u in every for v in every if u != v], dtype=np.int64)
            .reshape(-1, 2)
            .T
        )
        self.memo = Memo(_MOST_BYTES)

    @cached_property
    def index(self) -> float:
        """The blanket index: the maximum over pairs u, v of the sum over y of (R_u - R_v)^2 / m.

        It is infinite if m(y) is 0 for an output y that u and v send with different probabilities.
        """
        cover = self.chances.min(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            return max(
                (
                    float(np.nansum((self.chances[u] - self.chances[v]) ** 2 / cover))
                    for u, v in zip(self.ones, self.others, strict=True)
                ),
                default=0.0,
            )

    @property
    def mu(self) -> float:
        """The parameter of the Gaussian curve that the upper end tends to for many people."""
        return math.sqrt(self.index / self.users)

    def ends(self, epsilon: float) -> Ends:
        """Return both ends of delta(epsilon), for epsilon at least 0.

        Raises AccountingError if the lower end is above the upper one.
        """
        if not len(self.ones):
            same = Found(0.0, self.labels[0], self.labels[0], "anything")
            return Ends(same, same, "all rows are equal")
        with suppress(EffortError):
            if (found := self._two_outputs(epsilon)) is not None:
                return found
        upper, lower = self._any_upper(epsilon, 0.0), self.lower(epsilon)
        check_order(lower.value, upper.value)
        if self.users == 1 and self.law is None and not self.groups:
            return Ends(lower, upper, "nobody else sends anything")
        if lower.value >= upper.value * (1.0 - _SAME):
            return Ends(lower, upper, f"a crowd of {lower.crowd} attains the bound for every crowd")
        return Ends(lower, upper, "", self._meeting_note(upper))

    def upper(self, epsilon: float, least: float = 0.0) -> Found:
        """Return an upper bound of delta(epsilon) for every crowd.

        A cheaper bound is returned if that bound is at most ``least``.
        """
        with suppress(EffortError):
            if (exact := self._two_outputs(epsilon)) is not None:
                return exact.upper
        return self._any_upper(epsilon, least)

    def _any_upper(self, epsilon: float, least: float) -> Found:
        """Return the bound of theorem 1, or the exact bound of a matrix of two rows if smaller.

        The exact bound is not computed if the bound of theorem 1 is at most ``least``.
        """
        if not len(self.ones):
            return Found(0.0, self.labels[0], self.labels[0])
        grow = math.nextafter(math.exp(epsilon), 0.0)
        every = zip(self._backgrounds, self._patterns, strict=True)
        found = min(self._blanket(*one, max(1.0, grow), least) for one in every)
        with suppress(EffortError):
            if (bit := self._two_rows) is not None and found.value > least:
                exact = two_outputs.delta(bit, self.users - 1, 0, epsilon, self.memo).upper
                found = found._replace(value=min(found.value, exact))
        return found

    def lower(self, epsilon: float) -> Found:
        """Return the divergence of a crowd whose other people all hold one value."""
        grow = math.nextafter(math.exp(epsilon), math.inf)
        found, seen = Found(0.0, self.labels[0], self.labels[-1], self.labels[0]), set()
        by_counts = self.law is not None or bool(self.groups)
        for u, v, x in self._crowds:
            if by_counts:
                value = self._count_set(u, v, x, grow)
            else:
                exposed, law = self._crowd_law(u, v, x, grow)
                kind = exposed, law.values.tobytes(), law.probabilities.tobytes()
                if kind in seen:
                    continue
                seen.add(kind)
                value = exposed + _LOWERED * saddle_point_bounds(law, self.users).lower
            if value > found.value:
                found = Found(value, self.labels[u], self.labels[v], self.labels[x])
        return found

    @cached_property
    def _backgrounds(self) -> list[Background]:
        """The distributions theta of theorem 1 that are tried. Each gives an upper bound."""
        covers = [
            (to_floats(rows.min(axis=0), self.scale) * (1.0 - ROUNDING), people)
            for rows, people in [(self.cells, self.users - 1), *self.groups]
        ]
        if self.law is not None:
            covers.append((to_floats(self.law, self.scale), self.fakes))
        mixed = sum((cover * people for cover, people in covers), np.zeros(len(covers[0][0])))
        tried = [cover for cover, _ in covers] + [mixed] * (len(covers) > 1)
        found = []
        if self.law is not None:  # fakes are certain draws of their own distribution
            found.append(prepare_background(covers[-1][0], covers[:-1], self.fakes))
        for theta in (one / one.sum() for one in tried if one.any()):
            if not any(np.allclose(theta, other.theta, rtol=1e-9, atol=0.0) for other in found):
                found.append(prepare_background(theta, covers, 0))
        return found or [Background(np.zeros(len(mixed)), 1, 0.0, [(1.0, 0)])]

    def _blanket(
        self, behind: Background, pairs: NDArray[np.int64], grow: float, least: float
    ) -> Found:
        """Return the bound of theorem 1 for one distribution theta."""
        sent, found = behind.theta > 0.0, Found(0.0, self.labels[0], self.labels[-1])
        base, tilt = behind.theta[sent], 0.0
        for some in self._blocks(pairs):
            weights = self._weights(self.ones[some], self.others[some], grow)
            exposed = np.maximum(weights[:, ~sent], 0.0).sum(axis=1) * (1.0 + 1e-12)
            weights = weights[:, sent] / base
            most = max(found.value, least)
            live = ~(exposed + chernoff_bounds(weights, base, behind, tilt) <= most)  # keeps nan
            for place in np.flatnonzero(live):
                law, more = Distribution(weights[place], base), float(exposed[place])
                enough = max(0.0, max(found.value, least) - more)
                value = more + bound_expectation(law, behind, enough)
                if not found.value >= value:
                    u, v = self.ones[some[place]], self.others[some[place]]
                    found = Found(min(1.0, value), self.labels[u], self.labels[v])
            if not tilt and behind.share:
                tilt = find_tilt(Distribution(weights[0], base), behind)
        return found

    def _weights(
        self, ones: NDArray[np.int64], others: NDArray[np.int64], grow: float, away: float = 1.0
    ) -> Floats:
        """Return R_u - g R_v for pairs of rows, rounded up, or down for ``away`` = -1.

        The result is positive only if R_u > R_v, which is compared exactly.
        """
        p, q = self.chances[ones], self.chances[others]
        found = p - grow * q + away * ROUNDING * (p + grow * q)
        less = self.ranks[ones] <= self.ranks[others]
        return np.where(less, np.minimum(found, 0.0), found)

    @cached_property
    def _patterns(self) -> list[NDArray[np.int64]]:
        """For every background, the pairs of rows in the order of ``_rank_pairs``."""
        return [self._rank_pairs(one) for one in self._backgrounds]

    def _rank_pairs(self, behind: Background) -> NDArray[np.int64]:
        """Return the pairs of rows, those that reveal most first.

        Pairs with the same pattern of probabilities have equal bounds, so only one of them is
        returned.
        """
        found: dict[bytes, int] = {}
        with np.errstate(divide="ignore", invalid="ignore"):
            for u in range(len(self.labels)):
                mine = np.flatnonzero(self.ones == u)
                others = self.others[mine]
                theta = np.broadcast_to(behind.theta, (len(mine), len(behind.theta)))
                p = np.broadcast_to(self.chances[u], theta.shape)
                q, ahead = self.chances[others], self.ranks[u] > self.ranks[others]
                order = np.lexsort((ahead, q, p, theta), axis=-1)
                keys = np.stack(
                    [np.take_along_axis(one, order, axis=1) for one in (theta, p, q, ahead)], axis=1
                )
                for place, key in zip(mine, keys, strict=True):
                    found.setdefault(key.tobytes(), int(place))
            kept = np.array(list(found.values()), dtype=np.int64)
            gaps = (self.chances[self.ones[kept]] - self.chances[self.others[kept]]) ** 2
            loss = np.where(gaps > 0.0, gaps / behind.theta, 0.0).sum(axis=1)
        return kept[np.argsort(-loss, kind="stable")]

    def _blocks(self, pairs: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
        """Yield the first pair, and then the others in blocks of limited size."""
        size = max(1, _MOST_CELLS // self.cells.shape[1])
        yield pairs[:1]
        for first in range(1, len(pairs), size):
            yield pairs[first : first + size]

    @cached_property
    def _crowds(self) -> list[tuple[int, int, int]]:
        """The triples (u, v, x) that may be the worst; all of them if they are few.

        Otherwise two kinds of triples are taken: those with the largest loss per person, which
        decides for many people, and those in which u sends outputs that x never sends.
        """
        rows, ranked = range(len(self.labels)), []
        few = len(self.ones) * len(rows) <= _ALL_CROWDS
        for x in rows:
            sent = self.chances[x] > 0.0
            scaled = self.chances[:, sent] / np.sqrt(self.chances[x, sent])
            products = np.einsum("ik,jk->ij", scaled, scaled)
            squares = products.diagonal()
            loss = (squares[:, None] + squares[None, :] - 2.0 * products)[self.ones, self.others]
            exposed = self.chances[:, ~sent].sum(axis=1)[self.ones]
            for score in (loss, exposed):
                top = np.argsort(-score, kind="stable")[: None if few else _SOME_CROWDS]
                ranked += [(float(score[at]), x, int(at), score is loss) for at in top]
        chosen: dict[tuple[int, int, int], None] = {}
        for kind in (True, False):
            best = sorted((one for one in ranked if one[3] is kind), reverse=True)
            for score, x, at, _ in best if few else best[:_SOME_CROWDS]:
                if few or score > 0.0:
                    chosen[int(self.ones[at]), int(self.others[at]), x] = None
        return list(chosen)

    def _crowd_law(self, u: int, v: int, x: int, grow: float) -> tuple[float, Distribution]:
        """Return the exposed part and the distribution of W if all others hold x, rounded down."""
        sent = self.chances[x] > 0.0
        weights = self._weights(np.array([u]), np.array([v]), grow, -1.0)[0]
        base = self.chances[x, sent]
        exposed = float(np.maximum(weights[~sent], 0.0).sum()) * _LOWERED
        return exposed, merge_values(Distribution(weights[sent] / base, base))

    def _count_set(self, u: int, v: int, x: int, grow: float) -> float:
        """Return a lower bound from the number of messages that u sends more often than v.

        All others hold x. In the other groups all hold the row whose count varies least.
        """
        counted = self.ranks[u] > self.ranks[v]
        own = [int(row[counted].sum()) for row in self.cells[[u, v]]]
        sources = [(self.users - 1, int(self.cells[x, counted].sum()))]
        if self.law is not None:
            sources.append((self.fakes, int(self.law[counted].sum())))
        for rows, people in self.groups:
            shares = [int(row[counted].sum()) for row in rows]
            sources.append((people, min(shares, key=lambda share: share * (self.scale - share))))
        windows = [tails.window(n, share / self.scale) for n, share in sources]
        if math.prod(last - first + 1 for first, last in windows) > _MOST_PRODUCTS:
            return 0.0
        found = Chances(np.ones(1), 0.0, CONVOLUTION_ERROR)
        for n, share in sources:  # as integers: a probability near one has lost its complement
            found = add_binomial(found, n, share, self.scale)
        one, other = (
            np.convolve(found.pmf, [(self.scale - share) / self.scale, share / self.scale])
            for share in own
        )
        return divergence(Pair(one, other, found.cut, found.error), grow).lower

    @cached_property
    def exact_bit(self) -> tuple[TwoOutputMessage, int, int] | None:
        """The message of two outputs, the number of its fake zeros, and the column of its output 1.

        A fake zero has the distribution of the value that sends output 1 less often. The property
        is None if the theorem of two outputs does not apply.
        """
        low, high = (int(self.cells[:, 0].min()), int(self.cells[:, 0].max()))
        if self.cells.shape[1] != 2 or self.groups or not 0 < low < high < self.scale:
            return None
        column, fake = 0, low if self.law is None else int(self.law[0])
        if fake == high:  # fakes then equal the value that sends the other output less often
            column, fake, low, high = 1, self.scale - high, self.scale - high, self.scale - low
        fair = self.fakes if 2 * fake == self.scale else 0
        if fake != low and not fair:
            return None
        bit = TwoOutputMessage(BitChances(low, high, self.scale), fair=fair)
        return bit, self.fakes - fair, column

    def prove(self, epsilons: Sequence[float]) -> list[float]:
        """Return the exact upper end at each epsilon, for a matrix of two outputs.

        The proofs share their distributions.
        """
        bit, zeros, _ = self._require_bit()
        found = two_outputs.delta_at_several(bit, self.users - 1, zeros, epsilons, self.memo)
        return [one.upper for one in found]

    def expect(self, epsilon: float) -> float:
        """Return the upper end that ``prove`` probably finds."""
        bit, zeros, _ = self._require_bit()
        return two_outputs.expected_upper(bit, self.users - 1, zeros, epsilon, self.memo)

    def _require_bit(self) -> tuple[TwoOutputMessage, int, int]:
        if self.exact_bit is None:
            raise TypeError("the matrix has more than two outputs")
        return self.exact_bit

    def _two_outputs(self, epsilon: float) -> Ends | None:
        """Return the exact divergence of two outputs, or None if the theorem does not apply."""
        if self.exact_bit is None:
            return None
        bit, zeros, column = self.exact_bit
        bounds = two_outputs.delta(bit, self.users - 1, zeros, epsilon, self.memo)
        often = self.labels[int(self.cells[:, column].argmax())]
        rare = self.labels[int(self.cells[:, column].argmin())]
        most = check_order(bounds.lower, min(bounds.upper, self._any_upper(epsilon, 0.0).value))
        lower, pair = Found(0.0, often, rare, rare), (often, rare)
        if bounds.lower > 0.0:
            ones = two_outputs.find_worst_candidate(bit, self.users - 1, zeros, epsilon, self.memo)
            ways = two_outputs.load_directions(bit, ones, self.users - 1 - ones + zeros, self.memo)
            one, other = (tail_divergence(way, math.exp(epsilon)).lower for way in ways)
            pair = pair if one >= other else pair[::-1]
            crowd = _name_crowd([(ones, often), (self.users - 1 - ones, rare)])
            lower = Found(bounds.lower, *pair, crowd)
        elif most > 0.0:  # too small for a search of the worst crowd
            lower = self.lower(epsilon)
        close = lower.value >= most * (1.0 - _WITHIN)
        return Ends(lower, Found(most, *pair), EXACT_TWO_OUTPUTS if close else "")

    @cached_property
    def _two_rows(self) -> TwoOutputMessage | None:
        """The message of two outputs of which a matrix of two rows is a post-processing.

        The property is None for other matrices, and if there are fakes or other groups.
        """
        if len(self.labels) != 2 or self.law is not None or self.groups or not self.cells.all():
            return None
        ratios = [Fraction(int(one), int(other)) for one, other in self.cells.T]
        least, most = min(ratios), max(ratios)
        low = (1 - least) / (most - least)
        scale = math.lcm(low.denominator, (most * low).denominator)
        return TwoOutputMessage(BitChances(int(low * scale), int(most * low * scale), scale))

    def _meeting_note(self, upper: Found) -> str:
        """Return why both ends of delta approach each other for many people, or an empty text."""
        u, v = (self.labels.index(one) for one in (upper.one, upper.other))
        differ = self.ranks[u] != self.ranks[v]
        for w, label in enumerate(self.labels):
            if self.law is None and not self.groups and not self.ranks[w, differ].any():
                return (
                    f"both ends meet for many people: a crowd of {label} is the blanket wherever "
                    "the worst pair differs, and hides only the number of its messages"
                )
        return ""


def _stack(
    matrix: RandomizerMatrix, fake_row: Sequence[Fraction], groups: Sequence[Group]
) -> tuple[Integers, tuple[str, ...], int]:
    """Return the numerators of all rows, the labels of ``matrix``, and the common denominator.

    The rows are those of ``matrix``, of the groups, and of a fake, in this order.
    """
    every = [matrix, *(group.matrix for group in groups)]
    scale = math.lcm(*(one.scale for one in every), *(one.denominator for one in fake_row))
    rows = [one.cells * (scale // one.scale) for one in every]
    if len(fake_row):
        law = np.empty((1, len(fake_row)), dtype=object)
        law[0] = [int(one * scale) for one in fake_row]
        rows.append(law)
    return np.concatenate(rows), matrix.rows, scale


def _name_crowd(parts: Sequence[tuple[int, str]]) -> str:
    """Return a text with the values of all other people, such as "3 x tea and 2 x milk".

    ``parts`` has pairs: a number of people and the label of their value.
    """
    return " and ".join(f"{many:,} x {label}" for many, label in parts if many) or "nobody"
