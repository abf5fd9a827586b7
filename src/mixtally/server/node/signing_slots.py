"""Slots: for each slot, such as the sheet of one round, a role signs at most one text.

Signing the same text again is allowed. This rule prevents a role from signing different contracts,
sheets or manifests for different peers.
"""

from typing import NamedTuple

from mixtally.device.contract.roles import format_verifier_key
from mixtally.device.wire.rotation import Rotation
from mixtally.model.agreement import Agreement
from mixtally.server.node.rounds import RoundRow

Slot = str
"""The identifier of a slot: a kind of note and its subject, in one string."""


class Entry(NamedTuple):
    """Kind and subject of a note."""

    slot: Slot
    """The slot of the note, for which its signer signs only one text."""
    kind: str
    contract: str
    """Fingerprint of the contract; empty for a rotation, which belongs to all of them."""
    round: int = 0
    """Number of the round; 0 for a contract."""
    hop: int = 0
    """Hop that signs a manifest or receipt; 0 for other kinds."""


class NamedContract(NamedTuple):
    """The fingerprint, name and serial of a contract, which this role need not serve."""

    contract: str
    name: str
    serial: int


def contract_entry(agreement: Agreement | NamedContract) -> Entry:
    """Return the entry under which a contract is signed. Each name and serial has one entry."""
    return Entry(f"contract {agreement.name} {agreement.serial}", "contract", agreement.contract)


def sheet_entry(agreement: Agreement | NamedContract, number: int) -> Entry:
    """Return the entry under which a sheet is signed.

    There is one entry for each name and round number, which all serials of the name share.
    """
    return Entry(f"sheet {agreement.name} {number}", "sheet", agreement.contract, number)


def withdrawal_entry(row: RoundRow) -> Entry:
    """Return the entry under which a withdrawal is signed. Each sheet has one entry."""
    return Entry(f"withdrawal {row.sheet}", "withdrawal", row.contract, row.round)


def manifest_entry(row: RoundRow, hop: int) -> Entry:
    """Return the entry under which the manifest of this round and hop is signed.

    There is one entry for each round and hop, so a hop signs one manifest for a round.
    """
    return Entry(f"manifest {row.sheet} {hop}", "manifest", row.contract, row.round, hop)


def receipt_entry(row: RoundRow, hop: int) -> Entry:
    """Return the entry under which the receipt of this round and hop is signed.

    There is one entry for each round and hop, so a role signs one receipt for a round.
    """
    return Entry(f"receipt {row.sheet} {hop}", "receipt", row.contract, row.round, hop)


def rotation_entry(rotation: Rotation) -> Entry:
    """Return the entry under which a rotation is signed. Each replaced key has one entry."""
    return Entry(f"rotation {format_verifier_key(rotation.role, rotation.old)}", "rotation", "")
