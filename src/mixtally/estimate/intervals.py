"""Confidence intervals for true counts: the counts that the exact test does not reject.

With s tallied, z is accepted when P_z(S >= s) and P_z(S <= s) both exceed half the error allowed.
The tails grow and fall with z, so that what is accepted is an interval and its ends are found by
bisection.
"""

import math
from collections.abc import Callable
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from mixtally.errors import strictly_within
from mixtally.estimate.cumulants import ends, of_flips
from mixtally.estimate.noise import Noises, depends_on_count, reach
from mixtally.records.mechanism import Shuffled
from mixtally.records.results import Intervals, Tally

EXACT = "exact test inversion"
NORMAL = "normal approximation"
MOST_EXACT_ONES = 2000.0
"""Above this many expected flipped ones a bin the normal law, bent by ``cumulants``, is as good."""


def checked_level(level: float) -> float:
    """``level`` itself when it lies in (0, 1); raises ParameterError otherwise."""
    strictly_within("confidence level", level, 0.0, 1.0, "0.95 is common")
    return level


def intervals(
    mechanism: Shuffled,
    tally: Tally,
    level: float,
    *,
    simultaneous_over: int,
    exact_ones: float | None = None,
    noises: Noises | None = None,
) -> Intervals:
    """Equal-tailed intervals, shape (bins,), whole numbers between 0 and the people possible.

    ``simultaneous_over`` bins share the error allowed (Bonferroni: valid however the bins depend
    on each other); 1 gives each bin the whole of it. Bins with more than ``exact_ones`` expected
    flipped ones take the normal distribution, ``MOST_EXACT_ONES`` when left out. ``noises`` serves
    many such calls.
    """
    most = mechanism.people_among(tally.messages)
    tail = (1.0 - level) / 2.0 / simultaneous_over
    if not depends_on_count(mechanism):
        method = EXACT
        lower, upper = in_clear(mechanism, tally.counts, reach(mechanism, tally.messages, 0, tail))
    elif mechanism.offset(tally.messages) <= (
        MOST_EXACT_ONES if exact_ones is None else exact_ones
    ):
        method = EXACT
        lower, upper = _invert(mechanism, tally, tail, most, noises or Noises())
    else:
        method = NORMAL
        lower, upper = _normal(mechanism, tally, tail, most)
    return Intervals(
        lower=np.clip(lower, 0, most),
        upper=np.clip(upper, 0, most),
        level=level,
        method=method,
        simultaneous=simultaneous_over > 1,
    )


_Ends = tuple[NDArray[np.int64], NDArray[np.int64]]


def in_clear(
    mechanism: Shuffled, counted: NDArray[np.int64], noise: tuple[int, int]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Ends of true numbers that are counted ``repeats`` times, with noise between two ends.

    Where no number explains a count, the two beside it are the ends.
    """
    times, (least, most) = mechanism.repeats, noise
    lower, upper = -((most - counted) // times), (counted - least) // times
    return np.minimum(lower, upper), np.maximum(lower, upper)


def _half(mechanism: Shuffled, tally: Tally, tail: float) -> float:
    """Half the width of a normal interval with ``tail`` on either side."""
    return -NormalDist().inv_cdf(tail) * math.sqrt(mechanism.variance(tally.messages))


def _normal(mechanism: Shuffled, tally: Tally, tail: float, people: int) -> _Ends:
    """Bent to the noise's lean: among many bins a tail is 1.6 times the normal one, still."""
    counts = mechanism.unbiased(tally.counts, tally.messages)
    noise = of_flips(mechanism, tally.messages, np.clip(counts, 0.0, people))
    spread, flat = (np.asarray(each) for each in (noise.variance, noise.fourth))
    least, most = ends(spread, noise.third, flat, tail)
    return np.floor(counts - most).astype(np.int64), np.ceil(counts - least).astype(np.int64)


def _invert(mechanism: Shuffled, tally: Tally, tail: float, most: int, noises: Noises) -> _Ends:
    seen, place = np.unique(tally.counts, return_inverse=True)
    messages, width = tally.messages, _half(mechanism, tally, tail)
    lower, upper = np.empty_like(seen), np.empty_like(seen)
    for i, (s, count) in enumerate(
        zip(seen.tolist(), mechanism.unbiased(seen, messages).tolist(), strict=True)
    ):
        low, high = (min(max(round(end), 0), most) for end in (count - width, count + width))

        def reaches(z: int, s: int = s) -> bool:
            return z + noises.reach(mechanism, messages, z, tail)[1] >= s

        def passes(z: int, s: int = s) -> bool:
            return z + noises.reach(mechanism, messages, z, tail)[0] > s

        lower[i] = first_true(reaches, low, 0, most)
        upper[i] = first_true(passes, high, 0, most + 1) - 1
    return lower[place], upper[place]


def first_true(holds: Callable[[int], bool], guess: int, low: int, high: int) -> int:
    """The least z in [low, high] from which ``holds`` stays true; ``high`` counts as true.

    Steps away from ``guess`` by doubling strides, then bisects.
    """
    stride = 1
    if guess >= high or holds(guess):
        yes = min(guess, high)
        while yes > low and holds(no := max(low, yes - stride)):
            yes, stride = no, 2 * stride
        if yes == low:
            return low
    else:
        no = guess
        while (yes := min(high, no + stride)) < high and not holds(yes):
            no, stride = yes, 2 * stride
    while yes - no > 1:
        middle = (yes + no) // 2
        yes, no = (middle, no) if holds(middle) else (yes, middle)
    return yes
