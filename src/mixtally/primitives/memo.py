"""A least-recently-used cache that is limited by the bytes of its results."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

T = TypeVar("T")

_ENTRY_BYTES = 512
"""Approximate bytes of a key, a number and their entry."""


class Memo:
    """A cache of results by key, limited in bytes.

    A result counts with its ``nbytes`` plus a constant.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most, self._bytes = most_bytes, 0
        self._entries: OrderedDict[Hashable, Any] = OrderedDict()

    def __contains__(self, key: Hashable) -> bool:
        return key in self._entries

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the result stored under ``key``, or compute it with ``make`` and store it."""
        entries = self._entries
        result: T
        if key in entries:
            entries.move_to_end(key)
            result = entries[key]
            return result
        result = make()
        if key in entries:  # ``make`` may have stored the same key in a nested call
            self._bytes -= _count_bytes(entries.pop(key))
        entries[key] = result
        self._bytes += _count_bytes(result)
        # The newest result stays even if it alone exceeds the limit: the caller still needs it.
        while self._bytes > self._most and len(entries) > 1:
            _, forgotten = entries.popitem(last=False)
            self._bytes -= _count_bytes(forgotten)
        return result


def _count_bytes(result: Any) -> int:
    return _ENTRY_BYTES + int(getattr(result, "nbytes", 0))
