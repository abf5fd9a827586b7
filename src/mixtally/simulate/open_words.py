"""Open domains: everybody's word travels as a bin it shares, and listed words are counted."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from mixtally.data.cells import Progress, quiet
from mixtally.data.population import Population
from mixtally.encode.hashed import encode, normalized
from mixtally.errors import DataError
from mixtally.estimate.hashed import Candidates, estimate_hashed, rank_of
from mixtally.ground.chance import Chance
from mixtally.planner import PlanOption
from mixtally.records.question import Question
from mixtally.records.results import Figure, Figures
from mixtally.report.study import Release
from mixtally.simulate.run import Asked, checked
from mixtally.simulate.simulate import play

_NAMED = 3
"""Words of a line that are written out."""


def hashed(words: Population, question: Question) -> Population:
    """The crowd of ``words``, whose bins are the words themselves, as ``question`` hashes them.

    Raises PlanError for a question that hashes nothing, DataError for words that are no text.
    """
    return Population(question, encode(question, words.question.labels or ())[words.codes])


def collect_words(
    offer: PlanOption,
    crowd: Population,
    words: Sequence[str],
    chance: Chance,
    level: float = 0.95,
    progress: Progress = quiet,
) -> tuple[Release, NDArray[np.int64]]:
    """Counts of the candidates ``words``, and the truth of each line, shape (lines,).

    The bins of ``crowd`` are the words themselves. Candidates that share a bin are one line. Raises
    DataError for candidates that cannot be told apart, InfeasibleError when the bins are too few
    for them, and as ``run.collect``.
    """
    plan = offer.plan
    population = hashed(crowd, plan.question)
    _, (mechanism,) = checked(offer.plans, population, Asked(level=level))
    names = [normalized(word) for word in words]
    lines = Candidates.of(encode(plan.question, _distinct(names)), plan.question.bins)
    asked = Question(
        name=plan.question.name, bins=_enough(lines), labels=tuple(_labels(names, lines))
    )
    held: Counter[str] = Counter()
    for word, count in zip(crowd.question.labels or (), crowd.truth.tolist(), strict=True):
        held[normalized(word)] += count
    truth = np.zeros(asked.bins, dtype=np.int64)
    np.add.at(truth, lines.lines, [held[name] for name in names])
    tally = play(mechanism, population.records, chance, progress)
    estimate, others = estimate_hashed(mechanism, tally, population.users, lines, level)
    unlisted = population.users - int(truth.sum())
    release = Release(
        plan, tally.messages, estimate, asked=asked, told=offer.facts(),
        whole=offer.certificate if offer.collections > 1 else None,
        figures=(_others(replace(others, truth=unlisted), plan.question, lines, level),),
    )  # fmt: skip
    return release, truth


def _distinct(names: list[str]) -> list[str]:
    if len(set(names)) < len(names):
        (name, times), *_ = Counter(names).most_common(1)
        raise DataError(
            "candidates", wanted="distinct words",
            got=f"{name!r} {times} times once spellings are one (Unicode NFC)",
            do="keep one of them",
        )  # fmt: skip
    return names


def _enough(lines: Candidates) -> int:
    if len(lines.bins) < 2:
        raise DataError(
            "candidates", wanted="at least two that do not share one bin",
            got=f"{len(lines.lines):,} in one bin",
            do="look for one word more, or hash into more bins",
        )  # fmt: skip
    return len(lines.bins)


def _labels(names: list[str], lines: Candidates) -> list[str]:
    """What each line counts: its word, or some of the words that share its bin."""
    meeting: list[list[str]] = [[] for _ in lines.bins]
    for name, line in zip(names, lines.lines.tolist(), strict=True):
        meeting[line].append(name)
    return [
        together[0] if len(together) == 1 else f"{_shown(together)} (bin {held})"
        for together, held in zip(meeting, lines.bins.tolist(), strict=True)
    ]


def _shown(together: list[str]) -> str:
    more = len(together) - _NAMED
    return " + ".join(together[:_NAMED]) + (f" + {more} more" if more > 0 else "")


def _others(row: Figure, question: Question, lines: Candidates, level: float) -> Figures:
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
