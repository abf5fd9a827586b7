"""Contracts as files."""

from pathlib import Path

from mixtally.model.contract import Contract, fingerprint_of, read_contract
from mixtally.primitives.files import read_bytes

CONTRACT = "make one with `mixtally contract new`"


def read_contract_file(path: Path) -> tuple[Contract, str]:
    """The contract in a file and its fingerprint; raises DataError or PlanError for none."""
    data = read_bytes(path, "a contract", CONTRACT)
    return read_contract(data, str(path)), fingerprint_of(data)
