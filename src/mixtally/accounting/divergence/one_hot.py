"""The divergence of flipped one-hot records whose honest crowd counts, for both observers.

``bit_flips`` uses this file. Every bit is flipped with probability q, and p = 1 - q.

*Messages, upper bound for any dataset.* A flipped one-hot record is a flipped blank with
probability q/p and something else otherwise, whatever its bin is. So the n - 1 other people
contribute a privacy blanket of B ~ Bin(n-1, q/p) blanks in addition to the K fakes. Therefore delta
<= E[delta_blank(K + B)].

*Messages, lower bound.* Let all others hold the same bin c. Without fakes the identity is exact for
this crowd. With fakes, consider only messages in which bit c is clear. The person's message is one
of them with probability p. It is among H ~ Bin(K, p) + Bin(n-1, q) others, which are flipped blanks
in the remaining bits. Observing only these messages is post-processing, so their divergence is a
lower bound. The observer does not know whether the person's message is there, which raises the
limit in the sum of ``flip_blank`` by a constant.

*Sums.* Given the data, the sums of the bins are independent. A bin with h ones among M other
records has the distribution Bin(h, p) + Bin(M - h, q), and two bins differ. The worst pair (h1, h2)
is proved cell by cell.

Source: sufficient DP 000 (3.1); notes 004 sections 5.2, 5.3; Balle, Bell, Gascon, Nissim 2019.
"""

import math
from collections.abc import Iterator, Sequence
from contextlib import nullcontext, suppress
from itertools import pairwise

import numpy as np

from mixtally.accounting.composition.convolve import LossSum
from mixtally.accounting.composition.pld import CLOSER, connect_points, prove_points
from mixtally.accounting.divergence import single_bit, two_outputs
from mixtally.accounting.divergence.flip_blank import delta_among_blanks
from mixtally.accounting.numerics import blanket
from mixtally.accounting.numerics.binomial_pairs import (
    PreparedPair,
    add_own_bits,
    convolve_flipped_bits,
    exchange_divergences,
    flip_chances,
    flip_count_pmf,
    prepare_pair,
)
from mixtally.accounting.numerics.bracket import BoundArrays, Bracket, join_ends, larger_bounds
from mixtally.accounting.numerics.flip_ratios import Orbit, flip_distribution
from mixtally.accounting.numerics.gap import NEGLIGIBLE, Gap
from mixtally.accounting.numerics.saddle_point import saddle_point_bounds
from mixtally.accounting.numerics.two_binomials import add_certain_coins, count_certain_coins
from mixtally.accounting.numerics.worst_dataset import (
    MOST_HALVED,
    Cell,
    Divergences,
    Places,
    find_worst,
)
from mixtally.errors import EffortError
from mixtally.primitives import tails
from mixtally.primitives.fixed_point import SCALE
from mixtally.primitives.memo import Memo
from mixtally.primitives.tails import Floats

MESSAGES_SOURCE = (
    "free blank fakes of the crowd, any dataset (upper end); records without the common bit "
    "(lower end); Sufficient Differential Privacy 2017 (3.1), Balle et al. 2019"
)
SUMS_SOURCE = "two independent bins, worst dataset proved cell by cell (Notes 2020, section 5.2)"
_GAP = Gap(2e-3)
_MOST_WORK, _LEAST_HALVED = 10_000_000, 300
"""How many probabilities the cells of a proof may contain in total (about a second), and how many
cells are allowed in any case.
"""
_TOO_MANY_FLIPS = 4e5
"""Expected number of flips above which delta is so small that no lower bound is computed."""
_LONG = 500
"""Length of a distribution from which on the two bins are treated as two composed bits."""
_MOST_BYTES = 64_000_000
_CELLS = 32
_EVEN_SHARE = 0.2
"""Share of cells that are evenly spaced, relative to those placed by probability."""


