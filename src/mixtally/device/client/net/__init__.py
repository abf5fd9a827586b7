"""Taking part from a device: whom to believe, what it costs, one bundle a round, a diary of it.

Beside the standard library it needs ``cryptography``. Nothing here makes randomness but the
ephemeral keys of envelopes; nothing reads a clock.
"""

from mixtally.device.client.net.consent import describe_consent
from mixtally.device.client.net.diary import Diary
from mixtally.device.client.net.entries import BundleState, DiaryCharge, Entry
from mixtally.device.client.net.pins import Budget, Pins, Trust, read_trust
from mixtally.device.client.net.requests import PostResult, post
from mixtally.device.client.net.sending import deliver, deliver_until_answered, prepare
from mixtally.device.client.net.trust import OpenRound, TrustedContract, open_round, verify_contract

__all__ = [
    "Budget",
    "BundleState",
    "Diary",
    "DiaryCharge",
    "Entry",
    "OpenRound",
    "Pins",
    "PostResult",
    "Trust",
    "TrustedContract",
    "deliver",
    "deliver_until_answered",
    "describe_consent",
    "open_round",
    "post",
    "prepare",
    "read_trust",
    "verify_contract",
]
