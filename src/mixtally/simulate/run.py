"""From a crowd and its plans to a release: take records apart, play, tally, estimate."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mixtally.data.cells import Progress, quiet
from mixtally.data.population import Population
from mixtally.encode.bits import set_bits
from mixtally.encode.numbers import Scale
from mixtally.errors import DataError, ParameterError, PlanError
from mixtally.estimate.debias import PROJECTIONS, check_choices, estimate_counts
from mixtally.estimate.noise import Noises
from mixtally.ground.bits import spans
from mixtally.ground.chance import Chance
from mixtally.planner import PlanOption
from mixtally.privacy.accountant import Accountant
from mixtally.privacy.certify import verify
from mixtally.records.certificate import Certificate
from mixtally.records.mechanism import Shuffled
from mixtally.records.plan import Plan
from mixtally.records.question import Kind, Question
from mixtally.records.results import Estimate, Figures, Intervals
from mixtally.report.study import Release
from mixtally.simulate import derived
from mixtally.simulate.parts import parts, shown
from mixtally.simulate.simulate import play
from mixtally.simulate.tables import tables

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
        offer.plans, population, chance, progress, asked or Asked(),
        whole=offer.certificate if several else None, told=offer.facts(), accountant=accountant,
    )  # fmt: skip


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
      told         the facts of all plans together
      accountant   serves many collections under the same plans

    Every part is a collection of its own; estimates stand side by side in the question's order,
    with intervals that hold for all its bins at once. Raises as ``release``, DataError for records
    larger than the plan hides, ParameterError for a projection of counts that have no known sum.
    """
    if len(plans) > 1 and whole is None:
        raise TypeError("several plans promise nothing together without a certificate for all")
    crowds, mechanisms = checked(plans, population, asked, accountant)
    own, messages, noises = population.question, 0, Noises()
    found: list[Estimate] = []
    figures: list[Figures] = []
    for crowd, mechanism in zip(crowds, mechanisms, strict=True):
        fold = derived.PairFold(mechanism.layout) if asked.pairs else None
        tally = play(mechanism, crowd.records, chance, progress, fold or quiet)
        messages += tally.messages
        projection = asked.projection if crowd.question.kind is Kind.ONE else None
        estimate = estimate_counts(
            mechanism, tally, population.users, level=asked.level, projection=projection,
            together=own.bins, noises=noises,
        )  # fmt: skip
        found.append(estimate)
        if fold is not None:
            counted = (fold.counts, tally.messages)
            figures.append(derived.pairs(population, mechanism, *counted, asked.level))
            figures += tables(population, mechanism, *counted, asked.level)
        if asked.scale is not None:
            told_apart = (asked.scale, mechanism, tally.messages)
            figures.append(derived.numbers(population, *told_apart, estimate))
    shown_all = _side_by_side(own, [crowd.question for crowd in crowds], found)
    if asked.projection is not None and shown_all.projected is None:
        shown_all = _projected(own, shown_all, population.users, asked.projection)
    return Release(
        plans[0], messages, shown_all, rest=tuple(plans[1:]),
        asked=own, whole=whole, told=told, figures=tuple(figures),
    )  # fmt: skip


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
            "projection", wanted="counts that add up to the crowd",
            got=f"records of kind {own.kind}",
            do="leave it out: a person may be in any number of these bins",
        )  # fmt: skip
    crowds = parts(population, [plan.question for plan in plans])
    if any(plan.users != population.users for plan in plans):
        raise _other(plans[0], population)
    accountant = accountant or Accountant()
    mechanisms = tuple(verify(plan, accountant) for plan in plans)
    _check_sets(population)
    if asked.pairs:
        derived.check_pairs(own, mechanisms)
    return crowds, mechanisms


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


def _side_by_side(own: Question, asked: list[Question], found: list[Estimate]) -> Estimate:
    """One estimate of all parts' bins, one part after the other."""
    if len(found) == 1 and asked[0].bins == own.bins:
        return found[0]
    kept = [shown(own, question) for question in asked]
    pairs = list(zip(found, kept, strict=True))
    errors = np.concatenate([np.full(len(f.counts[k]), f.standard_error) for f, k in pairs])
    projected = [f.projected[k] for f, k in pairs if f.projected is not None]
    return Estimate(
        counts=np.concatenate([f.counts[k] for f, k in pairs]),
        standard_error=float(errors.max()),
        each=_joined([(f.each, k) for f, k in pairs], simultaneous=False),
        together=_joined([(f.together, k) for f, k in pairs], simultaneous=own.bins > 1),
        projected=np.concatenate(projected) if len(projected) == len(found) else None,
        errors=None if math.isclose(errors.min(), errors.max(), rel_tol=1e-12) else errors,
    )


def _joined(ends: list[tuple[Intervals, slice]], *, simultaneous: bool) -> Intervals:
    first = ends[0][0]
    return Intervals(
        lower=np.concatenate([i.lower[k] for i, k in ends]),
        upper=np.concatenate([i.upper[k] for i, k in ends]),
        level=first.level,
        method=" and ".join(dict.fromkeys(i.method for i, _ in ends)),
        simultaneous=simultaneous,
    )


def _projected(own: Question, found: Estimate, users: int, projection: str) -> Estimate:
    """Attributes that travelled together: every one of them is a histogram of the crowd."""
    ends = np.cumsum(own.attributes or ())[:-1].tolist()
    pieces = [
        PROJECTIONS[projection](counts, float(users)) for counts in np.split(found.counts, ends)
    ]
    return replace(found, projected=np.concatenate(pieces))
