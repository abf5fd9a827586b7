"""The client: it reads a contract, checks it, and turns a value into messages.

Only the standard library is needed.
"""

from mixtally.device.client.limits import Limits, check_plan
from mixtally.device.client.messages import messages
from mixtally.device.contract.contract import Contract, parse_contract
from mixtally.device.contract.fields import fingerprint_of

__all__ = [
    "Contract",
    "Limits",
    "check_plan",
    "fingerprint_of",
    "messages",
    "parse_contract",
]
