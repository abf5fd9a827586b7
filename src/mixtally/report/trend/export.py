"""Counts over time as CSV and as JSON, all digits kept."""

from dataclasses import asdict
from typing import Any

from mixtally.ground.codec import fingerprint
from mixtally.report import texts
from mixtally.report.trend.trend import Step, Trend


def count_rows(trend: Trend, epoch: int) -> list[dict[str, Any]]:
    """One flat object a bin for one epoch, in the order of the bins."""
    found, question = trend.releases[epoch].estimate, trend.plan.question
    rows = []
    for i, count in enumerate(found.counts.tolist()):
        row = {
            "epoch": trend.epochs[epoch],
            "bin": i,
            "label": question.label(i),
            "estimate": count,
            "standard_error": found.standard_error,
            "lower": int(found.each.lower[i]),
            "upper": int(found.each.upper[i]),
            "lower_all_bins": int(found.together.lower[i]),
            "upper_all_bins": int(found.together.upper[i]),
        }
        if trend.truth is not None:
            row["truth"] = int(trend.truth[epoch, i])
        rows.append(row)
    return rows


def change_rows(trend: Trend, step: Step) -> list[dict[str, Any]]:
    """One flat object a bin for one change, in the order of the bins."""
    found, question, truth = step.change, trend.plan.question, trend.true_change(step)
    surely, rows = found.surely, []
    for i, count in enumerate(found.counts.tolist()):
        row = {
            "from": trend.epochs[step.first],
            "to": trend.epochs[step.last],
            "bin": i,
            "label": question.label(i),
            "change": count,
            "standard_error": found.standard_error,
            "lower": int(found.each.lower[i]),
            "upper": int(found.each.upper[i]),
            "lower_all": int(found.together.lower[i]),
            "upper_all": int(found.together.upper[i]),
            "surely_changed": bool(surely[i]),
        }
        if truth is not None:
            row["truth"] = int(truth[i])
        rows.append(row)
    return rows


def facts(trend: Trend) -> dict[str, Any]:
    """Everything as one JSON object: the plan, the price, the counts, the changes."""
    whole = trend.whole
    return {
        "title": trend.title,
        "source": trend.source,
        "seed": trend.seed,
        "reason": trend.reason,
        "question": trend.plan.question.name,
        "epsilon": trend.guarantee.epsilon,
        "delta_target": trend.guarantee.delta,
        "delta": whole.upper,
        "delta_lower": whole.lower,
        "observer": whole.observer,
        "status": whole.status,
        "composed_by": whole.source,
        "assumption": whole.assumption,
        "plan": trend.plan.facts(),
        "fingerprint": fingerprint(trend.plan),
        "confidence_level": trend.releases[0].estimate.each.level,
        "interval_method": trend.releases[0].estimate.each.method,
        "measured_count_error": trend.count_error(),
        "measured_change_error": trend.change_error(),
        "changes_covered": trend.covered(),
        "spending": [
            {"epochs": s.times, "people": s.people, "epsilon": s.epsilon, "delta": s.delta}
            for s in trend.spending
        ],
        "epochs": [
            {
                "epoch": name,
                "users": trend.users[i],
                "messages": trend.releases[i].messages,
                "estimates": count_rows(trend, i),
            }
            for i, name in enumerate(trend.epochs)
        ],
        "changes": [row for step in trend.steps for row in change_rows(trend, step)],
        **{found.name: [asdict(row) for row in found.rows] for found in trend.figures},
    }


def json_text(trend: Trend) -> str:
    """Everything as JSON."""
    return texts.json_text(facts(trend))


def counts_csv(trend: Trend) -> str:
    """A line an epoch and bin."""
    return texts.csv_text(row for i in range(len(trend.epochs)) for row in count_rows(trend, i))


def changes_csv(trend: Trend) -> str:
    """A line a change and bin; empty with a single epoch."""
    return texts.csv_text(row for step in trend.steps for row in change_rows(trend, step))
