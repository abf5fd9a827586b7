"""Counts with intervals, and whatever else the same messages tell: pairs, tables, numbers."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from mixtally.errors import PlanError
from mixtally.estimate.conclude.numbers import numbers
from mixtally.estimate.conclude.pairs import correlations_and_tables, pairs
from mixtally.estimate.debias import PROJECTIONS, check_choices, estimate_counts
from mixtally.estimate.noise import Noises
from mixtally.records.certificate import Certificate
from mixtally.records.plan import Plan
from mixtally.records.question import Kind, Question
from mixtally.records.result import Result
from mixtally.records.results import Estimate, Figures, Intervals, Tally


def conclude(
    plans: Sequence[Plan],
    tallies: Sequence[Tally],
    *,
    question: Question | None = None,
    certificate: Certificate | None = None,
    users: int | None = None,
    level: float = 0.95,
    projection: str | None = None,
    edges: NDArray[np.float64] | None = None,
    noises: Noises | None = None,
) -> Result:
    """What the tallies of one collection tell, each made under its plan.

    where
      plans         one for each message of a record, in their order
      question      of the whole record; that of the plan when left out
      certificate   of all plans together; needed for more than one
      users         people who took part; those of the plan when left out
      level         confidence level of all intervals, in (0, 1)
      projection    None, or "simplex" for the nearest histogram, beside the unbiased counts
      edges         shape (bins + 1,), where numbers were cut into bins, to tell mean and quantiles
      noises        shared by many conclusions that are alike, which saves their time

    Every part is a collection of its own; estimates stand side by side in the question's order,
    with intervals that hold for all its bins at once. Tallies that count pairs tell who has both of
    two bits as well.

    Raises PlanError for tallies that are not one for each plan, ParameterError for a level or a
    projection that is not there, MessageError for messages missing or too many.
    """
    if not plans or len(plans) != len(tallies):
        raise PlanError(
            "conclude",
            wanted="a tally for every plan",
            got=f"{len(plans)} and {len(tallies)}",
            do="give them in the order of a record's messages",
        )
    first = plans[0]
    if len(plans) > 1 and certificate is None:
        raise TypeError("several plans promise nothing together without a certificate for all")
    check_choices(level, projection)
    own, people, noises = question or first.question, users or first.users, noises or Noises()
    estimates: list[Estimate] = []
    figures: list[Figures] = []
    for plan, tally in zip(plans, tallies, strict=True):
        alone = projection if plan.question.kind is Kind.ONE else None
        estimate = estimate_counts(
            plan.mechanism,
            tally,
            people,
            level=level,
            projection=alone,
            together=own.bins,
            noises=noises,
        )
        estimates.append(estimate)
        if tally.pairs is not None:
            figures.append(pairs(own, plan.mechanism, tally, level))
            figures += correlations_and_tables(own, plan.mechanism, tally, level)
        if edges is not None:
            figures.append(numbers(own, plan.mechanism, tally.messages, estimate, edges, people))
    every = _side_by_side(own, [plan.question for plan in plans], estimates)
    if projection is not None and every.projected is None:
        every = _projected(own, every, people, projection)
    return Result(
        plans=tuple(plans),
        question=own,
        certificate=certificate or first.certificate,
        messages=sum(tally.messages for tally in tallies),
        estimate=every,
        figures=tuple(figures),
    )


def counted(question: Question, part: Question) -> slice:
    """The bins of a part that are counted for the record: of a bit in clear only yes."""
    return slice(1, 2) if question.kind is Kind.BITS and part.kind is Kind.ONE else slice(None)


def _side_by_side(own: Question, asked: list[Question], found: list[Estimate]) -> Estimate:
    """One estimate of all parts' bins, one part after the other."""
    if len(found) == 1 and asked[0].bins == own.bins:
        return found[0]
    places = [counted(own, question) for question in asked]
    pairs = list(zip(found, places, strict=True))
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


def _joined(bounds: list[tuple[Intervals, slice]], *, simultaneous: bool) -> Intervals:
    first = bounds[0][0]
    return Intervals(
        lower=np.concatenate([i.lower[k] for i, k in bounds]),
        upper=np.concatenate([i.upper[k] for i, k in bounds]),
        level=first.level,
        method=" and ".join(dict.fromkeys(i.method for i, _ in bounds)),
        simultaneous=simultaneous,
    )


def _projected(own: Question, found: Estimate, users: int, projection: str) -> Estimate:
    """Attributes that travelled together: every one of them is a histogram of the crowd."""
    ends = np.cumsum(own.attributes or ())[:-1].tolist()
    pieces = [
        PROJECTIONS[projection](counts, float(users)) for counts in np.split(found.counts, ends)
    ]
    return replace(found, projected=np.concatenate(pieces))
