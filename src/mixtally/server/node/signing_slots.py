"""Slots: what a role signs at most one text of. The same text again is no second one."""

from typing import NamedTuple

from mixtally.model.agreement import Agreement
from mixtally.server.node.rounds import RoundRow

Slot = str
"""A kind and what it is of, in one string."""


class Entry(NamedTuple):
    """Where a note belongs.

    where
      slot       of which its signer signs one text
      contract   fingerprint
      round      its number; 0 for a contract
      hop        whose word it is, for manifests and receipts; 0 for others
    """

    slot: Slot
    kind: str
    contract: str
    round: int = 0
    hop: int = 0


def contract_entry(of: Agreement) -> Entry:
    """One contract a name and serial."""
    return Entry(f"contract {of.name} {of.serial}", "contract", of.contract)


def sheet_entry(of: Agreement, number: int) -> Entry:
    """One sheet a round, over all serials of a name."""
    return Entry(f"sheet {of.name} {number}", "sheet", of.contract, number)


def withdrawal_entry(row: RoundRow) -> Entry:
    """One withdrawal a sheet."""
    return Entry(f"withdrawal {row.sheet}", "withdrawal", row.contract, row.round)


def manifest_entry(row: RoundRow, hop: int) -> Entry:
    """One batch a round and hop."""
    return Entry(f"manifest {row.sheet} {hop}", "manifest", row.contract, row.round, hop)


def receipt_entry(row: RoundRow, hop: int) -> Entry:
    """One receipt a round and hop."""
    return Entry(f"receipt {row.sheet} {hop}", "receipt", row.contract, row.round, hop)
