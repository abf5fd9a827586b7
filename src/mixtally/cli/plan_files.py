"""Plans, alone or in a contract, as files that a command is given."""

from pathlib import Path

from mixtally.accounting.accountant import Accountant
from mixtally.accounting.plans.terms import verify
from mixtally.app.contracts import read_plan_or_contract
from mixtally.model.contract import Part, Plan
from mixtally.primitives.files import read_bytes


def read_plan(path: Path) -> Plan:
    """The plan in a file, or that of a contract; raises PlanError for anything else."""
    read = read_plan_or_contract(read_bytes(path, "a plan file"), str(path))
    return read if isinstance(read, Plan) else read.plan


def read_verified(path: Path) -> Plan:
    """The plan in a file, once its certificate was proved again."""
    plan = read_plan(path)
    verify(plan, Accountant())
    return plan


def single_part(plan: Plan) -> Part:
    """The one message of a record; raises PlanError where there are several."""
    return plan.single_part(
        "plan with another --protocol, or play the whole with `mixtally simulate`"
    )


def describe_given_plan(path: Path) -> str:
    """Why a plan that was given is what it is."""
    return f"The plan was given: {path}."
