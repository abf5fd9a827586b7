"""A search as facts: what was found, beside the truth that only the lab knows."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mixtally.report import promise
from mixtally.report.document import Facts, Promise
from mixtally.simulation.heavy.result import HeavyResult
from mixtally.simulation.heavy.score import score


def facts(
    result: HeavyResult,
    vocabulary: Sequence[str],
    truth: NDArray[np.int64],
    *,
    source: str,
    seed: int | None,
) -> Facts:
    """The result with its truth, its score, and the words it should have found.

    where
      vocabulary, truth   the words of the crowd and how many people hold each
      source              what was played, in a sentence
    """
    search, own = result.design.search, published(result, source=source, seed=seed)
    held = dict(zip(vocabulary, truth.tolist(), strict=True))
    for row in own["words"]:
        row["truth"] = held.get(row["word"], 0)
    quality = score([one.word for one in result.found], vocabulary, truth, search.top)
    return {
        **own,
        "recall": quality.recall,
        "precision": quality.precision,
        "ghosts": quality.ghosts,
        "covered": _covered(own["words"]),
        "missed": _missed(own["words"], held, search.top),
    }


def published(result: HeavyResult, *, source: str, seed: int | None) -> Facts:
    """The result as it may be published: nothing in it needs the truth."""
    search = result.design.search
    return {
        **result.facts(),
        "title": f"The most frequent words of {search.name}",
        "column": search.name,
        "source": source,
        "top": search.top,
        "local_epsilon": result.design.plan.local_epsilon,
        "fingerprint": result.design.plan.fingerprint,
        "seed": seed,
    }


def lines(result: HeavyResult) -> Promise:
    """The lines of all rounds together."""
    design, search = result.design, result.design.search
    share = 0.1 / search.top
    rounds = f", for all {search.rounds:,} rounds together"
    note = f", of a word that {100 * share:.2g} % of all hold"
    third = promise.expected(design.standard_error(share), note=note)
    what = "the word that each person holds"
    return promise.lines(design.certificate, result.design.plan.local_epsilon, third, rounds, what)


def _covered(rows: list[Facts]) -> float | None:
    """Share of the intervals that cover the true count; None without a word."""
    inside = [r["lower_simultaneous"] <= r["truth"] <= r["upper_simultaneous"] for r in rows]
    return sum(inside) / len(inside) if inside else None


def _missed(rows: list[Facts], held: dict[str, int], top: int) -> list[Facts]:
    """The true ``top`` words that are not among the words found, the most frequent first."""
    found = {row["word"] for row in rows}
    first = sorted(held, key=lambda word: (-held[word], word))[:top]
    return [{"word": word, "truth": held[word]} for word in first if word not in found]
