"""Slots: what a role signs at most one text of. The same text again is no second one."""

from typing import NamedTuple

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


def contract_entry(contract: str, name: str, serial: int) -> Entry:
    """One contract a name and serial."""
    return Entry(f"contract {name} {serial}", "contract", contract)


def sheet_entry(contract: str, name: str, number: int) -> Entry:
    """One sheet a round, over all serials of a name."""
    return Entry(f"sheet {name} {number}", "sheet", contract, number)


def withdrawal_entry(contract: str, number: int, sheet: str) -> Entry:
    """One withdrawal a sheet."""
    return Entry(f"withdrawal {sheet}", "withdrawal", contract, number)


def manifest_entry(contract: str, number: int, sheet: str, hop: int) -> Entry:
    """One batch a round and hop."""
    return Entry(f"manifest {sheet} {hop}", "manifest", contract, number, hop)


def receipt_entry(contract: str, number: int, sheet: str, hop: int) -> Entry:
    """One receipt a round and hop."""
    return Entry(f"receipt {sheet} {hop}", "receipt", contract, number, hop)
