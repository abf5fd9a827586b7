"""The results of one round and of a vote: counts with intervals, and figures derived from them.

The figures are pairs and tables of bits, means and quantiles of numbers, sizes of sets, differences
and totals.
"""

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

# The probability with which honest messages cause a warning about points in one round.
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
    """Estimate the result of one round from its tallies.

    The parts of a record are concatenated in the order of the question. Simultaneous intervals hold
    at once for all bins of all parts.

    Parameters
    ----------
    plan : Plan
        The plan of the round.
    tallies : sequence of Tally
        One tally for each part of the plan, in the order of the parts.
    analysis : Analysis
        What is estimated in addition to counts.
    people : int, optional
        How many people took part, if ``received`` is not given; by default the users of the plan.
    received : Received, optional
        The numbers of messages that hops declared and the collector received, which determine the
        number of fakes. None for a round that was simulated in one process, without declarations.
    noises : NoiseCache, optional
        A cache shared by rounds with the same mechanism.

    Raises
    ------
    PlanError
        If there is not one tally for each part.
    MessageError
        If the numbers of messages contradict each other.
    ParameterError
        If ``analysis`` asks for something that the question does not have.
    """
    if len(plan.parts) != len(tallies):
        raise PlanError(
            "conclude",
            expected=f"a tally for each of the {len(plan.parts)} messages of a record",
            got=f"{len(tallies)}",
            do="pass the tallies in the order of the messages",
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
    """Return the counted question, its estimates, its figures and the tallies of its bins."""
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
            simultaneous_over=own.bins,
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
    """Yield warnings about points that too few or too many messages point at.

    A message over planes names a plane, and points at every point in this plane. Only points that
    belong to no value are examined. In a round of honest messages, the probability of a warning is
    at most 1e-9, plus the probability that points of sets are in special position.
    """
    for part, reconciled, tally in zip(plan.parts, parts, tallies, strict=True):
        if part.planes is None or plan.question.hashed is not None:
            continue
        numbers = range(0 if part.pads else part.bins, part.planes.points)
        free = count_pointing_at_free(part.planes, tally, numbers)
        tail = _RARE / 2.0 / max(1, len(free))
        rare = _RARE + len(free) * total_variation_of(
            reconciled.mechanism, reconciled.people, hashed=False
        )
        few, most = reach(reconciled.mechanism, tally.messages, 0, tail)
        odd = np.count_nonzero((free < few) | (free > most))
        if odd:
            yield (
                f"{odd:,} of {len(free):,} points without a value are named by fewer than {few:,} "
                f"or more than {most:,} messages. Honest messages do this less often than once in "
                f"{1.0 / rare:,.0f} rounds: some senders or a hop did not follow the protocol."
            )


def _warn_of_totals(
    parts: Sequence[ReconciledPart], seen: Sequence[Tally], summed: Sequence[Sequence[int]]
) -> Iterator[str]:
    """Yield a warning for each part whose estimates cannot use the number of people.

    The reason is a sum of tallied counts that honest messages never have.
    """
    for number, (part, tally, sizes) in enumerate(zip(parts, seen, summed, strict=True), 1):
        for total, least, most in implausible_totals(part.mechanism, tally, part.people, sizes):
            yield (
                f"Part {number}: the counts do not use the number of people. {total.bins:,} bins "
                f"are set {total.tallied:,} times in all; the messages of {part.people:,} honest "
                f"people set them {least:,} to {most:,} times. Some senders did not follow the "
                "protocol, or a hop replaced messages."
            )


def tally_of_bins(part: Part, tally: Tally) -> Tally:
    """Return the number of messages for each bin of a part.

    A message is counted for the bin that it names. A message that names a plane is counted for all
    values in this plane.

    Parameters
    ----------
    part : Part
        The part of the plan.
    tally : Tally
        The tally of the part. If messages name planes, it has the count of each plane.
    """
    if part.planes is None:
        return tally.first_bins(part.bins)
    if part.pads:
        return count_pointing_at_members(part.planes, tally, range(part.bins), part.bins)
    return Tally(count_pointing(part.planes, tally, part.bins), tally.messages)


def _tally_pads(part: Part, tally: Tally) -> Tally:
    """Return how many messages name each pad, which stands for a missing member of a set."""
    every = range(part.bins, part.bins + part.pads)
    if part.planes is None:
        return Tally(tally.counts[every.start :], tally.messages)
    return count_pointing_at_members(part.planes, tally, every, part.bins)


def _check_tally_sizes(received: Received, tallies: Sequence[Tally]) -> None:
    """Raise MessageError unless every part was tallied once and completely."""
    declared = [part.received for part in received.parts]
    counted = [tally.messages for tally in tallies]
    if declared != counted:
        raise MessageError(
            "tallies",
            expected=f"{', '.join(f'{many:,}' for many in declared)} messages, as received",
            got=", ".join(f"{many:,}" for many in counted),
            do="tally every part of this round, each once",
        )


def _derive_figures(
    plan: Plan,
    parts: Sequence[ReconciledPart],
    tallies: Sequence[Tally],
    found: Estimate,
) -> list[Figures]:
    """Return the figures of set sizes, pairs of bits and rounded numbers that the plan allows."""
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
"""Intervals of ballots are exact up to this expected number of flipped bits in a bin. The limit is
higher than for other questions, because ballots have few bins."""


def conclude_vote(
    mechanism: Shuffled,
    certificate: Certificate,
    tally: Tally,
    users: int,
    level: float = 0.95,
    blank: int | None = None,
) -> Vote:
    """Estimate the number of votes of each option, and the probability that each option has won.

    Parameters
    ----------
    mechanism : Shuffled
        The mechanism, with the fakes that arrived.
    certificate : Certificate
        The guarantee of the vote.
    tally : Tally
        The tally of the ballots.
    users : int
        The number of voters.
    level : float
        The confidence level, in (0, 1).
    blank : int or None
        The option of blank ballots, which are counted and cannot win; None without one.

    Raises
    ------
    ParameterError
        If the level is outside (0, 1).
    MessageError
        If the number of ballots is too small or too large, or if no numbers of votes explain the
        tally.
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
