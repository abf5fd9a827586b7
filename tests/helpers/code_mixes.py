"""Mixes under a contract that asks for one-time codes."""

from helpers.mixes import Town
from mixtally.device.wire.codes import make_code, write_codes
from mixtally.device.wire.note import sign_note
from mixtally.server.mix.codes import accept_codes

CODES = [make_code(bytes([i]) * 16) for i in range(4)]
STRANGE = make_code(b"strange" + bytes(9))


def village(place, **changes):
    """A town under a contract that asks for codes, with four bundles a round at most."""
    fields = {"hops": 2, "users": 2, "most_bundles": 4, "admission": "codes", **changes}
    town = Town(place, **fields)
    town.all_awake()
    return town


def listed(town, codes=CODES, signer=-1, contract=None):
    """A list of codes, signed by one of the roles."""
    text = write_codes(contract or town.fingerprint, codes)
    return sign_note(text, town.folders[signer].signer)


def load(town, note=None):
    """Give the list to the first mix."""
    return accept_codes(town.mixes[0].node, note or listed(town), "codes.note")
