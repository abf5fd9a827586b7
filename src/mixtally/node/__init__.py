"""What every role that serves needs: a folder, keys, the notes it signed and knows, pieces, HTTP.

A mix and a collector are a ``Node`` each, with a loop of their own around it. Time comes in as an
argument; what is remembered is on disk, synced, before anybody hears of it. The names below are
loaded when they are first used: a process of intake loads nothing that can read a key.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mixtally.node.calls import Answer, Call, SilentError, call
    from mixtally.node.disk import Step, no_step
    from mixtally.node.folder import Folder, RoleFile, made_folder, opened_folder
    from mixtally.node.keys import Keys, RoundKey
    from mixtally.node.node import Node
    from mixtally.node.peers import Peers
    from mixtally.node.refusal import OldStateError, ProblemError
    from mixtally.node.rounds import RoundRow
    from mixtally.node.slots import Entry, Slot

_FILES = {
    "Answer": "calls",
    "Call": "calls",
    "SilentError": "calls",
    "call": "calls",
    "Step": "disk",
    "no_step": "disk",
    "Folder": "folder",
    "RoleFile": "folder",
    "made_folder": "folder",
    "opened_folder": "folder",
    "Keys": "keys",
    "RoundKey": "keys",
    "Node": "node",
    "Peers": "peers",
    "OldStateError": "refusal",
    "ProblemError": "refusal",
    "RoundRow": "rounds",
    "Entry": "slots",
    "Slot": "slots",
}

__all__ = [
    "Answer",
    "Call",
    "Entry",
    "Folder",
    "Keys",
    "Node",
    "OldStateError",
    "Peers",
    "ProblemError",
    "RoleFile",
    "RoundKey",
    "RoundRow",
    "SilentError",
    "Slot",
    "Step",
    "call",
    "made_folder",
    "no_step",
    "opened_folder",
]


def __getattr__(name: str) -> Any:
    if name not in _FILES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_FILES[name]}"), name)
