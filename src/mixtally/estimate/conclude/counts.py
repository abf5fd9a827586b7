"""Counts with intervals, and whatever else the same messages tell: pairs, tables, numbers."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from mixtally.errors import PlanError
from mixtally.estimate.analysis import COUNTS_ALONE, Analysis
from mixtally.estimate.conclude.numbers import numbers
from mixtally.estimate.conclude.pairs import pairs_and_tables
from mixtally.estimate.debias import estimate_counts
from mixtally.estimate.noise import Noises
from mixtally.records.certificate import Certificate
from mixtally.records.plan import Plan
from mixtally.records.question import Kind, Question
from mixtally.records.result import Result
from mixtally.records.results import Estimate, Figures, Intervals, Tally


def conclude(
    plans: Sequence[Plan],
    tallies: Sequence[Tally],
    analysis: Analysis = COUNTS_ALONE,
    *,
    question: Question | None = None,
    certificate: Certificate | None = None,
    users: int | None = None,
    noises: Noises | None = None,
) -> Result:
    """What follows from the tallies of one collection, each made under its plan.

    where
      plans             one for each message of a record, in their order
      question, users   of the whole record, and who took part; those of the plan when left out
      certificate       of all plans together; needed for more than one
      noises            shared by many conclusions that are alike, which saves their time

    Every part is a collection of its own; estimates stand side by side in the question's order,
    with intervals that hold for all its bins at once. Of tallies that count pairs, the result says
    who has both of two bits as well.

    Raises PlanError for tallies that are not one for each plan, ParameterError for a projection of
    counts that have no known sum, MessageError for messages missing or too many.
    """
    _check(plans, tallies, certificate)
    own, people, noises = question or plans[0].question, users or plans[0].users, noises or Noises()
    count = partial(
        estimate_counts, users=people, level=analysis.level, together=own.bins, noises=noises
    )
    found = [count(plan.mechanism, tally) for plan, tally in zip(plans, tallies, strict=True)]
    estimate = side_by_side(own, [plan.question for plan in plans], found)
    result = Result(
        tuple(plans),
        own,
        certificate or plans[0].certificate,
        sum(tally.messages for tally in tallies),
        replace(estimate, projected=analysis.projected(own, estimate.counts, people)),
    )
    return replace(result, figures=tuple(_figures(result, tallies, analysis, people)))


def _check(
    plans: Sequence[Plan], tallies: Sequence[Tally], certificate: Certificate | None
) -> None:
    if not plans or len(plans) != len(tallies):
        raise PlanError(
            "conclude",
            wanted="a tally for every plan",
            got=f"{len(plans)} and {len(tallies)}",
            do="give them in the order of a record's messages",
        )
    if len(plans) > 1 and certificate is None:
        raise TypeError("several plans promise nothing together without a certificate for all")


def _figures(
    result: Result, tallies: Sequence[Tally], analysis: Analysis, people: int
) -> list[Figures]:
    """What else the tallies say: of pairs of bits, and of numbers that were cut into bins."""
    own, mechanism, figures = result.question, result.plan.mechanism, list[Figures]()
    for plan, tally in zip(result.plans, tallies, strict=True):
        if tally.pairs is not None:
            figures += pairs_and_tables(own, plan.mechanism, tally, analysis.level)
    if analysis.edges is not None:
        found, messages = result.estimate, result.messages
        figures.append(numbers(own, mechanism, messages, found, analysis.edges, people))
    return figures


def counted(question: Question, part: Question) -> slice:
    """The bins of a part that are counted for the record: of a bit in clear only yes."""
    return slice(1, 2) if question.kind is Kind.BITS and part.kind is Kind.ONE else slice(None)


def side_by_side(own: Question, asked: list[Question], found: list[Estimate]) -> Estimate:
    """One estimate of all parts' bins, one part after the other."""
    if len(found) == 1 and asked[0].bins == own.bins:
        return found[0]
    places = [counted(own, question) for question in asked]
    pairs = list(zip(found, places, strict=True))
    errors = np.concatenate([np.full(len(f.counts[k]), f.standard_error) for f, k in pairs])
    return Estimate(
        counts=np.concatenate([f.counts[k] for f, k in pairs]),
        standard_error=float(errors.max()),
        each=_joined([(f.each, k) for f, k in pairs], simultaneous=False),
        together=_joined([(f.together, k) for f, k in pairs], simultaneous=own.bins > 1),
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
