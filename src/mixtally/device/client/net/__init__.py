"""Taking part from a device: whom to believe, what it costs, one bundle a round, a diary of it.

Beside the standard library it needs ``cryptography``. Nothing here makes randomness but the
ephemeral keys of envelopes; nothing reads a clock.
"""

from mixtally.device.client.net.consent import told
from mixtally.device.client.net.diary import Diary
from mixtally.device.client.net.entries import Charge, Entry, State
from mixtally.device.client.net.pins import Budget, Pins, Trust, read_trust
from mixtally.device.client.net.post import Answer, post
from mixtally.device.client.net.sending import deliver, prepare, until_answered
from mixtally.device.client.net.trust import Round, Trusted, open_round, trusted

__all__ = [
    "Answer",
    "Budget",
    "Charge",
    "Diary",
    "Entry",
    "Pins",
    "Round",
    "State",
    "Trust",
    "Trusted",
    "deliver",
    "open_round",
    "post",
    "prepare",
    "read_trust",
    "told",
    "trusted",
    "until_answered",
]
