"""How many messages point at each value, where a message names a plane of points of Z_p^t.

A message (a, c) points at x when <a, x> = c. Three ways come to the same numbers:

    messages  for every choice of all digits of x but the least, the message names one least digit
              where a begins with 1, and all or none where it begins with 0: work messages d / p
    Fourier   S(x) = sum_a T_a(<a, x>) has the transform p^(t-1) F T_a(w) at each frequency w a,
              and every frequency but 0 is one multiple of one direction: work p^t log p^t
    products  of some values alone, <a, x> - c is a multiple of p where a message points at x

Source: Stein, Shakarchi, Fourier Analysis (2003), chapter 7 (finite abelian groups).
"""

import numpy as np
from numpy.typing import NDArray

from mixtally.errors import AccountingError
from mixtally.ground.bits import Counts, spans
from mixtally.ground.planes import digits_of, directions
from mixtally.records.planes import Planes, points_at
from mixtally.records.results import Tally

_MOST_TABLE = 1 << 25
"""Points of a transform: it takes half a gigabyte."""
_DEAR = 40.0
"""A point of a transform takes about as long as so many messages."""
_PRODUCTS, _MESSAGES = 1 << 18, 256
"""At once, of so many messages: they stay in the cache, and no library starts threads for so few.
"""
_ROUND_OFF = 0.01
_CONTROLS = 64
"""Points that nobody can hold, of which it is looked how many messages point at them."""


def pointing(planes: Planes, tally: Tally, values: int) -> Counts:
    """Messages that point at each of the values 0..``values`` - 1, shape (values,)."""
    codes, times = tally.named
    p = planes.prime
    if planes.points <= _MOST_TABLE and _DEAR * planes.points < len(codes) * (values // p + 1):
        return _transformed(planes, codes, times)[:values]
    leads, vectors, cells = _split(planes, codes)
    total = np.zeros((-(-values // p), p), dtype=np.int64)
    rest = vectors[1:]
    for block, upper in enumerate(digits_of(np.arange(len(total)), p, planes.digits - 1).T):
        left = (cells - (upper[:, None] * rest).sum(axis=0)) % p
        total[block] = np.bincount(left[leads], weights=times[leads], minlength=p).astype(np.int64)
        total[block] += int(times[~leads & (left == 0)].sum())
    return total.ravel()[:values]


def unheld(planes: Planes, tally: Tally, values: int) -> Counts:
    """Messages that point at each of some of the next points, which no value has."""
    free = np.arange(values, min(planes.points, values + _CONTROLS))
    return pointing_at(planes, tally, free)[0]


def pointing_at(planes: Planes, tally: Tally, points: NDArray[np.int64]) -> tuple[Counts, float]:
    """Messages that point at each of ``points``, shape (points,), and the sum over messages of the
    squares of how many of these one points at.

    By products of digits around 0, so that a quotient by p is exact to far below 1 / 2p: a message
    points at x where <a, x> - c + 1/2, over p, lies less than 1/p above a whole number.
    """
    codes, times = tally.named
    p, digits = planes.prime, planes.digits
    _, vectors, cells = _split(planes, codes)
    rows: NDArray[np.floating] = (
        np.concatenate([_central(vectors, p), 0.5 - _central(cells, p)[None, :]]).T / p
    )
    columns: NDArray[np.floating] = np.concatenate(
        [_central(digits_of(points, p, digits), p), np.ones((1, len(points)))]
    )
    if (digits + 1) * p * p < 1 << 20:
        rows, columns = rows.astype(np.float32), columns.astype(np.float32)
    near = rows.dtype.type(1.0 / p)
    found, named = np.zeros(len(points), dtype=np.int64), np.zeros(len(codes), dtype=np.int64)
    few = max(1, min(len(codes), _MESSAGES))
    for some in spans(len(points), max(1, _PRODUCTS // (few * (digits + 1)))):
        right = np.ascontiguousarray(columns[:, some])
        for those in spans(len(codes), few):
            quotients = rows[those] @ right
            quotients -= np.floor(quotients)
            row, column = np.divmod(np.flatnonzero(quotients < near), right.shape[1])
            np.add.at(found[some], column, times[those][row])
            named[those] += np.bincount(row, minlength=len(quotients))
    return found, float(times @ named.astype(np.float64) ** 2)


def pointing_at_members(planes: Planes, tally: Tally, bins: range, values: int) -> Tally:
    """Messages that point at what ``bins`` of sets of ``values`` are (``contract.planes``)."""
    points = points_at(planes.bare, np.array(bins, dtype=np.int64), values)
    return Tally(pointing_at(planes, tally, points)[0], tally.messages)


def _split(planes: Planes, codes: Counts) -> tuple[NDArray[np.bool_], Counts, Counts]:
    """Whether each message's direction begins with 1, the direction, and its product."""
    numbers, cells = np.divmod(codes, planes.prime)
    vectors = directions(numbers, planes.prime, planes.digits)
    return vectors[0] == 1, vectors, cells


def _central(digits: Counts, prime: int) -> NDArray[np.float64]:
    """Digits modulo p between -p/2 and p/2."""
    return np.where(digits > prime // 2, digits - prime, digits).astype(np.float64)


def _transformed(planes: Planes, codes: Counts, times: Counts) -> Counts:
    """Messages that point at each point of Z_p^t, shape (p^t,).

    Raises AccountingError where round-off shows, or not all messages are found again.
    """
    p, digits, messages = planes.prime, planes.digits, int(times.sum())
    table = np.bincount(codes, weights=times, minlength=planes.messages)
    rows = np.fft.fft(table.reshape(-1, p), axis=1)
    vectors = directions(np.arange(len(rows)), p, digits)
    # The most significant digit first, as the last axis of an array moves fastest.
    half = np.zeros((p,) * (digits - 1) + (p // 2 + 1,), dtype=np.complex128)
    half[(0,) * digits] = messages
    for wave in range(1, p):
        at = (wave * vectors) % p
        kept = at[0] <= p // 2
        half[tuple(at[::-1, kept])] = rows[kept, wave]
    found = np.fft.irfftn(half, s=(p,) * digits, axes=range(digits)).ravel()
    found *= planes.points // p
    whole = np.rint(found)
    exact = np.abs(found - whole).max() < _ROUND_OFF
    if not exact or int(whole.sum()) != planes.points // p * messages:
        raise AccountingError(
            f"planes: counts of {planes.points:,} points are off by {np.abs(found - whole).max()}"
        )
    return whole.astype(np.int64)
