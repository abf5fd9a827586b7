"""Contracts and plans as files."""

import json
from pathlib import Path

from mixtally.records.contract import (
    Contract,
    Plan,
    fingerprint_of,
    read_contract,
    read_plan,
    text_of,
)
from mixtally.store.files import read_bytes

CONTRACT = "make one with `mixtally contract new`"


def read_any(data: bytes, subject: str) -> Contract | Plan:
    """A contract, or a plan that nobody runs yet; raises PlanError for anything else."""
    return read_contract(data, subject) if _of_contract(data) else read_plan(data, subject)


def read_contract_file(path: Path) -> tuple[Contract, str]:
    """The contract in a file and its fingerprint; raises DataError or PlanError for none."""
    data = read_bytes(path, "a contract", CONTRACT)
    return read_contract(data, str(path)), fingerprint_of(data)


def _of_contract(data: bytes) -> bool:
    """Whether these are the bytes of a contract, of this version or another: plans have no name."""
    try:
        fields = json.loads(text_of(data))
    except (ValueError, RecursionError):
        return False
    return isinstance(fields, dict) and "serial" in fields
