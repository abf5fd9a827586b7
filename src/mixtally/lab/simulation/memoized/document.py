"""Document of a crowd with memoized answers.

``app.memoized`` calls `document`. All numbers shown are also in ``MemoizedFindings.facts``.
"""

from collections.abc import Iterable
from operator import itemgetter

from mixtally.lab.simulation.memoized.counts import MemoizedFindings
from mixtally.lab.simulation.memoized.sentences import (
    NOT_PROMISED,
    describe_findings,
    describe_linking,
    describe_losses,
    describe_promise,
    promise_lines,
)
from mixtally.report import counts
from mixtally.report.charts import bars_of, intervals_chart
from mixtally.report.counts_view import CHART_BINS, TABLE_BINS
from mixtally.report.curves import Chart, Curve, draw
from mixtally.report.document import Cell, Document, Facts, Picture, Rows, Section, Table, Text
from mixtally.report.numbers import at_most, error_text, interval_text, percent
from mixtally.report.sections import plan_facts, promise_sections

_PLAN = (
    "permanent", "p", "q", "permanent_threshold", "p_threshold", "q_threshold", "bits", "hashes",
    "cohorts", "reports", "observer", "memory_file",
)  # fmt: skip
_LOSSES = (
    "The largest loss of one value, both axes logarithmic. That of a memoized answer rises to "
    "eps_inf and stays below it, however many reports there are; with fresh noise every time "
    "losses add up."
)
_AVERAGING = (
    "How likely the better guess of a bit is still wrong, to somebody who knows whose the reports "
    "are and found both answers equally likely before: the posterior of the other answer, on "
    "average. One half means that nothing was learned. A report drawn once and repeated reveals no "
    "more than the first one; with fresh noise every time the true bit is found; averaging the "
    "reports of a memoized answer finds the memoized bit, and errs at least f/2 of the time on the "
    "true bit. Lines are exact."
)


def document(findings: MemoizedFindings, top: int) -> Document:
    """Return the document of a simulation, or of a publishable result if the truth is missing.

    A terminal shows the ``top`` largest estimates.
    """
    facts, rows, ordered = findings.facts, findings.rows, findings.provenance.ordered
    reason = [findings.provenance.reason] if findings.provenance.reason else []

    def select_largest(most: int) -> list[Facts]:
        """Return the rows of the ``most`` largest estimates.

        They are in the order of the values if this order was fixed, otherwise largest first.
        """
        # Values with a fixed order, such as ages or dates, keep this order.
        places = sorted(range(len(rows)), key=lambda place: -rows[place]["estimate"])[:most]
        return [rows[place] for place in (sorted(places) if ordered else places)]

    def build_table(most: int, title: str = "") -> Table:
        shown = select_largest(most)
        shown_note = counts.shown_text(len(shown), len(rows), "" if title else " estimates")
        named = f"{title}: {shown_note}" if title else shown_note.capitalize()
        return _table(findings, shown, named, folded=not title)

    return findings.document(
        promise=promise_lines(facts),
        key=_key_figures(facts),
        sections=lambda: (
            Section(
                "Counts",
                (_chart(select_largest(len(rows))), *_notes(describe_findings(findings)[:-1])),
            ),
            Section("What reports cost", (_losses(facts), *_notes([_LOSSES]))),
            Section(
                "What averaging tells",
                (_averaging(facts), *_notes([_AVERAGING]), _by_reports(facts)),
            ),
            Section("What linking tells", (Text(describe_linking(facts)),)),
            *promise_sections(describe_promise(facts), NOT_PROMISED),
            Section(
                "The plan",
                (
                    *_notes(reason),
                    *plan_facts(
                        {n: facts[n] for n in _PLAN if facts[n] is not None},
                        read=[name for name in _PLAN if "threshold" not in name],
                    ),
                ),
            ),
            Section("All estimates", (build_table(TABLE_BINS),)),
        ),
        summary=lambda: (build_table(top, findings.provenance.title),),
        prose=(*describe_findings(findings), *describe_losses(facts), *reason),
        facts=lambda: findings.facts,
        tables=lambda: {"estimates.csv": Rows(select_largest(len(rows)))},
        origin=(facts["fingerprint"],),
    )


def _notes(texts: Iterable[str]) -> list[Text]:
    return [Text(text[:1].upper() + text[1:], note=True) for text in texts]


