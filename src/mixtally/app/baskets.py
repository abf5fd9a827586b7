"""Items that people hold together, and rules between them."""

from dataclasses import dataclass, replace
from typing import Annotated

from mixtally.app.limits import BudgetOptions, wish_of
from mixtally.app.options import option, whole_option
from mixtally.app.outcome import Outcome, Run
from mixtally.data.population import Population
from mixtally.errors import ParameterError, in_range
from mixtally.records.contract import write_plan
from mixtally.records.guarantee import Guarantee
from mixtally.report.numbers import error_text
from mixtally.simulation import offers
from mixtally.simulation.baskets.document import document
from mixtally.simulation.baskets.facts import facts, published
from mixtally.simulation.baskets.find import find_sets
from mixtally.simulation.lab import Provenance

_WHOLE = "flip-blank"
"""Sends baskets whole, among blanks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FindOptions:
    """Which sets and rules are wanted."""

    support: Annotated[
        int, whole_option("--support", "Only sets that certainly more people than this hold.")
    ] = 0
    confidence: Annotated[
        float,
        option("--confidence", "Only rules whose confidence is certainly at least this.", "C"),
    ] = 0.0
    largest: Annotated[
        int, whole_option("--largest", "Most items of a set that is looked for, 2 to 8.")
    ] = 3


def check(find: FindOptions, budget: BudgetOptions) -> None:
    """Raises ParameterError for ends that mean nothing, and for another protocol."""
    in_range("confidence", find.confidence, 0.0, 1.0, "0 shows all rules")
    if budget.trust.protocol not in (None, _WHOLE):
        raise ParameterError(
            "--protocol",
            wanted=f"{_WHOLE}, which sends baskets whole",
            got=repr(budget.trust.protocol),
            do="leave it out",
        )


def baskets(
    crowd: Population, promised: Guarantee, find: FindOptions, budget: BudgetOptions, run: Run
) -> Outcome:
    """Find sets of items that people hold, and rules between them.

    Raises ParameterError for an option outside its range, InfeasibleError when nothing fits.
    """
    check(find, budget)
    wish = wish_of(budget, crowd.question, promised, crowd.users)
    plan, _ = offers.best(replace(wish, protocol=_WHOLE), run.lab.planner, pairs=True)
    found = find_sets(
        plan, crowd, run.lab, support=find.support, level=run.level, largest=find.largest
    )
    about = Provenance(
        title=f"Items of {crowd.question.name!r} that are held together",
        source=run.source,
        raw=crowd.note,
        reason="Baskets are sent whole among blanks (flip-blank), so that the items of one can be "
        f"counted together: a standard error of {error_text(plan.standard_error)} counts.",
        seed=run.seed,
    )
    return Outcome(
        document=document(found, facts(found, about, find.confidence, crowd), run.top),
        from_data=crowd.from_data,
        plain=document(found, published(found, about, find.confidence), run.top),
        seeded=run.seed is not None,
        more={"plan.json": write_plan(plan)},
    )
