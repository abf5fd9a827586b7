"""Open domains: everybody's word travels as a bin it shares, and listed words are counted."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from mixtally.data.population import Population
from mixtally.encode.hashed import encode, normalized
from mixtally.errors import DataError
from mixtally.estimate.analysis import COUNTS_ALONE, Analysis
from mixtally.estimate.conclude import conclude_candidates
from mixtally.estimate.conclude.candidates import lines_question
from mixtally.estimate.hashed import Candidates
from mixtally.records.contract import Plan
from mixtally.records.question import Question
from mixtally.simulation.lab import Lab
from mixtally.simulation.play import play
from mixtally.simulation.run import checked
from mixtally.simulation.study import Release
from mixtally.simulation.truth import Truth


def hashed(words: Population, question: Question) -> Population:
    """The crowd of ``words``, whose bins are the words themselves, as ``question`` hashes them.

    Raises PlanError for a question that hashes nothing, DataError for words that are no text.
    """
    return Population(question, encode(question, words.question.labels or ())[words.codes])


def collect_words(
    plan: Plan,
    crowd: Population,
    words: Sequence[str],
    lab: Lab,
    analysis: Analysis = COUNTS_ALONE,
) -> tuple[Release, Truth]:
    """Counts of the candidates ``words``, and the truth of each line and of all others.

    The bins of ``crowd`` are the words themselves. Candidates that share a bin are one line. Raises
    DataError for candidates that cannot be told apart, InfeasibleError when the bins are too few
    for them, and as ``run.release``.
    """
    population = hashed(crowd, plan.question)
    checked(plan, population, analysis, lab.planner.accountant)
    names = [normalized(word) for word in words]
    lines = Candidates.of(encode(plan.question, _distinct(names)), plan.question.bins)
    lines_question(plan.question, names, lines)  # before the work, not after it
    (tally,) = play(plan, [population.records], lab.chance, lab.progress).tallies
    result = conclude_candidates(plan, tally, names, lines, level=analysis.level)
    return Release(result), _truth(crowd, names, lines)


def _truth(crowd: Population, names: Sequence[str], lines: Candidates) -> Truth:
    held: Counter[str] = Counter()
    for word, count in zip(crowd.question.labels or (), crowd.truth.tolist(), strict=True):
        held[normalized(word)] += count
    counts = np.zeros(len(lines.bins), dtype=np.int64)
    np.add.at(counts, lines.lines, [held[name] for name in names])
    return Truth(counts, {"others": (crowd.users - int(counts.sum()),)})


def _distinct(names: list[str]) -> list[str]:
    if len(set(names)) < len(names):
        (name, times), *_ = Counter(names).most_common(1)
        raise DataError(
            "candidates",
            wanted="distinct words",
            got=f"{name!r} {times} times once spellings are one (Unicode NFC)",
            do="keep one of them",
        )
    return names
