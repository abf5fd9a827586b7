"""The number of messages that point at each value, if a message names a plane of points of Z_p^t.

``conclude`` calls this module for plans over planes (``device.contract.planes``). A message (a, c)
consists of a direction a and a number c modulo the prime p. The message points at a value with the
point x if <a, x> = c modulo p. Three algorithms compute the same counts for d values:

- *Rows.* A row consists of the p numbers that differ only in their lowest digit. In each row, a
  message points at the solutions of one quadratic equation. The work is messages x d / p.
- *Fourier.* Let T_a(c) be the number of messages (a, c). The count of x is S(x) = sum_a
  T_a(<a, x>). The Fourier transform of S at the frequency w a is p^(t-1) times the transform of T_a
  at w. Every frequency but 0 is a multiple of exactly one direction. The work is p^t log p^t.
- *Products.* If only some values are of interest, <a, x> - c is computed for each message and each
  of these values. The message points at x if the result is a multiple of p.

Source: Stein, Shakarchi, Fourier Analysis (2003), chapter 7 (finite abelian groups).
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixtally.device.contract.planes import MOST_MESSAGES
from mixtally.device.contract.scatter import point_on_curve
from mixtally.errors import AccountingError
from mixtally.model.estimates import Tally
from mixtally.model.planes import Planes, directions, permute_bins, points_at, points_on_curve
from mixtally.primitives.bits import Counts, spans
from mixtally.primitives.wide import Numbers, digits_in_base, divide, make_numbers

_MOST_TABLE = 1 << 25
"""The maximum number of points of a Fourier transform, which then takes half a gigabyte."""
_MESSAGES_PER_POINT = 8.0
"""Counting this number of messages by rows takes about as long as one point of a transform."""
_PRODUCTS, _MESSAGES = 1 << 18, 256
"""The number of products computed at a time, and the number of messages in them. Both keep the work
in the cache, and too small for the linear algebra library to start threads.
"""
# The largest distance of a count from a whole number for which the transform is trusted.
_ROUND_OFF = 0.01
_CONTROLS = 64
"""The number of points without a value whose messages are counted as a check."""
_FEW_ROWS = 8
"""Counting this number of rows is faster than computing the products of ``_CONTROLS`` points."""


def count_pointing(planes: Planes, tally: Tally, values: int) -> Counts:
    """Count the messages that point at each of the bins 0..``values`` - 1, shape (values,).

    The question has a closed list of bins, and every person has one of these bins
    (``device.contract.scatter``). The faster one of *Rows* and *Fourier* is used.
    """
    codes, times = tally.nonzero_counts
    places = permute_bins(np.arange(values), values)
    if planes.points <= _MOST_TABLE and _MESSAGES_PER_POINT * planes.points < len(codes) * _rows(
        planes, values
    ):
        found = _count_by_fourier(planes, codes, times)
        return found[points_on_curve(planes.device_planes, places)]
    return _count_by_rows(planes, codes, times, range(values))[places]


def _rows(planes: Planes, values: int) -> int:
    """Return how many rows of p numbers contain a number below ``values``."""
    return -(-values // planes.prime)


def _count_by_rows(planes: Planes, codes: Counts, times: Counts, asked: range) -> Counts:
    """Count the messages that point at each number in ``asked``.

    ``codes`` are the distinct messages, and ``times`` says how often each occurs. A row consists of
    the numbers that differ only in their lowest digit l. Let (a, c) be a message, b the first digit
    of its direction a, and q the last digit of a. Let c' be c minus the products of all other
    digits of the row with those of a. The message points at the numbers of the row whose l solves,
    modulo p,

        q l^2 + b l = c'.

    If q is not 0 and p is odd, let h = b / (2 q) and r^2 = c' / q + h^2. The solutions are -h + r
    and -h - r if r exists. If q is 0, the equation is linear, and b is 1 or 0. For b = 1 the
    solution is c'. For b = 0 all numbers of the row are solutions if c' is 0, and none is
    otherwise. For p = 2, l^2 equals l, so the equation is linear too.
    """
    p, digits = planes.prime, planes.digits
    numbers, cells = divide(codes, p)
    vectors = directions(numbers, p, digits)
    curve, slope = vectors[-1], vectors[0]
    if p == 2:
        curve, slope = np.zeros_like(curve), (slope + curve) % 2
    bent = curve > 0
    flat, straight = vectors[1:, ~bent], slope[~bent] > 0
    flat_cells, flat_times, bent_times = cells[~bent], times[~bent], times[bent]
    inverse = _inverses(curve[bent], p)
    half = slope[bent] * inverse % p * ((p + 1) // 2) % p
    steps = vectors[1:, bent] * inverse % p
    first = square = (cells[bent] * inverse + half * half) % p
    rows = np.arange(asked.start // p, _rows(planes, asked.stop))
    solutions, total = _solutions(p), np.zeros((len(rows), p), dtype=np.int64)
    for row, upper in enumerate(digits_in_base(rows, p, digits - 1).T):
        residues = (flat_cells - (upper[:, None] * flat).sum(axis=0)) % p
        total[row] = _weighted_counts(residues[straight], flat_times[straight], p)
        total[row] += int(flat_times[~straight & (residues == 0)].sum())
        # The lowest of these digits is one more than in the row before: subtracting is enough.
        if row and upper[0]:
            square = square - steps[0]
            square[square < 0] += p
        else:
            square = (first - (upper[:, None] * steps).sum(axis=0)) % p
        for ends in solutions:
            found = _weighted_counts(ends[square] - half, bent_times, 2 * p)[: 2 * p]
            total[row] += found.reshape(2, p).sum(axis=0)
    start = asked.start % p
    return total.ravel()[start : start + len(asked)]


def _weighted_counts(numbers: Counts, times: Counts, prime: int) -> Counts:
    """Return, for each number below ``prime``, the sum of ``times`` over its occurrences.

    The sums are exact below 2^53.
    """
    return np.bincount(numbers, weights=times, minlength=prime).astype(np.int64)


def _inverses(numbers: Counts, prime: int) -> Counts:
    """Return the inverses of numbers in [1, p), by Fermat's theorem: x^(p-2)."""
    present = np.flatnonzero(np.bincount(numbers, minlength=prime))
    power, found, rest = present.copy(), np.ones_like(present), prime - 2
    while rest:
        if rest & 1:
            found = found * power % prime
        power, rest = power * power % prime, rest >> 1
    table = np.zeros(prime, dtype=np.int64)
    table[present] = found
    return table[numbers]