def messages_delta(
    users: int,
    fakes: int,
    threshold: int,
    epsilon: float,
    bins: int | None = None,
    memo: Memo | None = None,
) -> Bracket:
    """Return delta(epsilon) of one one-hot record among others and blanks.

    Parameters
    ----------
    users : int
        The number of people, each with a one-hot record.
    fakes : int
        The number of blanks.
    threshold : int
        The flip probability times 2^64.
    epsilon : float
        The privacy loss in nats, at least 0.
    bins : int or None
        The number of bins. Only 2 matters: then nobody can have a third value.
    memo : Memo or None
        A cache of results that calls may share.
    """
    upper = blanket_upper(users, fakes, threshold, epsilon)
    lower = 0.0
    if fakes == 0:
        q, grow = threshold / SCALE, math.exp(epsilon)
        crowds = [Orbit(2, 0, 0), Orbit(0, 2, 0)] + ([Orbit(1, 1, 1)] if bins != 2 else [])
        lower = max(
            saddle_point_bounds(flip_distribution(orbit, q, grow), users).lower for orbit in crowds
        )
    elif bins != 2:
        lower = _lower_without_common_bit(users, fakes, threshold, epsilon, memo)
    return join_ends(lower, upper)


def blanket_upper(
    users: int, fakes: int, threshold: int, epsilon: float, smoothed: float = 0.0
) -> float:
    """Return E[delta_blank(K + B)] with B ~ Bin(n-1, q/p), an upper bound for any dataset.

    The bound may be larger by the relative amount ``smoothed``, which saves time.
    """
    q, share = threshold / SCALE, threshold / (SCALE - threshold)
    pair = flip_distribution(Orbit(1, 1, 0), q, math.exp(epsilon))
    found = blanket.upper([pair], users, fakes, share, smoothed)
    if smoothed or users * share > blanket.RARE_SHARE * fakes:
        return found
    return min(found, delta_among_blanks(fakes + 1, threshold, epsilon, rise=0.0).upper)


def _lower_without_common_bit(
    users: int,
    fakes: int,
    threshold: int,
    epsilon: float,
    memo: Memo | None = None,
    cells: int = _CELLS,
) -> float:
    """Return the lower bound from messages without the bit that all others hold.

    A part of the distribution of the number of these messages was cut off. This part, times
    e^epsilon, was not subtracted in the sum, so it is subtracted at the end.
    """
    q, p = threshold / SCALE, (SCALE - threshold) / SCALE
    if q == p or max(fakes, users) * q > _TOO_MANY_FLIPS:
        return 0.0  # delta is so small that a lower bound is of no use
    pmf, first, cut = _shifted_sum(fakes, users - 1, threshold, memo)
    # M messages are seen. The person's is among them with probability p P(H = M-1), and not with
    # probability q P(H = M).
    ratio = np.append(pmf[1:], 0.0) / np.maximum(pmf, 1e-300)  # P(H = M) / P(H = M-1)
    total = 0.0
    for cell in _cells(pmf, cells):
        records = first + cell.stop  # the most records of the cell hide best
        unsure = q / p * records * float(ratio[cell].max())
        rise = math.expm1(epsilon) * unsure / (p / q - q / p)
        blanks = flip_count_pmf(records, threshold, memo)
        bounds = delta_among_blanks(records, threshold, epsilon, rise=rise, pmf=blanks)
        total += float(pmf[cell].sum()) * p * bounds.lower
    return max(0.0, total - math.exp(epsilon) * cut)


def _cells(pmf: Floats, cells: int = _CELLS) -> Iterator[slice]:
    """Return slices that cut a distribution into at most ``cells`` cells, narrow where its mass is.

    If a falling function is evaluated at one end of each cell, the error is its slope times the
    width. For a given number of cells, the average error is smallest for widths inversely
    proportional to the root of the distribution. Some evenly spaced cells keep those in the tails
    from being too wide.
    """
    root = np.sqrt(pmf)
    shares = np.cumsum(root / root.sum() + _EVEN_SHARE / len(pmf))
    inner = np.searchsorted(shares, shares[-1] * np.arange(1, cells) / cells)
    edges = np.unique(np.concatenate([[0], inner, [len(pmf)]]))
    return (slice(int(a), int(b)) for a, b in pairwise(edges))


