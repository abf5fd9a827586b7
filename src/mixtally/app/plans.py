"""A plan as a file or a page, and what one promises beside what is expected of it."""

from pathlib import Path

from mixtally.app.approval import approval
from mixtally.planner import Forecast
from mixtally.records.contract import Contract, Plan, fingerprint_of, write_contract, write_plan
from mixtally.report.document import Promise
from mixtally.report.page import page
from mixtally.report.promise import of_plan


def promise_lines(plan: Plan, expected: Forecast) -> Promise:
    """What the plan protects from whom, what that assumes, and the error to expect."""
    return of_plan(plan, expected.level, expected.half_width)


def is_page(path: Path) -> bool:
    """Whether a page is wanted at ``path``, by how its name ends."""
    return path.suffix.lower() in (".html", ".htm")


def plan_file(plan: Plan, path: Path) -> bytes:
    """What stands in the file at ``path``: the plan, or its page for approval."""
    return page(approval(plan, plan.fingerprint)).encode() if is_page(path) else write_plan(plan)


def contract_file(contract: Contract, path: Path) -> bytes:
    """What stands in the file at ``path``: the contract, or its page for approval."""
    data = write_contract(contract)
    if not is_page(path):
        return data
    return page(approval(contract.plan, fingerprint_of(data), contract)).encode()
