"""What every role that serves needs: a folder, keys, the notes it signed and knows, pieces, HTTP.

A mix and a collector are a ``Node`` each, with a loop of their own around it. Time comes in as an
argument; what is remembered is on disk, synced, before anybody hears of it.
"""

from mixtally.node.calls import Answer, Call, SilentError, call
from mixtally.node.disk import Step, no_step
from mixtally.node.folder import Folder, RoleFile, made_folder, opened_folder
from mixtally.node.keys import Keys, RoundKey
from mixtally.node.node import Node
from mixtally.node.peers import Peers
from mixtally.node.refusal import OldStateError, ProblemError
from mixtally.node.rounds import RoundRow
from mixtally.node.slots import Entry, Slot

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
