"""Counts of listed words of an open domain, and of people with other words.

``conclude`` calls ``estimate_listed_words``.
"""

from mixtally.model.estimates import Estimate, Figures, Tally
from mixtally.model.plan import Plan
from mixtally.model.question import Question
from mixtally.protocol.estimate.analysis import Analysis
from mixtally.protocol.estimate.debias import estimate_counts, total_variation_of
from mixtally.protocol.estimate.listed_words import estimate_unlisted, tally_listed_words
from mixtally.protocol.estimate.noise import NoiseCache
from mixtally.protocol.estimate.received import ReconciledPart


def estimate_listed_words(
    plan: Plan, reconciled: ReconciledPart, tally: Tally, analysis: Analysis, noises: NoiseCache
) -> tuple[Question, Estimate, Figures, Tally]:
    """Estimate the counts of the listed words, and the number of people with any other word.

    Returns four values: the question whose bins are the listed words; the estimate of its counts;
    the figure of the people with other words; and the number of messages that point at each listed
    word. Intervals account for the chance that two words share a point. Raises ParameterError if
    no words are listed.
    """
    analysis.check_listed(plan.question)
    listed, planes = analysis.listed, plan.parts[0].planes
    assert listed is not None
    assert planes is not None
    own, most = plan.question, reconciled.mechanism.most_set
    every, squares = tally_listed_words(planes, tally, listed, most, analysis.across)
    lines = every.first_bins(len(listed.lines))
    found = estimate_counts(
        reconciled.mechanism,
        lines,
        reconciled.people,
        level=analysis.level,
        noises=noises,
        unsure=total_variation_of(reconciled.mechanism, reconciled.people, hashed=True),
    )
    note = (
        f"{len(listed.words):,} words were looked for. The same messages answer any other list, at "
        "no further cost. The interval inverts a normal test."
    )
    row = estimate_unlisted(reconciled.mechanism, every, squares, reconciled.people, analysis.level)
    asked = Question(
        name=own.name,
        bins=len(listed.lines),
        labels=listed.labels,
        kind=own.kind,
        max_set=min(most, len(listed.lines)),
    )
    return asked, found, Figures("others", f"{own.name}: the others", note, (row,)), lines
