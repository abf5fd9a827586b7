"""What was counted out of a crowd's memoized answers, as facts beside the truth."""

import math

from mixtally.data.population import Population
from mixtally.estimate.conclude import MemoizedResult
from mixtally.report.texts import row_facts
from mixtally.simulation.memoized.losses import Facts


def estimated(result: MemoizedResult, population: Population | None = None) -> Facts:
    """Counts of bins, or of candidate words; beside the true counts where the crowd is given."""
    rows = [dict(row_facts(row)) for row in result.rows()]
    known: dict[str, int] = {}
    if population is not None:
        labels = population.question.labels or ()
        known = dict(zip(labels, population.truth.tolist(), strict=True))
        for row in rows:
            row["truth"] = known.get(row["label"], 0)
    if result.first_report is not None:
        for row, count in zip(rows, result.first_report.tolist(), strict=True):
            row["first_report"] = count
    found = {**_errors(result), "method": result.method}
    words = result.words
    if words is not None:
        for row, seen in zip(rows, words.found.tolist(), strict=True):
            row["found"] = seen
        found["misfit"] = words.reduced_chi_square
        found["misfit_counted"] = words.widened
        found["unlisted"], found["unlisted_standard_error"] = words.unlisted
        if population is not None:
            listed = sum(known.get(word, 0) for word in result.labels)
            found["unlisted_truth"] = result.people - listed
    measured = {} if population is None else _measured(rows)
    return {**found, **measured, "estimates": rows}


def _errors(result: MemoizedResult) -> Facts:
    mechanism, people = result.plan.mechanism, result.people
    return {
        "users": people,
        "confidence_level": result.estimate.each.level,
        "bit_error_one_report": mechanism.standard_error(people, 1),
        "bit_error_all_reports": mechanism.standard_error(people, result.reports),
        "bit_error_floor": mechanism.standard_error(people, math.inf),
    }


def _measured(rows: list[Facts]) -> Facts:
    stated = [row for row in rows if row["standard_error"] is not None]
    held = [row["lower"] <= row["truth"] <= row["upper"] for row in stated]
    square = sum((row["estimate"] - row["truth"]) ** 2 for row in rows)
    return {"measured_error": math.sqrt(square / len(rows)), "covered": sum(held) / len(held)}
