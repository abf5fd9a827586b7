"""What a device needs to take part: it reads a contract, checks it, turns a value into messages.

The standard library is enough for all of it.
"""

from mixtally.client.contract import Contract, Role, read
from mixtally.client.limits import Limits, checked
from mixtally.client.messages import messages
from mixtally.wire.reading import fingerprint_of, text_of

__all__ = [
    "Contract",
    "Limits",
    "Role",
    "checked",
    "fingerprint_of",
    "messages",
    "read",
    "text_of",
]
