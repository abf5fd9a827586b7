"""Taking part over a network.

The package verifies contracts, limits what a person spends, sends one bundle per round, and keeps
a diary.

This package needs ``cryptography`` in addition to the standard library. It reads no clock. The only
random values that it creates are the ephemeral keys of envelopes. A *bundle* is everything that a
device sends in a round. The *sheet* of a round has its times and the public keys of the roles.
"""

from mixtally.device.client.net.consent import describe_consent
from mixtally.device.client.net.diary import Diary
from mixtally.device.client.net.entries import BundleState, DiaryCharge, Entry
from mixtally.device.client.net.pins import Budget, Pins, Trust, move_pins, read_trust
from mixtally.device.client.net.requests import PostResult, post
from mixtally.device.client.net.sending import deliver, deliver_until_answered, prepare
from mixtally.device.client.net.trust import OpenRound, TrustedContract, open_round, verify_contract
from mixtally.device.client.net.watch import Loss, RoleAnswer, WatchReport, check_arrival

__all__ = [
    "Budget",
    "BundleState",
    "Diary",
    "DiaryCharge",
    "Entry",
    "Loss",
    "OpenRound",
    "Pins",
    "PostResult",
    "RoleAnswer",
    "Trust",
    "TrustedContract",
    "WatchReport",
    "check_arrival",
    "deliver",
    "deliver_until_answered",
    "describe_consent",
    "move_pins",
    "open_round",
    "post",
    "prepare",
    "read_trust",
    "verify_contract",
]
