"""Counts of listed words whose bins are shared, by a hash, with words that nobody listed."""

from collections.abc import Sequence

import numpy as np

from mixtally.errors import DataError
from mixtally.estimate.hashed import Candidates, estimate_hashed, rank_of
from mixtally.estimate.received import reconciled, undeclared
from mixtally.records.plan import Plan
from mixtally.records.question import Question
from mixtally.records.result import Result
from mixtally.records.results import Figures, Row, Tally

_NAMED = 3
"""Words of a line that are written out."""


def conclude_candidates(
    plan: Plan,
    tally: Tally,
    words: Sequence[str],
    lines: Candidates,
    *,
    level: float = 0.95,
    people: int | None = None,
) -> Result:
    """Counts of the candidates ``words``, which ``lines`` has by their bins, and of all others.

    Candidates that share a bin are one line; ``people`` as ``conclude`` has it. Raises DataError
    when all share one bin, ParameterError for a level outside (0, 1).
    """
    question = lines_question(plan.question, words, lines)
    received = undeclared(plan, people or plan.users, [tally])
    (came,) = reconciled(plan, received)
    estimate, others = estimate_hashed(came.mechanism, tally, came.people, lines, level)
    return Result(
        plan=plan,
        received=received,
        question=question,
        certificate=plan.certificate,
        messages=tally.messages,
        estimate=estimate,
        figures=(_others(others, plan.question, lines, level),),
    )


def lines_question(hashed: Question, words: Sequence[str], lines: Candidates) -> Question:
    """The question whose bins are the lines; raises DataError when there is only one."""
    if len(lines.bins) < 2:
        raise DataError(
            "candidates",
            wanted="at least two that do not share one bin",
            got=f"{len(lines.lines):,} in one bin",
            do="look for one word more, or hash into more bins",
        )
    return Question(name=hashed.name, bins=len(lines.bins), labels=tuple(_labels(words, lines)))


def _labels(words: Sequence[str], lines: Candidates) -> list[str]:
    """What each line counts: its word, or some of the words that share its bin."""
    meeting: list[list[str]] = [[] for _ in lines.bins]
    for name, line in zip(words, lines.lines.tolist(), strict=True):
        meeting[line].append(name)
    return [
        together[0] if len(together) == 1 else f"{_some(together)} (bin {held})"
        for together, held in zip(meeting, lines.bins.tolist(), strict=True)
    ]


def _some(together: list[str]) -> str:
    more = len(together) - _NAMED
    return " + ".join(together[:_NAMED]) + (f" + {more} more" if more > 0 else "")


def _others(row: Row, question: Question, lines: Candidates, level: float) -> Figures:
    sizes, k = np.bincount(lines.lines), len(lines.bins)
    meeting = int(sizes[sizes > 1].sum())
    short = [
        f" Too few bins without a candidate for {which}."
        for which, size in (
            ("one line: its intervals have no ends", 1),
            ("all lines at once: those have no ends, the interval of the others no upper one", k),
        )
        if not rank_of(question.bins - k, size, (1.0 - level) / 2.0)
    ]
    return Figures(
        "others",
        f"{question.name}: the others",
        f"{len(lines.lines):,} candidates in {question.bins:,} bins, {meeting:,} of them in a bin "
        "with another candidate: such candidates are one line, their sum. Errors and intervals "
        "include unlisted values that share a candidate's bin, for a hash drawn independently of "
        "what people hold and of the candidates; the interval of the others is normal."
        + "".join(short),
        (row,),
    )
