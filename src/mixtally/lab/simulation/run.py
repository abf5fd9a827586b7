"""Simulation of one release: check the plan, split records, play the round, and conclude."""

from dataclasses import replace

import numpy as np

from mixtally.accounting.accountant import Accountant
from mixtally.accounting.plans.terms import verify
from mixtally.errors import DataError, MessageError, ParameterError, PlanError, pluralize
from mixtally.lab.data.epoch_counts import EpochCounts
from mixtally.lab.data.population import Population
from mixtally.lab.data.timeline import Timeline
from mixtally.lab.simulation.lab import Lab
from mixtally.lab.simulation.parts import split_population
from mixtally.lab.simulation.play import ALL_HONEST, DishonestHops, play
from mixtally.lab.simulation.study import Refusal, Release
from mixtally.model.contract import Plan
from mixtally.model.question import Kind, Question
from mixtally.protocol.estimate.analysis import COUNTS_ALONE, Analysis
from mixtally.protocol.estimate.conclude import conclude
from mixtally.protocol.tally.pairs import empty_pairs


def simulate_release(
    plan: Plan,
    population: Population,
    lab: Lab,
    analysis: Analysis = COUNTS_ALONE,
    hops: DishonestHops = ALL_HONEST,
) -> Release:
    """Simulate one round: verify the plan's certificate, then randomize, mix, tally and estimate.

    Dishonest ``hops`` may cause numbers of messages that contradict each other. In this case the
    conclusion of the release is a `Refusal`.

    Raises
    ------
    PlanError
        If the plan is for another question or more people, or its certificate is false.
    DataError
        If a set has more members than the plan hides.
    ParameterError
        If a dishonest hop does not exist, or if the analysis does not suit the records.
    """
    check_population(plan, population, analysis, lab.planner.accountant)
    records = [crowd.records for crowd in split_population(population, plan.questions)]
    played = play(plan, records, lab.chance, lab.progress, hops=hops, pairs=analysis.pairs)
    try:
        expected = replace(analysis, across=lab.across)
        result = conclude(plan, played.tallies, expected, received=played.received)
    # As in a real round, nothing is released if numbers are inconsistent. A simulation shows the
    # refusal.
    except MessageError as error:
        return Release(Refusal(plan, played.received, error), played.leaked)
    return Release(result, played.leaked)


def check_population(
    plan: Plan, population: Population, analysis: Analysis, accountant: Accountant
) -> None:
    """Raise the errors that ``simulate_release`` would raise, before any work is done."""
    check_rounded(plan, population)
    check_crowd(plan, population.question, population.users, accountant, analysis)
    _check_sets(population)
    _check_pairs(plan, analysis)


def check_rounded(plan: Plan, crowd: Population | Timeline | EpochCounts) -> None:
    """Raise PlanError if the numbers were not rounded to the grid of the plan."""
    if crowd.grid != plan.grid or (crowd.grid is None) != (crowd.values is None):
        raise PlanError(
            "numbers",
            expected="numbers rounded to the grid of the plan",
            got="others",
            do="round the numbers to that grid, with fresh randomness in every round",
        )


def check_crowd(
    plan: Plan,
    question: Question,
    users: int,
    accountant: Accountant,
    analysis: Analysis = COUNTS_ALONE,
) -> None:
    """Check that a plan is valid for this question and number of people.

    Raises PlanError if the plan is not valid or its certificate is false. Raises ParameterError if
    ``analysis`` does not suit the question: for example, if it requests a projection, which needs
    counts with a known sum.
    """
    analysis.check_sums(question)  # a wrong request must fail before the round, not after it
    analysis.check_listed(question)
    analysis.check_compared(question)
    if plan.question != question or users < plan.minimum_crowd:
        raise PlanError(
            "plan",
            expected=f"a plan for {users:,} users and {_describe_question(question)}",
            got=f"one for {plan.minimum_crowd:,} and more, and {_describe_question(plan.question)}",
            do="plan again for this data: a round with fewer people is destroyed",
        )
    verify(plan, accountant)


def _describe_question(question: Question) -> str:
    return f"the {pluralize(question.bins, 'bin')} of {question.name!r}"


def _check_pairs(plan: Plan, analysis: Analysis) -> None:
    """Raise ParameterError if pairs are requested, but messages have one bit or too many bits."""
    question, first = plan.question, plan.parts[0]
    several = len(plan.parts) > 1 or first.pads > 0 or first.slots is not None
    if not analysis.pairs:
        return
    if question.kind is Kind.ONE or question.bins < 2 or several:
        raise ParameterError(
            "pairs",
            expected="records of several bits that are sent whole",
            got="a message for every bit, member or attribute" if several else "single values",
            do="add --protocol flip for bits, --protocol flip-blank for sets, and with fewer "
            "messages per user for attributes"
            if several
            else "leave --pairs out",
        )
    empty_pairs(plan.parts[0].layout)


def _check_sets(population: Population) -> None:
    """Raise DataError for the first record that has more bins than its question allows."""
    question = population.question
    if question.kind is not Kind.SET:
        return
    sizes = population.sizes
    offenders = np.flatnonzero(sizes > question.max_set)
    if offenders.size:
        first = int(offenders[0])
        raise DataError(
            f"record {first + 1}",
            expected=f"at most {pluralize(question.max_set, 'bin')} in a record",
            got=f"{int(sizes[first])}",
            do="plan with a larger --max-set",
        )