def _key_figures(facts: Facts) -> tuple[tuple[str, str], ...]:
    return (
        ("people", f"{facts['users']:,}"),
        ("reports of each", f"{facts['reports']:,}"),
        ("epsilon, one report", at_most(facts["eps_1"])),
        (f"epsilon, {facts['reports']:,} reports", at_most(facts["eps_T"])),
        ("epsilon, however many", at_most(facts["eps_inf"])),
        ("standard error, counts", error_text(facts["bit_error_all_reports"])),
    )


def _chart(ranked: list[Facts]) -> Picture:
    stated = [row for row in ranked if row["standard_error"] is not None][:CHART_BINS]
    return intervals_chart(bars_of(stated, itemgetter("label")), "largest estimates")


def _curve_by_reports(facts: Facts, name: str, field: str) -> Curve:
    rows = facts["by_reports"]
    return Curve(name, tuple((float(row["reports"]), row[field]) for row in rows))


def _losses(facts: Facts) -> Picture:
    ends = [float(facts["by_reports"][place]["reports"]) for place in (0, -1)]
    curves = (
        _curve_by_reports(facts, "memoized, eps_T", "eps_T"),
        Curve("however many, eps_inf", tuple((end, facts["eps_inf"]) for end in ends)),
        _curve_by_reports(facts, "fresh noise, T eps_1", "eps_fresh"),
    )
    return _draw_curves(facts, "Loss", _LOSSES, "epsilon", curves, log_y=True)


def _averaging(facts: Facts) -> Picture:
    curves = (
        _curve_by_reports(facts, "memoized, the true bit", "true_bit_wrong"),
        _curve_by_reports(facts, "drawn once, repeated", "drawn_once_wrong"),
        _curve_by_reports(facts, "fresh noise every time", "fresh_wrong"),
        _curve_by_reports(facts, "memoized, the memoized bit", "kept_bit_wrong"),
    )
    y_name = "chance that the better guess of a bit is wrong"
    return _draw_curves(facts, "Chance of a wrong guess", _AVERAGING, y_name, curves)


def _draw_curves(
    facts: Facts,
    what: str,
    caption: str,
    y_name: str,
    curves: tuple[Curve, ...],
    *,
    log_y: bool = False,
) -> Picture:
    """Return a chart of curves over the number of reports; a mark shows the number of this run."""
    marks = ((float(facts["reports"]), "this run"),)
    title = f"{what} by the number of reports"
    chart = Chart(
        "memory", title, caption, "reports", y_name, curves, marks, log_x=True, log_y=log_y
    )
    return draw(chart)


def _by_reports(facts: Facts) -> Table:
    columns = [
        (name, field)
        for name, field in (
            ("fresh noise", "fresh_wrong"),
            ("drawn once", "drawn_once_wrong"),
            ("true bit", "true_bit_wrong"),
            ("played", "true_bit_wrong_measured"),
            ("memoized bit", "kept_bit_wrong"),
            ("played", "kept_bit_wrong_measured"),
        )
        if field in facts["by_reports"][0]
    ]
    rows = [
        [f"{row['reports']:,}", at_most(row["eps_T"]), *(_share(row[name]) for _, name in columns)]
        for row in facts["by_reports"]
    ]
    title = "Losses and wrong guesses by the number of reports"
    return Table(("reports", "eps_T", *(n for n, _ in columns)), rows, title=title, folded=True)


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _table(
    findings: MemoizedFindings, shown: list[Facts], title: str, *, folded: bool = False
) -> Table:
    """Return a table of the estimates ``shown``; for words it says which are significant."""
    level = f"{percent(findings.facts['confidence_level'])} interval"
    words = findings.result.words is not None
    head = [
        findings.facts["column"],
        "estimate",
        "standard error",
        level,
        f"{level}, all",
        *(["true count", "error"] if findings.is_simulated else []),
    ]
    rows = [_cells(row, words=words) for row in shown]
    return Table((*head, *["significant"] * words), rows, title=title, folded=folded)


def _cells(row: Facts, *, words: bool) -> list[Cell]:
    more = ["yes" if row["found"] else "no"] if words else []
    error, true = row["standard_error"], row.get("truth")
    if error is None:
        true_cells = [] if true is None else [f"{true:,}", ""]
        return [row["label"], "not chosen", "", "", "", *true_cells, *more]
    counted = row["estimate"], row["lower"], row["upper"], error
    return [
        row["label"],
        counts.clip_text(*counted),
        error_text(error),
        interval_text(row["lower"], row["upper"]),
        interval_text(row["lower_simultaneous"], row["upper_simultaneous"]),
        *([] if true is None else counts.truth_cells(*counted, true)),
        *more,
    ]
