"""Comparison of releases with the central model and the local model.

``study_document`` shows one line for each mechanism. In the central model one trusted party sees
all answers. In the local model each person adds enough noise to need no trust in anyone.
"""

from mixtally.lab.simulation.study import Study
from mixtally.model.baseline import Baseline
from mixtally.report.charts import Line
from mixtally.report.counts_view import CountsView
from mixtally.report.numbers import at_most, number


def compare_models(study: Study) -> list[Line]:
    """Return one line for each central mechanism, release and local mechanism.

    If OpenDP built no central mechanism, one line has the central model's error from a formula.
    """
    central = {} if study.truth is None else study.truth.central
    found = [
        Line(f"central, {b.name}", b.standard_error, central.get(b.name), b.one_within, 1.0)
        for b in study.central.lines
    ]
    if not found:
        found.append(Line("central model, someone sees all", study.central_error, None, None, 1.0))
    for release in study.releases:
        result = release.result
        error = result.estimate.standard_error
        measured = CountsView(result, truth=study.truth).measured_error
        sent = result.messages / result.received.contributors
        found.append(Line(result.name, error, measured, None, sent, is_plan=True))
    found.append(Line("local model, nobody is trusted", study.local_error, None, None, 1.0))
    return found


def describe_accuracy(study: Study) -> list[str]:
    """Return one sentence on the accuracy of each central mechanism."""
    central = {} if study.truth is None else study.truth.central
    bins = study.main_result.question.bins
    return [_describe_baseline(line, bins, central.get(line.name)) for line in study.central.lines]


def _describe_baseline(line: Baseline, bins: int, measured: float | None) -> str:
    chance = f"with a chance of {100 * line.level:g} %"
    if line.all_within is None:
        what = f"the bin it names is at most {line.one_within:,} below the largest"
        if measured is not None:
            what += f" (here {number(measured)})"
    else:
        what = (
            f"one count errs by at most {line.one_within:,}, all {bins:,} by at most "
            f"{line.all_within:,}"
        )
    spent = f"epsilon = {at_most(line.epsilon, 6)}, delta = {at_most(line.delta, 6)}"
    return f"central model, {line.name}: {chance} {what}; {spent} ({line.source})."
