"""The plan that all epochs share: a record is one message, or one message sent several times."""

from dataclasses import replace

from mixtally.errors import InfeasibleError
from mixtally.lab.simulation.offers import first
from mixtally.model.contract import Plan
from mixtally.model.question import Kind, Question
from mixtally.planning import Planner, PlanRequest, choose


def whole_plan(wish: PlanRequest, planner: Planner | None = None) -> tuple[Plan, str]:
    """The best plan that sends records whole, and why; changes are those of one batch to the next.

    Raises as ``planning.choose``, and InfeasibleError when only split records fit.
    """
    wholes = _wholes(wish.question)
    if wholes is not None and wish.protocol is None:
        wish = replace(wish, protocol=wholes)
    planner = planner or Planner()
    answer = choose(wish, planner)
    plan = first(answer, planner, lambda one: len(one.parts) == 1)
    if plan is None:
        raise InfeasibleError(
            "plan",
            wanted="records that travel whole",
            got=answer.plan.name,
            do="leave --protocol out, or ask for each bit or attribute in a series of its own",
        )
    return plan, answer.reason


def _wholes(question: Question) -> str | None:
    """The only protocol that sends such records whole; None where there is a choice."""
    if question.kind is Kind.BITS:
        return "single-bit" if question.bins == 1 else "flip"
    return "flip-blank" if question.kind is Kind.SET else None
