"""Counts over time as one JSON object and as rows of CSV files."""

from mixtally.ground.codec import fingerprint
from mixtally.records.result import Step
from mixtally.records.results import Figures
from mixtally.report import counts
from mixtally.report.document import Facts, Rows
from mixtally.report.texts import row_facts
from mixtally.simulation.trend.trend import Trend


def facts(trend: Trend) -> Facts:
    """Everything as one JSON object: the plan, what it spends, the counts, the changes."""
    whole, each = trend.whole, trend.series.results[0].estimate.each
    return {
        "title": trend.about.title,
        "source": trend.about.told(rehearsal=trend.truth is not None),
        "seed": trend.about.seed,
        "reason": trend.about.reason,
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
        "confidence_level": each.level,
        "interval_method": each.method,
        **({} if trend.truth is None else _measured(trend)),
        "spending": [
            {"epochs": s.times, "people": s.people, "epsilon": s.epsilon, "delta": s.delta}
            for s in trend.spending
        ],
        "epochs": [
            {
                "epoch": name,
                "users": trend.users[i],
                "messages": trend.series.results[i].messages,
                "estimates": _count_rows(trend, i),
            }
            for i, name in enumerate(trend.epochs)
        ],
        "changes": [row for step in trend.steps for row in _change_rows(trend, step)],
        **{one.name: _figure_rows(trend, one) for one in trend.series.figures},
    }


def _measured(trend: Trend) -> Facts:
    return {
        "measured_count_error": trend.count_error(),
        "measured_change_error": trend.change_error(),
        "changes_covered": trend.covered(),
    }


def tables(trend: Trend) -> dict[str, Rows]:
    """A line an epoch and bin, a line a change and bin, a line a mean."""
    every = [row for i in range(len(trend.epochs)) for row in _count_rows(trend, i)]
    return {
        "counts.csv": counts.as_csv(every),
        "changes.csv": counts.as_csv(
            [row for step in trend.steps for row in _change_rows(trend, step)]
        ),
        **{
            f"{one.name}.csv": counts.as_csv(_figure_rows(trend, one))
            for one in trend.series.figures
        },
    }


def _count_rows(trend: Trend, epoch: int) -> list[Facts]:
    """One flat object a bin for one epoch, in the order of the bins."""
    result = trend.series.results[epoch]
    return [
        {
            "epoch": trend.epochs[epoch],
            "bin": i,
            **row_facts(result.row(i)),
            **({} if trend.truth is None else {"truth": int(trend.truth[epoch, i])}),
        }
        for i in range(result.question.bins)
    ]


def _change_rows(trend: Trend, step: Step) -> list[Facts]:
    """One flat object a bin for one change, in the order of the bins."""
    found, question = step.change, trend.plan.question
    truth = None if trend.truth is None else trend.true_change(step)
    rows = []
    for i in range(question.bins):
        row = row_facts(found.row(i, question.label(i)))
        change = {"change" if name == "estimate" else name: v for name, v in row.items()}
        rows.append(
            {
                "from": trend.epochs[step.first],
                "to": trend.epochs[step.last],
                "bin": i,
                **change,
                "surely_changed": bool(found.surely[i]),
                **({} if truth is None else {"truth": int(truth[i])}),
            }
        )
    return rows


def _figure_rows(trend: Trend, figures: Figures) -> list[Facts]:
    beside = {} if trend.truth is None else {"truth": trend.figures[figures.name]}
    return counts.figure_rows(figures, beside)
