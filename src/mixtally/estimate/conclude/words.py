"""Counts of listed words of an open domain, and of the people who hold others."""

from mixtally.estimate.analysis import Analysis
from mixtally.estimate.debias import estimate_counts
from mixtally.estimate.listed import others, tally_of
from mixtally.estimate.noise import Noises
from mixtally.estimate.received import Arrived
from mixtally.records.mechanism import InClear, KaryResponse
from mixtally.records.plan import Plan
from mixtally.records.question import Question
from mixtally.records.results import Estimate, Figures, Tally


def words(
    plan: Plan, came: Arrived, tally: Tally, analysis: Analysis, noises: Noises
) -> tuple[Question, Estimate, Figures]:
    """The question whose bins are the listed words, their counts, and those of all others.

    That two words share a point has a chance of at most people / points for each line: intervals
    are as much surer. Raises as ``Analysis.check_listed``.
    """
    analysis.check_listed(plan.question)
    listed, planes = analysis.listed, plan.parts[0].planes
    assert listed is not None
    assert planes is not None
    assert isinstance(came.mechanism, InClear | KaryResponse)
    lines, squares = tally_of(planes, tally, listed)
    found = estimate_counts(
        came.mechanism,
        lines,
        came.people,
        level=analysis.level,
        noises=noises,
        unsure=planes.unsure(came.people),
    )
    note = (
        f"{len(listed.words):,} words were looked for. The same messages answer any other list, at "
        "no further cost. The interval is normal."
    )
    row = others(came.mechanism, lines, squares, came.people, analysis.level)
    asked = Question(name=plan.question.name, bins=len(listed.lines), labels=listed.labels)
    return asked, found, Figures("others", f"{plan.question.name}: the others", note, (row,))
