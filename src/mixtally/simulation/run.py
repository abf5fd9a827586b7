"""From a crowd and its plan to a release: take records apart, play, tally, conclude."""

import numpy as np

from mixtally.data.population import Population
from mixtally.encode.bits import set_bits
from mixtally.errors import DataError, ParameterError, PlanError
from mixtally.estimate.analysis import COUNTS_ALONE, Analysis
from mixtally.estimate.conclude import conclude
from mixtally.ground.bits import spans
from mixtally.privacy.accountant import Accountant
from mixtally.privacy.terms import verify
from mixtally.records.contract import Plan
from mixtally.records.question import Kind
from mixtally.simulation.lab import Lab
from mixtally.simulation.parts import parts
from mixtally.simulation.play import play
from mixtally.simulation.study import Release
from mixtally.tally.pairs import no_pairs

_SPAN = 1 << 16


def release(
    plan: Plan, population: Population, lab: Lab, analysis: Analysis = COUNTS_ALONE
) -> Release:
    """The result of collecting everybody's record under ``plan``, its certificate checked first.

    Raises PlanError when the plan is for another question or crowd, or its promise is false,
    DataError for records larger than the plan hides, ParameterError for a projection of counts that
    have no known sum.
    """
    crowds = checked(plan, population, analysis, lab.planner.accountant)
    records = [crowd.records for crowd in crowds]
    played = play(plan, records, lab.chance, lab.progress, pairs=analysis.pairs)
    return Release(conclude(plan, played.tallies, analysis, received=played.received))


def checked(
    plan: Plan, population: Population, analysis: Analysis, accountant: Accountant
) -> list[Population]:
    """The crowd of each part, once nothing speaks against playing them."""
    analysis.check_sums(population.question)  # before the work, not after it
    if plan.question != population.question or plan.users != population.users:
        raise _other(plan, population)
    verify(plan, accountant)
    _check_sets(population)
    check_pairs(plan, analysis)
    return parts(population, plan.questions)


def check_pairs(plan: Plan, analysis: Analysis) -> None:
    """Raises ParameterError where pairs are wanted and no message carries two bits, or too many."""
    question, several = plan.question, len(plan.parts) > 1
    if not analysis.pairs:
        return
    if question.kind is Kind.ONE or question.bins < 2 or several:
        raise ParameterError(
            "pairs",
            wanted="records of several bits that travel whole",
            got="a message for every bit or attribute" if several else "single values",
            do="add --protocol flip for bits, --protocol flip-blank with fewer messages a user "
            "for attributes"
            if several
            else "leave --pairs out",
        )
    no_pairs(plan.parts[0].layout)


def _other(plan: Plan, population: Population) -> PlanError:
    return PlanError(
        "plan",
        wanted=f"a plan for {population.users:,} users and the {population.question.bins:,} bins "
        f"of {population.question.name!r}",
        got=f"one for {plan.users:,} users and the {plan.question.bins:,} bins of "
        f"{plan.question.name!r}",
        do="plan again for this data",
    )


def _check_sets(population: Population) -> None:
    """Raises DataError for the first record that sets more bins than its question allows."""
    question = population.question
    if question.kind is not Kind.SET:
        return
    for span in spans(population.users, _SPAN):
        sizes = set_bits(population.records[span].astype(np.uint8, copy=False))
        offenders = np.flatnonzero(sizes > question.max_set)
        if offenders.size:
            first = int(offenders[0])
            raise DataError(
                f"record {span.start + first + 1}",
                wanted=f"at most {question.max_set} bins set",
                got=f"{int(sizes[first])}",
                do="plan with a larger --max-set",
            )
