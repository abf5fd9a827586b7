"""Plans whose certificate is verified, from a plan or from a contract."""

from typing import NamedTuple

from mixtally.accounting.plans.terms import verify
from mixtally.api.files import contract_bytes
from mixtally.api.planning import Plan
from mixtally.model.contract import Plan as Record
from mixtally.model.contract import fingerprint_of, read_contract


class VerifiedPlan(NamedTuple):
    """A plan with a verified certificate.

    Parameters
    ----------
    fingerprint : str
        The fingerprint of the plan, or of the contract that contains it.
    plan : mixtally.model.contract.Plan
        The plan.
    """

    fingerprint: str
    plan: Record


def load_verified_plan(given: object) -> VerifiedPlan:
    """Return the plan of an argument after proving its certificate again.

    Raises
    ------
    DataError
        If the file cannot be read.
    ParameterError
        If the argument is neither a plan nor a path nor bytes.
    PlanError
        If the contract is invalid, was altered, or has a false certificate.
    """
    if isinstance(given, Plan):  # was verified by the planner or by Plan.load
        return VerifiedPlan(given.fingerprint, given.record)
    data = contract_bytes(given)
    plan = read_contract(data, "contract").plan
    verify(plan)
    return VerifiedPlan(fingerprint_of(data), plan)
