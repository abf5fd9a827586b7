"""Files of contracts."""

from pathlib import Path

from mixtally.model.contract import Contract, fingerprint_of, read_contract
from mixtally.primitives.files import read_bytes

CONTRACT = "create a contract with `mixtally contract new`"


def read_contract_file(path: Path) -> tuple[Contract, str]:
    """Return the contract in a file and its fingerprint; raise DataError or PlanError."""
    data = read_bytes(path, "a contract", CONTRACT)
    return read_contract(data, str(path)), fingerprint_of(data)