def _shifted_sum(
    fakes: int, others: int, threshold: int, memo: Memo | None
) -> tuple[Floats, int, float]:
    """Return the distribution of Bin(fakes, p) + Bin(others, q) on consecutive integers.

    The result has the probabilities, the first integer, and the probability that was cut off.
    """
    pmf, cut = convolve_flipped_bits(fakes, others, flip_chances(threshold), memo)
    q = threshold / SCALE
    return pmf, fakes - tails.window(fakes, q).last + tails.window(others, q).first, cut


def sums_delta(
    users: int,
    fakes: int,
    threshold: int,
    epsilon: float,
    bins: int | None = None,
    memo: Memo | None = None,
    *,
    lower_only: bool = False,
) -> Bracket:
    """Return delta(epsilon) if only the sum of each bin is seen, for any fakes and any dataset.

    A lower bound is known only for at least three bins without fakes, because random fakes are not
    a worst case.

    Parameters
    ----------
    users : int
        The number of people, each with a one-hot record.
    fakes : int
        The number of blanks.
    threshold : int
        The flip probability times 2^64.
    epsilon : float
        The privacy loss in nats, at least 0.
    bins : int or None
        The number of bins; None for three or more.
    memo : Memo or None
        A cache of results that calls may share.
    lower_only : bool
        Whether the upper bound may be 1, because it is not needed.
    """
    known = not fakes and bins != 2
    if lower_only:
        crowd = users, fakes, threshold, epsilon, memo or Memo(_MOST_BYTES)
        return Bracket(_largest_candidate_divergence(*crowd) if known else 0.0, 1.0)
    (bounds,) = sums_delta_at_several(users, fakes, threshold, [epsilon], memo)
    return Bracket(bounds.lower if known else 0.0, bounds.upper)


