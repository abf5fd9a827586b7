"""What people answer under, as it is given: a plan, or the contract in a file or in bytes."""

from typing import NamedTuple

from mixtally.accounting.plans.terms import verify
from mixtally.api.contracts import contract_bytes
from mixtally.api.planning import Plan
from mixtally.model.contract import Plan as Record
from mixtally.model.contract import fingerprint_of, read_contract


class VerifiedPlan(NamedTuple):
    """A plan whose promise holds.

    where
      fingerprint   of the plan, or of the contract that it stands in
    """

    fingerprint: str
    plan: Record


def load_verified_plan(given: object) -> VerifiedPlan:
    """The plan that is ``given``, by itself or in a contract, whose numbers are proved again.

    Raises as ``contract_bytes``, and PlanError for what is no contract, was altered or promises
    what is not true.
    """
    if isinstance(given, Plan):  # which was proved when it was made
        return VerifiedPlan(given.fingerprint, given.record)
    data = contract_bytes(given)
    plan = read_contract(data, "contract").plan
    verify(plan)
    return VerifiedPlan(fingerprint_of(data), plan)
