"""What was counted out of a crowd's memoized answers, as facts beside the truth."""

import math

from mixtally.data.population import Population
from mixtally.estimate.conclude import MemoizedResult
from mixtally.report.texts import row_facts
from mixtally.simulate.memoized.losses import Facts


def estimated(result: MemoizedResult, population: Population) -> Facts:
    """Counts of bins, or of candidate words, beside the true counts."""
    labels = population.question.labels or ()
    known = dict(zip(labels, population.truth.tolist(), strict=True))
    rows = [{**row_facts(row), "truth": known.get(row.label, 0)} for row in result.rows()]
    if result.first_report is not None:
        for row, count in zip(rows, result.first_report.tolist(), strict=True):
            row["first_report"] = count
    words = result.words
    if words is None:
        return {**_errors(result), "method": result.method, **_list(rows)}
    for row, seen in zip(rows, words.found.tolist(), strict=True):
        row["found"] = seen
    listed = sum(known.get(word, 0) for word in result.labels)
    return {
        **_errors(result),
        "method": result.method,
        "misfit": words.reduced_chi_square,
        "misfit_counted": words.widened,
        "unlisted": words.unlisted[0],
        "unlisted_standard_error": words.unlisted[1],
        "unlisted_truth": result.people - listed,
        **_list(rows),
    }


def _errors(result: MemoizedResult) -> Facts:
    mechanism, people = result.plan.mechanism, result.people
    return {
        "users": people,
        "confidence_level": result.estimate.each.level,
        "bit_error_one_report": mechanism.standard_error(people, 1),
        "bit_error_all_reports": mechanism.standard_error(people, result.reports),
        "bit_error_floor": mechanism.standard_error(people, math.inf),
    }


def _list(rows: list[Facts]) -> Facts:
    stated = [row for row in rows if row["standard_error"] is not None]
    held = [row["lower"] <= row["truth"] <= row["upper"] for row in stated]
    square = sum((row["estimate"] - row["truth"]) ** 2 for row in rows)
    return {
        "measured_error": math.sqrt(square / len(rows)),
        "covered": sum(held) / len(held),
        "estimates": rows,
    }
