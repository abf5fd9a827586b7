"""Rows as a frame of the library that the values came from, or of an installed library."""

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

import narwhals as nw

_LIBRARIES = ("polars", "pandas", "pyarrow")
"""The first of these libraries that is installed makes frames of plain values."""


def make_frame(rows: Sequence[Mapping[str, Any]], backend: nw.Implementation | None) -> Any:
    """Return ``rows`` as a native frame, or as a dict of columns if no library is installed."""
    columns = {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}
    chosen: Any = backend if backend is not None else _find_installed_library()
    if chosen is None:
        return columns
    return nw.from_dict(columns, backend=chosen).to_native()


def _find_installed_library() -> str | None:
    return next((name for name in _LIBRARIES if find_spec(name) is not None), None)
