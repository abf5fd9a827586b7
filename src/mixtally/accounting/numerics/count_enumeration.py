"""The expectation of the positive part of a sum, by enumerating how often each value occurs.

``saddle_line`` uses the enumeration where few vectors of counts are possible. Let N draws take the
value w_i exactly n_i times, and let w_0 be the most frequent value. The sum is then S = N w_0 + sum
of n_i (w_i - w_0), and the counts are multinomial. Nothing is smoothed. So the cost of a sum of
rare heavy values, whose atoms are far from each other, is the number of its atoms.
"""

import math
from typing import NamedTuple

import numpy as np

from mixtally.primitives.tails import Floats, log_factorials

_CUT_NATS = 46.0
"""A count lies outside its window with probability at most 2 e^-46."""
_MOST_OFTEN = 20_000
"""Largest count of a value other than the most frequent one."""
_LEAST = 1e-300


class CountWindows(NamedTuple):
    """The windows of the counts that are enumerated.

    ``usual`` is the index of the most frequent value, and ``others`` has the indices of all other
    values. ``windows`` has the smallest and the largest count of each of these others.
    """

    usual: int
    others: list[int]
    windows: list[tuple[int, int]]


def find_count_windows(tilted: Floats, number: int, most: int) -> CountWindows | None:
    """Return the windows of the counts of ``number`` tilted draws.

    None is returned if there are more than ``most`` vectors of counts, or a count is too large. For
    a binomial number X of mean m, P(X >= k) for k > m and P(X <= k) for k < m are at most e^{-(k
    log(k/m) - k + m)}. So a count lies outside its window with probability at most 2 e^-46.
    """
    usual = int(np.argmax(tilted))
    others = [i for i in range(len(tilted)) if i != usual]
    windows, size = {}, 1
    for place in sorted(others, key=lambda i: -float(tilted[i])):
        mean = number * float(tilted[place])
        reach = math.ceil(mean + _CUT_NATS + math.sqrt(2.0 * _CUT_NATS * mean + _CUT_NATS**2))
        if reach > _MOST_OFTEN:
            return None
        k = np.arange(reach + 1)
        nats = k * (np.log(np.maximum(k, 1)) - math.log(max(mean, _LEAST))) - k + mean
        near = np.flatnonzero(nats < _CUT_NATS)
        first, last = max(0, int(near[0]) - 1), min(number, int(near[-1]) + 1)
        windows[place] = first, last
        size *= last - first + 1
        if size > most:
            return None
    return CountWindows(usual, others, [windows[place] for place in others])


def cut_share(counts: CountWindows) -> float:
    """Return a bound on the tilted probability that a count is outside its window."""
    return 2.0 * len(counts.others) * math.exp(-_CUT_NATS)


def expectation(
    counts: CountWindows, values: Floats, chances: Floats, log_usual: float, number: int
) -> tuple[float, float]:
    """Return the part of E[(S)_+] from counts in the windows, and a bound on its rounding error.

    S is the sum of ``number`` draws of ``values`` with the probabilities ``chances``, which may sum
    to less than one. ``log_usual`` is the logarithm of the probability of the most frequent value.
    """
    base = float(values[counts.usual])
    logs, often = np.zeros(1), np.zeros(1, dtype=np.int64)
    total, size, digits = np.full(1, number * base), np.full(1, abs(number * base)), 1.0
    for place, (first, last) in zip(counts.others, counts.windows, strict=True):
        k = np.arange(first, last + 1)
        log, step = math.log(number) + math.log(float(chances[place])), float(values[place]) - base
        logs = np.add.outer(logs, k * log - log_factorials(k)).ravel()
        often = np.add.outer(often, k).ravel()
        total = np.add.outer(total, k * step).ravel()
        size = np.add.outer(size, k * (abs(step) + abs(base))).ravel()
        digits += last * (abs(log) + math.log(last + 1.0))
    possible = often <= number
    logs, often, total, size = logs[possible], often[possible], total[possible], size[possible]
    most = int(often.max(initial=0))
    falling = np.append(0.0, np.cumsum(np.log1p(-np.arange(most) / number)))  # N!/((N-m)! N^m)
    digits += number * abs(log_usual) + abs(float(falling[-1])) * (1.0 + math.sqrt(most))
    pmf = np.exp(logs + falling[often] + (number - often) * log_usual)
    slip = 2.0**-50 * size
    value = float((pmf * np.maximum(total, 0.0)).sum())
    off = float((pmf * slip)[total > -slip].sum())
    return value, off + 2.0**-49 * digits * (value + off)
