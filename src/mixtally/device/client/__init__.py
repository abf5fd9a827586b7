"""What a device needs to take part: it reads a contract, checks it, turns a value into messages.

The standard library is enough for all of it.
"""

from mixtally.device.client.limits import Limits, checked
from mixtally.device.client.messages import messages
from mixtally.device.contract.contract import Contract, read
from mixtally.device.contract.reading import fingerprint_of

__all__ = [
    "Contract",
    "Limits",
    "checked",
    "fingerprint_of",
    "messages",
    "read",
]
