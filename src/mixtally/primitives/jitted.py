"""Kernels compiled by numba, each with a NumPy counterpart that computes the same bits.

Every kernel states its signature. So numba compiles all of them, or loads them from its cache, when
``compiled.load_kernels`` imports this module, and none during a call.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from numba import boolean, int64, njit, types, uint8, uint64, void

_PLANE = types.Array(uint64, 1, "C")
_PLANES = types.Array(uint64, 2, "C")
_READ = types.Array(uint64, 1, "C", readonly=True)
_READ_PLANES = types.Array(uint64, 2, "C", readonly=True)
_READ_GROUPS = types.Array(uint64, 3, "C", readonly=True)
_READ_ROWS = types.Array(uint8, 2, "C", readonly=True)
_INDEX = types.Array(int64, 1, "C")
_PAIR: Any = types.UniTuple(uint64, 2)  # type: ignore[no-untyped-call]


Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def _kernel(signature: Any) -> Callable[[Kernel], Kernel]:
    compiling: Callable[[Kernel], Kernel] = njit(signature, cache=True, nogil=True)
    return compiling


@_kernel(_PAIR(uint64, uint64, uint64))
def _three(a: Any, b: Any, c: Any) -> Any:
    """Add three bits of equal weight; return the sum bit, and the carry of twice the weight."""
    half = a ^ b
    return half ^ c, (a & b) | (half & c)


@_kernel(void(_READ_PLANES, _PLANES, _PLANE))
def add_sixteen(planes: Any, totals: Any, carry: Any) -> None:
    """Add 16 ``planes`` to 4 ``totals`` of weights 1, 2, 4, 8; write the sixteens to ``carry``."""
    for j in range(planes.shape[1]):
        one, two, four, eight = totals[0, j], totals[1, j], totals[2, j], totals[3, j]
        one, a = _three(one, planes[0, j], planes[1, j])
        one, b = _three(one, planes[2, j], planes[3, j])
        two, c = _three(two, a, b)
        one, a = _three(one, planes[4, j], planes[5, j])
        one, b = _three(one, planes[6, j], planes[7, j])
        two, d = _three(two, a, b)
        four, e = _three(four, c, d)
        one, a = _three(one, planes[8, j], planes[9, j])
        one, b = _three(one, planes[10, j], planes[11, j])
        two, c = _three(two, a, b)
        one, a = _three(one, planes[12, j], planes[13, j])
        one, b = _three(one, planes[14, j], planes[15, j])
        two, d = _three(two, a, b)
        four, f = _three(four, c, d)
        totals[0, j], totals[1, j], totals[2, j] = one, two, four
        totals[3, j], carry[j] = _three(eight, e, f)


@_kernel(void(_READ_GROUPS, _PLANES, _PLANES, _PLANE))
def add_groups(groups: Any, totals: Any, carries: Any, carry: Any) -> None:
    """Add sixteen groups of sixteen planes to ``totals`` of weights 1 to 128.

    The shape of ``groups`` is (16, 16, words), that of ``totals`` (8, words). ``carry`` receives
    the bits of weight 256. ``carries``, shape (16, words), is scratch space. The NumPy counterpart
    adds two planes at a time.
    """
    for i in range(16):
        add_sixteen(groups[i], totals[:4], carries[i])
    add_sixteen(carries, totals[4:], carry)


@_kernel(void(_READ_PLANES, uint64, _PLANE, _PLANE))
def settle(drawn: Any, threshold: Any, unsettled: Any, ones: Any) -> None:
    """Compare the eight top digits of uniform numbers with those of ``threshold``.

    A lane is one bit position of a word, and belongs to one number. ``drawn`` has a random word for
    each digit and each word of lanes. In ``ones`` the bits of the lanes are set whose numbers are
    below the threshold. In ``unsettled`` the bits of the lanes are set that agree with the
    threshold in all eight digits.
    """
    top, one = uint64(63), uint64(1)
    for i in range(len(ones)):
        tied, below = ~uint64(0), uint64(0)
        # The loop has no branch, so that the compiler can settle several words at once.
        for k in range(8):
            digit = uint64(0) - (threshold >> (top - uint64(k)) & one)  # copied to every lane
            agree = tied & ~(drawn[k, i] ^ digit)
            below |= (tied ^ agree) & digit
            tied = agree
        unsettled[i], ones[i] = tied, below


@_kernel(int64(_PLANE, _INDEX))
def find(unsettled: Any, index: Any) -> Any:
    """Write the indices of words with an unsettled lane to ``index``, and return their number."""
    many = 0
    for i in range(len(unsettled)):
        index[many] = i
        many += unsettled[i] != 0
    return many


@_kernel(int64(_READ, boolean, _PLANE, _PLANE, _INDEX))
def settle_found(drawn: Any, digit: Any, unsettled: Any, ones: Any, index: Any) -> Any:
    """Compare one more random bit of each lane with ``digit``, and return how many words remain.

    A lane is one bit position of a word. It becomes 1 with the probability whose next binary digit
    is ``digit``. ``drawn`` has a random word for each word that ``index`` lists. Three arrays
    change in place: ``unsettled`` keeps the lanes whose bits have equaled all digits so far,
    ``ones`` gains the lanes that are now below the probability, and the front of ``index`` keeps
    the words that still have an unsettled lane.
    """
    many = 0
    for k in range(len(drawn)):
        i = index[k]
        agree = unsettled[i] & (drawn[k] if digit else ~drawn[k])
        if digit:
            ones[i] |= unsettled[i] ^ agree
        unsettled[i] = agree
        index[many] = i
        many += agree != 0
    return many


@_kernel(boolean(_READ_ROWS, uint64, uint64, uint64, uint64, _INDEX))
def count_positions(
    rows: Any, cap: Any, width: Any, count_bytes: Any, bins: Any, counts: Any
) -> Any:
    """Add the bins in ``rows`` to ``counts``, and return whether every row is a valid message.

    If a row is invalid, ``counts`` is unusable. The NumPy counterpart is ``Layout.faults``,
    followed by a count of the bins.
    """
    one, eight, size = uint64(1), uint64(8), uint64(rows.shape[1])
    mask = (one << width) - one
    for i in range(rows.shape[0]):
        row = rows[i]
        many = uint64(row[0])
        if count_bytes == 2:
            many |= uint64(row[1]) << eight
        if many > cap:
            return False
        place, read, have, least = uint64(count_bytes), uint64(0), uint64(0), uint64(0)
        for _ in range(many):
            # All numbers are unsigned: a negative index would count from the end of the row.
            while have < width:
                read |= uint64(row[place]) << have
                place, have = place + one, have + eight
            named = read & mask
            read, have = read >> width, have - width
            if named < least or named >= bins:
                return False
            counts[named] += 1
            least = named + one
        for rest in range(place, size):
            read |= uint64(row[rest])
        if read != 0:
            return False
    return True