def sums_delta_at_several(
    users: int, fakes: int, threshold: int, epsilons: Sequence[float], memo: Memo | None = None
) -> list[Bracket]:
    """Return ``sums_delta`` at several epsilons, whose proofs share their distributions.

    The lower bounds are those of the worst dataset. Raises EffortError at several epsilons if
    distributions are too long.
    """
    others = users - 1 + fakes

    def feasible(cell: Cell) -> bool:
        """Return whether the cell contains a dataset (h1, h2) with h1 <= h2 and h1 + h2 <= others.

        The order of the two bins does not matter, and nobody is in both of them.
        """
        (one, _), (two, most) = cell
        return max(one, two) <= most and one + max(one, two) <= others

    memo, domain, length = memo or Memo(_MOST_BYTES), _domain(others), _length(others, threshold)
    most = min(MOST_HALVED, max(_LEAST_HALVED, _MOST_WORK // (length + 1)))
    divergences = _two_bins(others, threshold, epsilons, memo)
    of_all = divergences(domain, np.arange(len(epsilons))).upper
    if length >= _LONG and of_all.max() > NEGLIGIBLE:
        # At one epsilon the search over cells still ends if the bits would take too long.
        with suppress(EffortError) if len(epsilons) == 1 else nullcontext():
            bits = _two_bits_upper(users + fakes, threshold, epsilons, memo)
            of_all, most = np.minimum(of_all, bits), 0
    found = find_worst(
        divergences, epsilons, domain, _GAP, feasible, _candidate_datasets(others), most, of_all
    )
    return found.to_list()


def check_work_at_several(users: int, fakes: int, threshold: int) -> None:
    """Raise EffortError if ``sums_delta_at_several`` would, before any work is done."""
    if _length(others := users - 1 + fakes, threshold) >= _LONG:
        two_outputs.check_work(single_bit.flipped_bit_message(threshold), others)


def _length(others: int, threshold: int) -> int:
    window = tails.window(others, threshold / SCALE)
    return window.last - window.first


def _domain(others: int) -> Cell:
    """Return the possible numbers of others in the two bins, the smaller one first."""
    return (0, others // 2), (0, others)


def _two_bits_upper(crowd: int, threshold: int, epsilons: Sequence[float], memo: Memo) -> Floats:
    """Return upper bounds of two composed bits, each in the crowd that is the worst for it.

    If the sums spread widely, all crowds hide nearly equally well, so the bound is tight. Raises
    EffortError as ``single_bit.delta`` does.
    """

    def compute_expected(epsilon: float) -> float:
        return single_bit.expected_upper(crowd, 0, threshold, epsilon, memo=memo)

    def prove(places: list[float]) -> list[float]:
        return [
            one.upper for one in single_bit.delta_at_several(crowd, 0, threshold, places, memo=memo)
        ]

    def build_sum() -> LossSum:
        reach = math.log((SCALE - threshold) / threshold)
        step, curve = prove_points(compute_expected, prove, reach, CLOSER)
        return LossSum([(connect_points(step, curve, CLOSER.rise), 2)])

    total: LossSum = memo.get(("two bits", crowd, threshold), build_sum)
    return np.array([total.delta(epsilon) for epsilon in epsilons])


def expected_upper_of_sums(
    users: int, fakes: int, threshold: int, epsilon: float, memo: Memo | None = None
) -> float:
    """Return the upper bound that ``sums_delta`` probably proves, for a search.

    The bound falls as q grows. The estimate tries the datasets with all others in one of the two
    bins or in neither. The proved bound is larger only if another dataset is worse by more than the
    gap of the proof.
    """
    found = _largest_candidate_divergence(
        users, fakes, threshold, epsilon, memo or Memo(_MOST_BYTES)
    )
    return min(1.0, float(_GAP.ceilings(np.array(found))))


def _largest_candidate_divergence(
    users: int, fakes: int, threshold: int, epsilon: float, memo: Memo
) -> float:
    """Return the largest divergence of the datasets that may be the worst."""
    others = users - 1 + fakes
    divergences = _two_bins(others, threshold, [epsilon], memo)
    found = [
        divergences(point, np.zeros(1, np.int64)).lower for point in _candidate_datasets(others)
    ]
    return float(np.max(found))


def _candidate_datasets(others: int) -> tuple[Cell, Cell]:
    """Return the datasets with all others in neither of the two bins, or in one of them.

    The worst dataset has always been found to be one of these two.
    """
    return ((0, 0), (0, 0)), ((0, 0), (others, others))


def _two_bins(others: int, threshold: int, epsilons: Sequence[float], memo: Memo) -> Divergences:
    """Return a function that bounds the divergence over a cell of datasets (h1, h2).

    The function takes a cell and indices of ``epsilons``. It returns bounds of the larger
    divergence of both orders at these epsilons. For people whose bins differ within the cell, the
    observer learns their bits, except the bits that are fair coins.
    """
    chances, grows = flip_chances(threshold), np.exp(np.array(epsilons))

    def bin_with(ones: int, zeros: int) -> PreparedPair:
        def prepare_bin() -> PreparedPair:
            coins = count_certain_coins(others - ones - zeros, chances)
            pmf, cut, error = add_certain_coins(ones, zeros, coins, chances, memo)
            return prepare_pair(add_own_bits(pmf, cut, chances, error=error))

        found: PreparedPair = memo.get(("bin", ones, zeros, others, threshold), prepare_bin)
        return found

    def divergences(cell: Cell, places: Places) -> BoundArrays:
        one, two = (bin_with(least, others - most) for least, most in cell)
        some = grows[places]
        return larger_bounds(
            exchange_divergences(one, two, some), exchange_divergences(two, one, some)
        )

    return divergences
