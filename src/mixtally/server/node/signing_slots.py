"""Slots, for each of which a role signs at most one text.

Signing the same text again is allowed. This rule prevents a role from giving different peers
different contracts, sheets or manifests.
"""

from typing import NamedTuple

from mixtally.model.agreement import Agreement
from mixtally.server.node.rounds import RoundRow

Slot = str
"""A kind of note and its subject, in one string."""


class Entry(NamedTuple):
    """Kind and subject of a note."""

    slot: Slot
    """Slot for which its signer signs one text."""
    kind: str
    contract: str
    """Fingerprint of the contract."""
    round: int = 0
    """Number of the round; 0 for a contract."""
    hop: int = 0
    """Hop that signs a manifest or receipt; 0 for other kinds."""


def contract_entry(agreement: Agreement) -> Entry:
    """Return the entry of a contract: one for each name and serial."""
    return Entry(f"contract {agreement.name} {agreement.serial}", "contract", agreement.contract)


def sheet_entry(agreement: Agreement, number: int) -> Entry:
    """Return the entry of a sheet: one for each round number, over all serials of a name."""
    return Entry(f"sheet {agreement.name} {number}", "sheet", agreement.contract, number)


def withdrawal_entry(row: RoundRow) -> Entry:
    """Return the entry of a withdrawal: one for each sheet."""
    return Entry(f"withdrawal {row.sheet}", "withdrawal", row.contract, row.round)


def manifest_entry(row: RoundRow, hop: int) -> Entry:
    """Return the entry of a manifest: one for each round and hop."""
    return Entry(f"manifest {row.sheet} {hop}", "manifest", row.contract, row.round, hop)


def receipt_entry(row: RoundRow, hop: int) -> Entry:
    """Return the entry of a receipt: one for each round and hop."""
    return Entry(f"receipt {row.sheet} {hop}", "receipt", row.contract, row.round, hop)
