"""Counts with intervals, and whatever else the same messages tell: pairs, tables, numbers."""

import math
from collections.abc import Sequence
from dataclasses import replace

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
from mixtally.records.results import Estimate, Intervals, Tally


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
      plans         one for each message of a record, in their order
      question      of the whole record; that of the plan when left out
      certificate   of all plans together; needed for more than one
      users         people who took part; those of the plan when left out
      noises        shared by many conclusions that are alike, which saves their time

    Every part is a collection of its own; estimates stand side by side in the question's order,
    with intervals that hold for all its bins at once. Of tallies that count pairs, whether the
    analysis wants them or not, the result says who has both of two bits as well.

    Raises PlanError for tallies that are not one for each plan, ParameterError for a projection of
    counts that have no known sum, MessageError for messages missing or too many.
    """
    if not plans or len(plans) != len(tallies):
        raise PlanError(
            "conclude",
            wanted="a tally for every plan",
            got=f"{len(plans)} and {len(tallies)}",
            do="give them in the order of a record's messages",
        )
    if len(plans) > 1 and certificate is None:
        raise TypeError("several plans promise nothing together without a certificate for all")
    own, people = question or plans[0].question, users or plans[0].users
    analysis.check_sums(own)
    noises, level = noises or Noises(), analysis.level
    estimates, figures = [], []
    for plan, tally in zip(plans, tallies, strict=True):
        how = plan.mechanism
        estimates.append(
            estimate_counts(how, tally, people, level=level, together=own.bins, noises=noises)
        )
        if tally.pairs is not None:
            figures += pairs_and_tables(own, how, tally, level)
    estimate = _side_by_side(own, [plan.question for plan in plans], estimates)
    messages = sum(tally.messages for tally in tallies)
    if analysis.edges is not None:
        how = plans[0].mechanism
        figures.append(numbers(own, how, messages, estimate, analysis.edges, people))
    return Result(
        plans=tuple(plans),
        question=own,
        certificate=certificate or plans[0].certificate,
        messages=messages,
        estimate=replace(estimate, projected=analysis.projected(own, estimate.counts, people)),
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
