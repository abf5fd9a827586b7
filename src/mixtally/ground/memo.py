"""A memory of results that never holds more than a number of bytes."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any

_ENTRY_BYTES = 512
"""Of a key, a number and their place, roughly."""


_MISSING = object()


class Memo:
    """Results by key; each of them counts the bytes it says it has in ``nbytes``, if it says so.

    When there is no more room the oldest are forgotten, or the newest not held where it
    ``keeps_first``: where all are asked for in turn, and again, the oldest is always the next.
    """

    def __init__(self, most_bytes: int, *, keeps_first: bool = False) -> None:
        self._most, self._held, self._keeps_first = most_bytes, 0, keeps_first
        self._entries: OrderedDict[Hashable, Any] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """The result memoized under ``key``, made now if there is none."""
        entries = self._entries
        found = entries.get(key, _MISSING)
        if found is not _MISSING:
            entries.move_to_end(key)
            return found
        result = make()
        if self._keeps_first and self._held + _size(result) > self._most:
            return result
        if key in entries:  # making it asked for itself
            self._held -= _size(entries.pop(key))
        entries[key] = result
        self._held += _size(result)
        while self._held > self._most and len(entries) > 1:
            _, forgotten = entries.popitem(last=False)
            self._held -= _size(forgotten)
        return result


def _size(result: Any) -> int:
    return _ENTRY_BYTES + int(getattr(result, "nbytes", 0))
