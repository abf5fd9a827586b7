"""Counts and votes with intervals, and what else the messages tell: pairs, tables, numbers."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from mixtally.errors import MessageError, PlanError
from mixtally.model.certificate import Certificate
from mixtally.model.estimates import Estimate, Figures, Tally
from mixtally.model.known_total import known_totals
from mixtally.model.mechanism import Shuffled
from mixtally.model.part import Part
from mixtally.model.plan import Plan
from mixtally.model.question import Question
from mixtally.model.received import Received
from mixtally.model.result import Result, Vote
from mixtally.protocol.estimate.analysis import COUNTS_ALONE, Analysis
from mixtally.protocol.estimate.conclude.combined_parts import combine_parts
from mixtally.protocol.estimate.conclude.differences import estimate_differences
from mixtally.protocol.estimate.conclude.numbers import number_figures
from mixtally.protocol.estimate.conclude.pairs import pairs_and_tables
from mixtally.protocol.estimate.conclude.set_sizes import set_sizes
from mixtally.protocol.estimate.conclude.totals import estimate_totals
from mixtally.protocol.estimate.conclude.words import estimate_listed_words
from mixtally.protocol.estimate.covering_hops import find_covering_hops, restate_assumption
from mixtally.protocol.estimate.debias import estimate_counts, total_variation_of
from mixtally.protocol.estimate.noise import NoiseCache, reach
from mixtally.protocol.estimate.planes import (
    count_pointing,
    count_pointing_at_free,
    count_pointing_at_members,
)
from mixtally.protocol.estimate.projection import implausible_totals
from mixtally.protocol.estimate.received import ReconciledPart, assume_received, reconcile_parts
from mixtally.protocol.estimate.winner import may_have_won, winner_chances

_RARE = 1e-9


def conclude(
    plan: Plan,
    tallies: Sequence[Tally],
    analysis: Analysis = COUNTS_ALONE,
    *,
    people: int | None = None,
    received: Received | None = None,
    noises: NoiseCache | None = None,
) -> Result:
    """What the tallies of one round tell, one for each part of ``plan``, in their order.

    where
      people     who took part, where nobody says what was received; the users of the plan when left
                 out
      received   what came, which the number of fakes follows from; None in one process
      analysis   what is expected besides counts
      noises     shared by many conclusions that are alike, which saves their time

    Parts stand side by side in the question's order, with intervals that hold for all bins of all
    parts at once; numbers that were rounded have their mean and quantiles. Of tallies that
    count pairs, the result says who has both of two bits as well.

    Raises PlanError for tallies that are not one for each part, MessageError for numbers that do
    not add up, ParameterError for a projection of counts that have no known sum.
    """
    if len(plan.parts) != len(tallies):
        raise PlanError(
            "conclude",
            expected=f"a tally for each of the {len(plan.parts)} messages of a record",
            got=f"{len(tallies)}",
            do="give them in the order of a record's messages",
        )
    if received is None:
        received = assume_received(plan, people or plan.users, tallies)
    parts = reconcile_parts(plan, received)
    _check_tally_sizes(received, tallies)
    noises = noises or NoiseCache()
    summed = tuple(
        () if analysis.raw or part.dropped else sizes
        for part, sizes in zip(parts, known_totals(plan.question, plan.parts), strict=True)
    )
    own, every, figures, seen = _estimate_parts(plan, parts, tallies, summed, analysis, noises)
    fewest = min(one.people for one in parts)
    estimate = replace(
        every,
        projected=analysis.project_counts(own, every.counts, fewest),
        people=received.contributors if analysis.shares else None,
    )
    found = Result(
        plan=plan,
        received=received,
        question=own,
        certificate=restate_assumption(
            plan.certificate, plan.hops, find_covering_hops(plan, received)
        ),
        messages=sum(tally.messages for tally in tallies),
        estimate=estimate,
        figures=figures,
        warnings=(*_warn_of_points(plan, parts, tallies), *_warn_of_totals(parts, seen, summed)),
        tallies=tuple(tallies),
        bin_tallies=tuple(seen),
        listed=analysis.listed,
        known_total_sizes=summed,
    )
    if analysis.compared:
        found = replace(found, figures=(*figures, estimate_differences(found, analysis.compared)))
    if analysis.totals:
        found = replace(found, figures=(*found.figures, estimate_totals(found, analysis.totals)))
    return found


def _estimate_parts(
    plan: Plan,
    parts: Sequence[ReconciledPart],
    tallies: Sequence[Tally],
    summed: Sequence[Sequence[int]],
    analysis: Analysis,
    noises: NoiseCache,
) -> tuple[Question, Estimate, tuple[Figures, ...], list[Tally]]:
    """Return what is counted, its counts, what else the messages tell, and what was tallied."""
    own = plan.question
    if own.hashed is not None:
        asked, found, others, lines = estimate_listed_words(
            plan, parts[0], tallies[0], analysis, noises
        )
        return asked, found, (others, *_derive_figures(plan, parts, tallies, found)), [lines]
    seen = [tally_of_bins(part, tally) for part, tally in zip(plan.parts, tallies, strict=True)]
    each = [
        estimate_counts(
            part.mechanism,
            tally,
            part.people,
            level=analysis.level,
            together=own.bins,
            noises=noises,
            unsure=total_variation_of(part.mechanism, part.people, hashed=False),
            summed=sizes,
        )
        for part, tally, sizes in zip(parts, seen, summed, strict=True)
    ]
    every = combine_parts(own, list(plan.questions), each)
    return own, every, tuple(_derive_figures(plan, parts, tallies, every)), seen


def _warn_of_points(
    plan: Plan, parts: Sequence[ReconciledPart], tallies: Sequence[Tally]
) -> Iterator[str]:
    """Values that nobody can hold, of which honest messages hardly ever point so often or rarely:
    in one round of 10^9, and where points of sets lie in special position.
    """
    for part, came, tally in zip(plan.parts, parts, tallies, strict=True):
        if part.planes is None or plan.question.hashed is not None:
            continue
        numbers = range(0 if part.pads else part.bins, part.planes.points)
        free = count_pointing_at_free(part.planes, tally, numbers)
        tail = _RARE / 2.0 / max(1, len(free))
        rare = _RARE + len(free) * total_variation_of(came.mechanism, came.people, hashed=False)
        few, most = reach(came.mechanism, tally.messages, 0, tail)
        odd = np.count_nonzero((free < few) | (free > most))
        if odd:
            yield (
                f"{odd:,} of {len(free):,} points that no value has are named by fewer than "
                f"{few:,} or more than {most:,} messages, as honest ones do less often than "
                f"once in {1.0 / rare:,.0f} rounds: some senders or a hop did not draw as told."
            )


def _warn_of_totals(
    parts: Sequence[ReconciledPart], seen: Sequence[Tally], summed: Sequence[Sequence[int]]
) -> Iterator[str]:
    """Say why counts do not use the number of people where honest messages never have their sum."""
    for number, (part, tally, sizes) in enumerate(zip(parts, seen, summed, strict=True), 1):
        for total, least, most in implausible_totals(part.mechanism, tally, part.people, sizes):
            yield (
                f"Part {number}: the counts do not use the number of people. {total.bins:,} bins "
                f"are set {total.tallied:,} times in all; the messages of {part.people:,} honest "
                f"people set them {least:,} to {most:,} times. Some senders did not follow the "
                "protocol, or a hop replaced messages."
            )


def tally_of_bins(part: Part, tally: Tally) -> Tally:
    """How many messages name each bin, or point at each value."""
    if part.planes is None:
        return tally.first_bins(part.bins)
    if part.pads:
        return count_pointing_at_members(part.planes, tally, range(part.bins), part.bins)
    return Tally(count_pointing(part.planes, tally, part.bins), tally.messages)


def _tally_pads(part: Part, tally: Tally) -> Tally:
    """The same of what stands for members that sets lack."""
    every = range(part.bins, part.bins + part.pads)
    if part.planes is None:
        return Tally(tally.counts[every.start :], tally.messages)
    return count_pointing_at_members(part.planes, tally, every, part.bins)


def _check_tally_sizes(received: Received, tallies: Sequence[Tally]) -> None:
    declared = [part.received for part in received.parts]
    counted = [tally.messages for tally in tallies]
    if declared != counted:
        raise MessageError(
            "tallies",
            expected=f"{', '.join(f'{many:,}' for many in declared)} messages, those that came",
            got=", ".join(f"{many:,}" for many in counted),
            do="tally every part of this round, each once",
        )


def _derive_figures(
    plan: Plan,
    parts: Sequence[ReconciledPart],
    tallies: Sequence[Tally],
    found: Estimate,
) -> list[Figures]:
    """Of pairs of bits, of numbers, which travel as one message, and of the sizes of sets."""
    own, figures, level = plan.question, list[Figures](), found.individual.level
    for asked, part, tally in zip(plan.parts, parts, tallies, strict=True):
        if asked.pads:
            pads = _tally_pads(asked, tally)
            figures.append(set_sizes(own.name, part.mechanism, pads, part.people, level))
        if tally.pairs is not None:
            figures += pairs_and_tables(own, part.mechanism, tally, level)
    if plan.grid is not None:
        part, messages = parts[0], tallies[0].messages
        figures.append(number_figures(own, part.mechanism, messages, found, plan.grid, part.people))
    return figures


EXACT_ONES = 50_000.0
"""Ballots are few bins, so that exact intervals are affordable up to this many flipped ones."""


def conclude_vote(
    mechanism: Shuffled,
    certificate: Certificate,
    tally: Tally,
    users: int,
    level: float = 0.95,
    blank: int | None = None,
) -> Vote:
    """The votes of ``users`` people whose ballots were sent by ``mechanism``.

    ``blank`` is the option of blank ballots, which are counted and elect nobody.

    Raises ParameterError for a level outside (0, 1), MessageError for ballots missing or too many
    and for a tally that no votes explain.
    """
    estimate = estimate_counts(mechanism, tally, users, level=level, exact_ones=EXACT_ONES)
    return Vote(
        certificate=certificate,
        messages=tally.messages,
        estimate=estimate,
        chances=winner_chances(mechanism, tally, users, blank),
        may_win=may_have_won(estimate, blank),
        blank=blank,
    )
