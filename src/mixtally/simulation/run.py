"""From a crowd and its plans to a release: take records apart, play, tally, conclude."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mixtally.data.population import Population
from mixtally.encode.bits import set_bits
from mixtally.errors import DataError, ParameterError, PlanError
from mixtally.estimate.analysis import COUNTS_ALONE, Analysis
from mixtally.estimate.conclude import conclude
from mixtally.ground.bits import spans
from mixtally.planner import PlanOption
from mixtally.privacy.accountant import Accountant
from mixtally.privacy.certify import verify
from mixtally.records.certificate import Certificate
from mixtally.records.layout import Layout
from mixtally.records.mechanism import Shuffled
from mixtally.records.plan import Plan
from mixtally.records.question import Kind, Question
from mixtally.simulation.lab import Lab
from mixtally.simulation.parts import parts
from mixtally.simulation.simulate import play
from mixtally.simulation.study import Release
from mixtally.tally.pairs import no_pairs

_SPAN = 1 << 16


def release(
    plan: Plan, population: Population, lab: Lab, analysis: Analysis = COUNTS_ALONE
) -> Release:
    """The result of collecting ``population`` under ``plan``, its certificate checked first.

    Raises PlanError when the plan is for another question or crowd, or its promise is false.
    """
    if plan.question != population.question:
        raise _other(plan, population)
    return release_all((plan,), population, lab, analysis, facts=plan.facts())


def collect(
    option: PlanOption, population: Population, lab: Lab, analysis: Analysis = COUNTS_ALONE
) -> Release:
    """The result of collecting everybody's record as ``option`` says; errors as ``release_all``."""
    several = len(option.plans) > 1 or option.collections > 1
    whole = option.certificate if several else None
    return release_all(
        option.plans, population, lab, analysis, certificate=whole, facts=option.facts()
    )


def release_all(
    plans: Sequence[Plan],
    population: Population,
    lab: Lab,
    analysis: Analysis,
    *,
    certificate: Certificate | None = None,
    facts: Mapping[str, Any],
) -> Release:
    """The result of collecting everybody's record under ``plans``, one for each of its messages.

    where
      certificate   of all plans together; needed for more than one
      facts         of all plans together

    Raises as ``release``, DataError for records larger than the plan hides, ParameterError for a
    projection of counts that have no known sum.
    """
    crowds, mechanisms = checked(plans, population, analysis, lab.planner.accountant)
    tallies = [
        play(mechanism, crowd.records, lab.chance, lab.progress, pairs=analysis.pairs)
        for crowd, mechanism in zip(crowds, mechanisms, strict=True)
    ]
    question = population.question
    result = conclude(plans, tallies, analysis, question=question, certificate=certificate)
    return Release(result, facts)


def checked(
    plans: Sequence[Plan], population: Population, analysis: Analysis, accountant: Accountant
) -> tuple[list[Population], tuple[Shuffled, ...]]:
    """The crowd of each part and its mechanism, once nothing speaks against playing them."""
    analysis.check_sums(population.question)  # before the work, not after it
    crowds = parts(population, [plan.question for plan in plans])
    if any(plan.users != population.users for plan in plans):
        raise _other(plans[0], population)
    mechanisms = tuple(verify(plan, accountant) for plan in plans)
    _check_sets(population)
    if analysis.pairs:
        check_pairs(population.question, [each.layout for each in mechanisms])
    return crowds, mechanisms


def check_pairs(question: Question, layouts: Sequence[Layout]) -> None:
    """Raises ParameterError when no message carries two bits, or too many, and as ``no_pairs``."""
    if question.kind is Kind.ONE or question.bins < 2 or len(layouts) > 1:
        raise ParameterError(
            "pairs",
            wanted="records of several bits that travel whole",
            got="a message for every bit or attribute" if len(layouts) > 1 else "single values",
            do="add --protocol flip for bits, --protocol flip-blank with fewer messages a user "
            "for attributes"
            if len(layouts) > 1
            else "leave --pairs out",
        )
    no_pairs(layouts[0])


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
