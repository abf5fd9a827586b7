"""Counts with intervals, and whatever else the same messages tell: pairs, tables, numbers."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mixtally.errors import MessageError, PlanError
from mixtally.estimate.analysis import COUNTS_ALONE, Analysis
from mixtally.estimate.conclude.numbers import numbers
from mixtally.estimate.conclude.pairs import pairs_and_tables
from mixtally.estimate.conclude.set_sizes import set_sizes
from mixtally.estimate.covering import as_came, covering
from mixtally.estimate.debias import estimate_counts
from mixtally.estimate.noise import Noises
from mixtally.estimate.received import Arrived, reconciled, undeclared
from mixtally.records.mechanism import InClear
from mixtally.records.plan import Plan
from mixtally.records.question import Kind, Question
from mixtally.records.received import Received
from mixtally.records.result import Result
from mixtally.records.results import Estimate, Figures, Intervals, Tally


def conclude(
    plan: Plan,
    tallies: Sequence[Tally],
    analysis: Analysis = COUNTS_ALONE,
    *,
    people: int | None = None,
    received: Received | None = None,
    noises: Noises | None = None,
) -> Result:
    """What the tallies of one round tell, one for each part of ``plan``, in their order.

    where
      people     who took part, where nobody says what was received; the users of the plan when left
                 out
      received   what came, which the number of fakes follows from; None in one process
      analysis   what is wanted besides counts; where numbers were cut the plan itself says
      noises     shared by many conclusions that are alike, which saves their time

    Parts stand side by side in the question's order, with intervals that hold for all bins of all
    parts at once; numbers that were cut into bins have their mean and quantiles. Of tallies that
    count pairs, the result says who has both of two bits as well.

    Raises PlanError for tallies that are not one for each part, MessageError for numbers that do
    not add up, ParameterError for a projection of counts that have no known sum.
    """
    if len(plan.parts) != len(tallies):
        raise PlanError(
            "conclude",
            wanted=f"a tally for each of the {len(plan.parts)} messages of a record",
            got=f"{len(tallies)}",
            do="give them in the order of a record's messages",
        )
    if received is None:
        received = undeclared(plan, people or plan.users, tallies)
    parts = reconciled(plan, received)
    _check_tallied(received, tallies)
    noises, own = noises or Noises(), plan.question
    found = [
        estimate_counts(
            part.mechanism,
            tally.first(part.mechanism.bins),
            part.people,
            level=analysis.level,
            together=own.bins,
            noises=noises,
        )
        for part, tally in zip(parts, tallies, strict=True)
    ]
    every = side_by_side(own, list(plan.questions), found)
    fewest = min(one.people for one in parts)
    return Result(
        plan=plan,
        received=received,
        question=own,
        certificate=as_came(plan.certificate, plan.hops, covering(plan, received)),
        messages=sum(tally.messages for tally in tallies),
        estimate=replace(every, projected=analysis.projected(own, every.counts, fewest)),
        figures=tuple(_figures(plan, parts, tallies, every, analysis)),
    )


def _check_tallied(received: Received, tallies: Sequence[Tally]) -> None:
    declared = [part.received for part in received.parts]
    counted = [tally.messages for tally in tallies]
    if declared != counted:
        raise MessageError(
            "tallies",
            wanted=f"{', '.join(f'{many:,}' for many in declared)} messages, those that came",
            got=", ".join(f"{many:,}" for many in counted),
            do="tally every part of this round, each once",
        )


def _figures(
    plan: Plan,
    parts: Sequence[Arrived],
    tallies: Sequence[Tally],
    found: Estimate,
    analysis: Analysis,
) -> list[Figures]:
    """Of pairs of bits, of numbers, which travel as one message, and of the sizes of sets."""
    own, figures, level = plan.question, list[Figures](), found.each.level
    for part, tally in zip(parts, tallies, strict=True):
        if isinstance(part.mechanism, InClear) and part.mechanism.max_set > 1:
            figures.append(set_sizes(own.name, part.mechanism, tally, part.people, level))
        if tally.pairs is not None:
            figures += pairs_and_tables(own, part.mechanism, tally, level)
    edges = analysis.edges if plan.edges is None else np.array(plan.edges)
    if edges is not None:
        part, messages = parts[0], tallies[0].messages
        figures.append(numbers(own, part.mechanism, messages, found, edges, part.people))
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
