"""Files of plans and contracts that a command reads."""

from pathlib import Path

from mixtally.accounting.accountant import Accountant
from mixtally.accounting.plans.terms import verify
from mixtally.app.contracts import read_plan_or_contract
from mixtally.model.contract import Contract, Plan, fingerprint_of, read_contract
from mixtally.primitives.files import read_bytes

CONTRACT = "create a contract with `mixtally contract new`"


def read_contract_file(path: Path) -> tuple[Contract, str]:
    """Return the contract in a file and its fingerprint.

    Raises DataError if the file cannot be read, PlanError if it is not a contract.
    """
    data = read_bytes(path, "a contract", CONTRACT)
    return read_contract(data, str(path)), fingerprint_of(data)


def read_plan(path: Path) -> Plan:
    """Return the plan in a file of a plan or a contract; raise PlanError for any other file."""
    read = read_plan_or_contract(read_bytes(path, "a plan file"), str(path))
    return read if isinstance(read, Plan) else read.plan


def read_verified(path: Path) -> Plan:
    """Return the plan in a file of a plan or a contract, after verifying its certificate."""
    plan = read_plan(path)
    verify(plan, Accountant())
    return plan


def describe_given_plan(path: Path) -> str:
    """Return the sentence that states that the user chose the plan in this file."""
    return f"The plan was read from {path}."
