"""Counts of listed words of an open domain, and of the people who hold others."""

from mixtally.model.plan import Plan
from mixtally.model.question import Question
from mixtally.model.results import Estimate, Figures, Tally
from mixtally.protocol.estimate.analysis import Analysis
from mixtally.protocol.estimate.debias import estimate_counts, unsure_of
from mixtally.protocol.estimate.listed import others, tally_of
from mixtally.protocol.estimate.noise import Noises
from mixtally.protocol.estimate.received import Arrived


def words(
    plan: Plan, came: Arrived, tally: Tally, analysis: Analysis, noises: Noises
) -> tuple[Question, Estimate, Figures, Tally]:
    """Return the question whose bins are the listed words, their counts, those of all others, and
    how many messages point at each line.

    Intervals are as much surer as words that share a point may change each line. Raises as
    ``Analysis.check_listed``.
    """
    analysis.check_listed(plan.question)
    listed, planes = analysis.listed, plan.parts[0].planes
    assert listed is not None
    assert planes is not None
    own, most = plan.question, came.mechanism.most_set
    every, squares = tally_of(planes, tally, listed, most, analysis.across)
    lines = every.first(len(listed.lines))
    found = estimate_counts(
        came.mechanism,
        lines,
        came.people,
        level=analysis.level,
        noises=noises,
        unsure=unsure_of(came.mechanism, came.people, hashed=True),
    )
    note = (
        f"{len(listed.words):,} words were looked for. The same messages answer any other list, at "
        "no further cost. The interval is normal, of the counts that a test accepts."
    )
    row = others(came.mechanism, every, squares, came.people, analysis.level)
    asked = Question(
        name=own.name,
        bins=len(listed.lines),
        labels=listed.labels,
        kind=own.kind,
        max_set=min(most, len(listed.lines)),
    )
    return asked, found, Figures("others", f"{own.name}: the others", note, (row,)), lines
