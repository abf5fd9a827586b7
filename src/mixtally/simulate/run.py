"""From a crowd and its plans to a release: take records apart, play, tally, conclude."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mixtally.data.cells import Progress, quiet
from mixtally.data.population import Population
from mixtally.encode.bits import set_bits
from mixtally.encode.numbers import Scale
from mixtally.errors import DataError, ParameterError, PlanError
from mixtally.estimate.conclude import conclude
from mixtally.estimate.debias import check_choices
from mixtally.ground.bits import spans
from mixtally.ground.chance import Chance
from mixtally.planner import PlanOption
from mixtally.privacy.accountant import Accountant
from mixtally.privacy.certify import verify
from mixtally.records.certificate import Certificate
from mixtally.records.mechanism import Shuffled
from mixtally.records.plan import Plan
from mixtally.records.question import Kind, Question
from mixtally.records.results import Figures
from mixtally.simulate.parts import parts
from mixtally.simulate.simulate import play
from mixtally.simulate.study import Release
from mixtally.tally.pairs import no_pairs

_SPAN = 1 << 16


@dataclass(frozen=True, slots=True)
class Asked:
    """What is wanted of a release besides counts at ``level``.

    where
      projection   None, or the name of one
      scale        where numbers were cut, to tell mean and quantiles; None for no numbers
      pairs        whether to count how many people have both of two bits
    """

    level: float = 0.95
    projection: str | None = None
    scale: Scale | None = None
    pairs: bool = False


def release(
    plan: Plan,
    population: Population,
    chance: Chance,
    progress: Progress,
    *,
    level: float = 0.95,
    projection: str | None = None,
) -> Release:
    """The result of collecting ``population`` under ``plan``, its certificate checked first.

    Raises PlanError when the plan is for another question or crowd, or its promise is false.
    """
    if plan.question != population.question:
        raise _other(plan, population)
    asked = Asked(level=level, projection=projection)
    return release_all((plan,), population, chance, progress, asked)


def collect(
    offer: PlanOption,
    population: Population,
    chance: Chance,
    asked: Asked | None = None,
    progress: Progress = quiet,
    accountant: Accountant | None = None,
) -> Release:
    """The result of collecting everybody's record as ``offer`` says; errors as ``release_all``."""
    several = len(offer.plans) > 1 or offer.collections > 1
    return release_all(
        offer.plans,
        population,
        chance,
        progress,
        asked or Asked(),
        whole=offer.certificate if several else None,
        told=offer.facts(),
        accountant=accountant,
    )


def release_all(
    plans: Sequence[Plan],
    population: Population,
    chance: Chance,
    progress: Progress,
    asked: Asked,
    *,
    whole: Certificate | None = None,
    told: Mapping[str, Any] | None = None,
    accountant: Accountant | None = None,
) -> Release:
    """The result of collecting everybody's record under ``plans``, one for each of its messages.

    where
      whole        the certificate of all plans together; needed for more than one
      told         the facts of all plans together; those of the plan when left out
      accountant   serves many collections under the same plans

    Raises as ``release``, DataError for records larger than the plan hides, ParameterError for a
    projection of counts that have no known sum.
    """
    crowds, mechanisms = checked(plans, population, asked, accountant)
    tallies = [
        play(mechanism, crowd.records, chance, progress, pairs=asked.pairs)
        for crowd, mechanism in zip(crowds, mechanisms, strict=True)
    ]
    result = conclude(
        plans,
        tallies,
        question=population.question,
        certificate=whole,
        level=asked.level,
        projection=asked.projection,
        edges=None if asked.scale is None else asked.scale.edges,
    )
    if population.note:
        result = replace(
            result, figures=tuple(_noted(one, population.note) for one in result.figures)
        )
    return Release(result, plans[0].facts() if told is None else dict(told))


def _noted(figures: Figures, note: str) -> Figures:
    """Numbers as they are, with what was done to the data on the way in."""
    if figures.name != "numbers":
        return figures
    return replace(figures, note=f"{figures.note} {note}")


def checked(
    plans: Sequence[Plan],
    population: Population,
    asked: Asked,
    accountant: Accountant | None = None,
) -> tuple[list[Population], tuple[Shuffled, ...]]:
    """The crowd of each part and its mechanism, once nothing speaks against playing them."""
    check_choices(asked.level, asked.projection)  # before the work, not after it
    own = population.question
    if own.kind is not Kind.ONE and asked.projection and own.attributes is None:
        raise ParameterError(
            "projection",
            wanted="counts that add up to the crowd",
            got=f"records of kind {own.kind}",
            do="leave it out: a person may be in any number of these bins",
        )
    crowds = parts(population, [plan.question for plan in plans])
    if any(plan.users != population.users for plan in plans):
        raise _other(plans[0], population)
    accountant = accountant or Accountant()
    mechanisms = tuple(verify(plan, accountant) for plan in plans)
    _check_sets(population)
    if asked.pairs:
        _check_pairs(own, mechanisms)
    return crowds, mechanisms


def _check_pairs(question: Question, mechanisms: tuple[Shuffled, ...]) -> None:
    """Raises ParameterError when no message carries two bits, or too many."""
    if question.kind is Kind.ONE or question.bins < 2 or len(mechanisms) > 1:
        raise ParameterError(
            "pairs",
            wanted="records of several bits that travel whole",
            got="a message for every bit or attribute" if len(mechanisms) > 1 else "single values",
            do="add --protocol flip for bits, --protocol flip-blank with fewer messages a user "
            "for attributes"
            if len(mechanisms) > 1
            else "leave --pairs out",
        )
    no_pairs(mechanisms[0].layout)


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
