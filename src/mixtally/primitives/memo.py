"""A memory of results that forgets the oldest when it grows past a number of bytes."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any

_ENTRY_BYTES = 512
"""Of a key, a number and their place, roughly."""


_MISSING = object()


class Memo:
    """Results by key; each of them counts the bytes it says it has in ``nbytes``, if it says so."""

    def __init__(self, most_bytes: int) -> None:
        self._most, self._held = most_bytes, 0
        self._entries: OrderedDict[Hashable, Any] = OrderedDict()

    def __contains__(self, key: Hashable) -> bool:
        return key in self._entries

    def get(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """The result memoized under ``key``, made now if there is none."""
        entries = self._entries
        found = entries.get(key, _MISSING)
        if found is not _MISSING:
            entries.move_to_end(key)
            return found
        result = make()
        if key in entries:  # making it asked for itself
            self._held -= _count_bytes(entries.pop(key))
        entries[key] = result
        self._held += _count_bytes(result)
        while self._held > self._most and len(entries) > 1:
            _, forgotten = entries.popitem(last=False)
            self._held -= _count_bytes(forgotten)
        return result


def _count_bytes(result: Any) -> int:
    return _ENTRY_BYTES + int(getattr(result, "nbytes", 0))
