"""A crowd whose answers are counted: planned for, played, and laid beside the truth."""

from dataclasses import replace
from typing import NamedTuple

from mixtally.app.outcome import Outcome, Run
from mixtally.app.study import outcome
from mixtally.lab.data.population import LABELS, Population
from mixtally.lab.simulation import offers
from mixtally.lab.simulation.central import ONE_VALUE, central
from mixtally.lab.simulation.counts_only import Histogram, collect_counts, histogram_of
from mixtally.lab.simulation.lab import Lab, Provenance
from mixtally.lab.simulation.open_words import hashed, truth_of_words
from mixtally.lab.simulation.run import release
from mixtally.lab.simulation.study import Release, Study
from mixtally.lab.simulation.truth import Truth, compared, truth_of
from mixtally.lab.simulation.winner.contest import Ballots, hold
from mixtally.model.baseline import Central
from mixtally.model.contract import Plan
from mixtally.model.question import Kind
from mixtally.model.result import Result
from mixtally.protocol.encode.hashed import sought
from mixtally.protocol.estimate.analysis import Analysis


class Asked(NamedTuple):
    """What is asked of the crowd.

    where
      name    of the question, for people
      plan    how it is asked, and ``reason`` why this way
      words   that are looked for, where the question is open; None for a list of values
    """

    name: str
    plan: Plan
    reason: str
    words: tuple[str, ...] | None = None


def count(
    asked: Asked,
    crowd: Population | Histogram,
    analysis: Analysis,
    run: Run,
    *,
    sums: bool = False,
    counts_only: bool = False,
) -> Outcome:
    """Play the collection, and show what came of it; as ``study_of``."""
    study = study_of(asked, crowd, analysis, run, sums=sums, counts_only=counts_only)
    return outcome(study, run.top, crowd.from_data)


def study_of(
    asked: Asked,
    crowd: Population | Histogram,
    analysis: Analysis,
    run: Run,
    *,
    sums: bool = False,
    counts_only: bool = False,
    ballots: Ballots | None = None,
) -> Study:
    """Play the collection.

    where
      sums         whether it is also said what is hidden from anyone who sees sums alone
      counts_only  whether tallies are drawn in place of messages, as those of a ``Histogram`` are
      ballots      local ballots of the same crowd, where it is asked who won a vote

    Raises PlanError for a plan for others.
    """
    played, truth = _played(asked, crowd, run.lab, analysis, counts_only=counts_only)
    if sums:
        seen = offers.seen_by_sums(asked.plan, run.lab.planner.accountant)
        played = replace(played, sums=seen)
    contest = None
    if ballots is not None and isinstance(crowd, Population):
        contest = hold(played.result, crowd, ballots, run.lab)
    beside, errors = _central(played.result, truth, seeded=run.seed is not None)
    return Study(
        about=Provenance(
            title=f"{asked.name}, counted privately",
            source=run.source,
            raw="" if isinstance(crowd, Histogram) else crowd.note,
            reason=asked.reason,
            seed=run.seed,
            ordered=LABELS not in crowd.from_data and not asked.words,
        ),
        releases=(played,),
        truth=replace(truth, central=errors),
        central=beside,
        contest=contest,
    )


def _played(
    asked: Asked,
    crowd: Population | Histogram,
    lab: Lab,
    analysis: Analysis,
    *,
    counts_only: bool,
) -> tuple[Release, Truth]:
    """The result and the truth of each of its lines."""
    if isinstance(crowd, Histogram):
        drawn = collect_counts(asked.plan, crowd, lab, analysis)
        return drawn, compared(Truth(crowd.truth), drawn.result)
    if asked.words is not None:
        listed = sought(asked.plan.question, asked.words)
        found = release(
            asked.plan, hashed(crowd, asked.plan.question), lab, replace(analysis, listed=listed)
        )
        return found, compared(truth_of_words(crowd, listed), found.result)
    if counts_only:
        played = collect_counts(asked.plan, histogram_of(crowd), lab, analysis)
    else:
        played = release(asked.plan, crowd, lab, analysis)
    return played, truth_of(crowd, played.result)


def _central(result: Result, truth: Truth, *, seeded: bool) -> tuple[Central, dict[str, float]]:
    """Return what the central model would do for the same promise, and its measured errors."""
    if result.question.kind is not Kind.ONE:
        return Central(note=ONE_VALUE), {}
    level = result.estimate.each.level
    return central(result.plan.guarantee, truth.counts, level=level, seeded=seeded)
