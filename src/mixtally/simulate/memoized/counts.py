"""What is counted out of a crowd's memoized answers: bins or candidate words, beside the truth."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mixtally.data.population import Population
from mixtally.encode.bloom import design
from mixtally.estimate.memoized import estimate_memoized
from mixtally.estimate.words import estimate_words
from mixtally.records.mechanism import Memoized
from mixtally.records.memoized_plan import MemoizedPlan
from mixtally.records.results import Intervals
from mixtally.simulate.memoized.losses import Facts


def estimated(
    plan: MemoizedPlan,
    ones: NDArray[np.int64],
    sizes: NDArray[np.int64],
    words: Sequence[str],
    population: Population,
    level: float,
) -> Facts:
    """Counts of bins, or of candidate words, beside the truth."""
    mechanism, people, reports = plan.mechanism, int(sizes.sum()), ones.shape[1]
    labels = population.question.labels or ()
    known = dict(zip(labels, population.truth.tolist(), strict=True))
    errors = _errors(mechanism, people, reports, level)
    if not mechanism.hashed:
        found = estimate_memoized(mechanism, ones[0], people, level=level)
        first = found.by_report[0].tolist()
        rows = _rows(labels, found.counts, found.standard_errors, found.each, found.together, known)
        for row, count in zip(rows, first, strict=True):
            row["first_report"] = count
        return {**errors, "method": found.each.method, **_list(rows)}
    regression = estimate_words(
        mechanism, ones.mean(axis=1), sizes, design(plan, words), reports, level=level
    )
    counts, of_each = regression.counts, regression.standard_errors
    rows = _rows(words, counts, of_each, regression.each, regression.together, known)
    for row, seen in zip(rows, regression.found.tolist(), strict=True):
        row["found"] = seen
    listed = sum(known.get(word, 0) for word in words)
    return {
        **errors,
        "method": regression.method,
        "misfit": regression.misfit,
        "misfit_counted": regression.misfit_counted,
        "unlisted": regression.unlisted[0],
        "unlisted_standard_error": regression.unlisted[1],
        "unlisted_truth": people - listed,
        **_list(rows),
    }


def _errors(mechanism: Memoized, people: int, reports: int, level: float) -> Facts:
    return {
        "users": people,
        "confidence_level": level,
        "bit_error_one_report": mechanism.standard_error(people, 1),
        "bit_error_all_reports": mechanism.standard_error(people, reports),
        "bit_error_floor": mechanism.standard_error(people, math.inf),
    }


def _list(rows: list[Facts]) -> Facts:
    told = [row for row in rows if row["standard_error"] is not None]
    held = [row["lower"] <= row["truth"] <= row["upper"] for row in told]
    square = sum((row["estimate"] - row["truth"]) ** 2 for row in rows)
    return {
        "measured_error": math.sqrt(square / len(rows)),
        "covered": sum(held) / len(held),
        "estimates": rows,
    }


def _rows(
    labels: Sequence[str],
    counts: NDArray[np.float64],
    errors: NDArray[np.float64],
    each: Intervals,
    together: Intervals,
    known: dict[str, int],
) -> list[Facts]:
    return [
        {
            "label": label,
            "estimate": float(counts[i]),
            "standard_error": None if math.isnan(errors[i]) else float(errors[i]),
            "lower": int(each.lower[i]),
            "upper": int(each.upper[i]),
            "lower_all": int(together.lower[i]),
            "upper_all": int(together.upper[i]),
            "truth": known.get(label, 0),
        }
        for i, label in enumerate(labels)
    ]
