"""Private counting through mixes: exact privacy, least error, honest intervals.

Its names are those of the public door, ``mixtally.door``; each is loaded when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mixtally.door import *  # noqa: F403


def __getattr__(name: str) -> Any:
    door = import_module("mixtally.door")
    if name == "__all__":
        return door.__all__
    if name not in door.__all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(door, name)
    return found


def __dir__() -> list[str]:
    return list(import_module("mixtally.door").__all__)