def _solutions(prime: int) -> tuple[Counts, Counts]:
    """Return the two square roots of each number modulo p, as two arrays of shape (p,).

    If r is the smaller root of a number, the results are p + r and 2p - r. After subtracting h in
    [0, p), each result is a solution l modulo p and lies in [0, 2p). If a number has no root, both
    results are 3p, which callers do not count. The root 0 is double, so the second result for the
    number 0 is 3p, too.
    """
    root = np.arange(prime // 2 + 1)
    first, second = np.full(prime, 3 * prime), np.full(prime, 3 * prime)
    first[root * root % prime] = prime + root
    second[root[1:] ** 2 % prime] = 2 * prime - root[1:]
    return first, second


def count_pointing_at_free(planes: Planes, tally: Tally, numbers: range) -> Counts:
    """Count the messages that point at each of some points that belong to no value.

    The counts serve as a check of the messages. ``numbers`` are the numbers of all such points, and
    the first few of them are used.
    """
    few = numbers[:_CONTROLS]
    if planes.points > MOST_MESSAGES:
        prime, digits = planes.device_planes
        some = (point_on_curve(one, prime, digits) for one in few)
        return count_pointing_at(planes, tally, make_numbers(some, planes.points))[0]
    if few and _rows(planes, few.stop) - few.start // planes.prime <= _FEW_ROWS:
        return _count_by_rows(planes, *tally.nonzero_counts, few)
    free = points_on_curve(planes.device_planes, np.array(few, dtype=np.int64))
    return count_pointing_at(planes, tally, free)[0]


def count_pointing_at(planes: Planes, tally: Tally, points: Numbers) -> tuple[Counts, float]:
    """Count the messages that point at each of several points, shape (points,).

    Let w be the number of these points at which a message points. The second result is the sum of
    w^2 over all messages.

    Parameters
    ----------
    planes : Planes
        The planes that messages name.
    tally : Tally
        The tally of the messages.
    points : Numbers
        The points of Z_p^t as integers.
    """
    codes, times = tally.nonzero_counts
    p, digits = planes.prime, planes.digits
    numbers, cells = divide(codes, p)
    vectors = directions(numbers, p, digits)
    compare = _compare_quotients if digits * (digits + 3) * p * p < 1 << 53 else _compare_integers
    rows, columns, find_hits = compare(vectors, cells, digits_in_base(points, p, digits), p)
    found, named = np.zeros(len(points), dtype=np.int64), np.zeros(len(codes), dtype=np.int64)
    few = max(1, min(len(codes), _MESSAGES))
    for some in spans(len(points), max(1, _PRODUCTS // (few * (digits + 1)))):
        right = np.ascontiguousarray(columns[:, some])
        for those in spans(len(codes), few):
            hits = find_hits(rows[those], right)
            row, column = np.divmod(np.flatnonzero(hits), right.shape[1])
            np.add.at(found[some], column, times[those][row])
            named[those] += np.bincount(row, minlength=len(hits))
    return found, float(times @ named.astype(np.float64) ** 2)


_Comparison = tuple[NDArray[Any], NDArray[Any], Callable[[NDArray[Any], NDArray[Any]], Counts]]


def _compare_quotients(vectors: Counts, cells: Counts, places: Counts, prime: int) -> _Comparison:
    """Return a matrix of messages, a matrix of points, and a function that compares them.

    The first matrix has a row for each message, and the second a column for each point. The
    function finds which messages point at which points.

    A message with the direction a and the number c points at x if (<a, x> - c + 1/2) / p has a
    fractional part below 1/p. This quotient is a sum of t + 1 products of floating-point numbers.
    Digits are centered at 0, so the absolute values of the products add up to at most t p / 4 + 1.
    The error of the sum is at most (t + 2) (t p / 4 + 1) 2^-53. It is below 1 / 2p if t (t + 3) p^2
    is below 2^53.
    """
    digits = len(vectors)
    rows: NDArray[np.floating] = (
        np.concatenate([_central(vectors, prime), 0.5 - _central(cells, prime)[None, :]]).T / prime
    )
    columns: NDArray[np.floating] = np.concatenate(
        [_central(places, prime), np.ones((1, places.shape[1]))]
    )
    # Quotients are then so small that single precision distinguishes multiples of 1/p.
    if (digits + 1) * prime * prime < 1 << 20:
        rows, columns = rows.astype(np.float32), columns.astype(np.float32)
    near = rows.dtype.type(1.0 / prime)

    def find_hits(some: NDArray[Any], right: NDArray[Any]) -> NDArray[Any]:
        quotients = some @ right
        quotients -= np.floor(quotients)
        return np.asarray(quotients < near)

    return rows, columns, find_hits


def _compare_integers(vectors: Counts, cells: Counts, places: Counts, prime: int) -> _Comparison:
    """Return the results of ``_compare_quotients`` for a prime too large for double precision."""

    def find_hits(some: Counts, right: Counts) -> NDArray[Any]:
        products = -some[:, -1:]
        for digit, place in zip(some.T, right, strict=False):
            # Two products of digits below 2^31 fit in 64 bits, but not many.
            products = products + digit[:, None] * place % prime
        return np.asarray(products % prime == 0)

    return np.concatenate([vectors, cells[None, :]]).T, places, find_hits


def sum_named_points(planes: Planes, tally: Tally, points: NDArray[np.int64]) -> tuple[int, float]:
    """Return the sums of w and of w^2 over messages, where a message points at w of ``points``.

    All messages with the same direction are counted together, and some directions at a time.
    """
    codes, times = tally.nonzero_counts
    p, digits = planes.prime, planes.digits
    numbers, cells = divide(codes, p)
    named, first = np.unique(numbers, return_index=True)
    vectors, places = directions(named, p, digits), digits_in_base(points, p, digits)
    until, total, squares = np.append(first, len(codes)), 0, 0.0
    wide = p if p <= _PRODUCTS else 1
    for some in spans(len(named), max(1, _PRODUCTS // max(len(points), wide))):
        those = slice(int(until[some.start]), int(until[some.stop]))
        products = np.zeros((some.stop - some.start, len(points)), dtype=np.int64)
        for vector, place in zip(vectors[:, some], places, strict=True):
            products += vector[:, None] * place  # fits in 64 bits, see ``LARGEST_PRIME``
        products %= p
        products += np.arange(len(products))[:, None] * p
        plane_codes = np.searchsorted(named[some], numbers[those]) * p + cells[those]
        pointed_at = _occurrences(products.ravel(), plane_codes, len(products) * p)
        total += int(times[those] @ pointed_at)
        squares += float(times[those] @ pointed_at.astype(np.float64) ** 2)
    return total, squares


def _occurrences(numbers: Counts, asked: Counts, limit: int) -> Counts:
    """Return how often each of ``asked`` occurs in ``numbers``. All numbers are below ``limit``."""
    if limit <= 2 * _PRODUCTS:
        return np.bincount(numbers, minlength=limit)[asked]
    present, times = np.unique(numbers, return_counts=True)
    places = np.minimum(np.searchsorted(present, asked), len(present) - 1)
    return np.where(present[places] == asked, times[places], 0)


def count_pointing_at_members(planes: Planes, tally: Tally, bins: range, values: int) -> Tally:
    """Return the number of messages that point at each of ``bins``, for a question about sets.

    ``values`` is the number of bins of the question; larger numbers are pads.
    """
    points = points_at(planes.device_planes, np.array(bins, dtype=np.int64), values)
    return Tally(count_pointing_at(planes, tally, points)[0], tally.messages)


def _central(digits: Counts, prime: int) -> NDArray[np.float64]:
    """Return digits modulo p as numbers between -p/2 and p/2."""
    return np.where(digits > prime // 2, digits - prime, digits).astype(np.float64)


def _count_by_fourier(planes: Planes, codes: Counts, times: Counts) -> Counts:
    """Count the messages that point at each point of Z_p^t, shape (p^t,).

    Raises AccountingError if a computed count is not close to a whole number, or if the counts do
    not have the sum that the number of messages implies.
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
