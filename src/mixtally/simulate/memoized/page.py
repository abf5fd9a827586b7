"""A crowd with memoized answers as one HTML file that opens offline; all of it is in the facts."""

from mixtally.report.charts import Row, rows_chart
from mixtally.report.curves import STYLE, Chart, Curve, draw
from mixtally.report.parts import (
    document,
    facts_table,
    figures_list,
    folded,
    footer,
    note,
    paragraphs,
    plain_list,
    rows_table,
    section,
)
from mixtally.report.svg import Markup, el
from mixtally.report.words import at_most, number
from mixtally.simulate.memoized.export import ranked
from mixtally.simulate.memoized.losses import Facts
from mixtally.simulate.memoized.words import NOT_PROMISED, findings, linking, promised

_STYLE = ".c1{stroke:var(--soft);stroke-dasharray:3 4}.c2{stroke:var(--truth)}"
_CHART_ROWS = 30
_TABLE_ROWS = 1000
_PLAN = (
    "permanent", "p", "q", "permanent_threshold", "p_threshold", "q_threshold", "bits", "hashes",
    "cohorts", "reports", "observer", "memory_file",
)  # fmt: skip


def page(facts: Facts) -> str:
    """The report as HTML text."""
    return document(
        facts["title"],
        facts["source"],
        _key_figures(facts),
        section("Counts", _counts(facts), *_notes(findings(facts)[:-1])),
        section("What reports cost", draw(_losses(facts)), *_notes([_LOSSES])),
        section("What averaging tells", draw(_averaging(facts)), *_notes([_AVERAGING]), _by(facts)),
        section("What linking tells", el("p", linking(facts))),
        section("What is promised", *paragraphs(promised(facts))),
        section("What is not promised", plain_list(NOT_PROMISED)),
        section(
            "The plan",
            *_notes([facts["reason"]]),
            facts_table({name: facts[name] for name in _PLAN if facts[name] is not None}),
        ),
        section("All estimates", _all(facts)),
        footer(facts["seed"], facts["fingerprint"]),
        style=STYLE + _STYLE,
    )


_LOSSES = (
    "The largest loss of one value, both axes logarithmic. That of a memoized answer rises to "
    "eps_inf and stays below it, however many reports there are; with fresh noise every time "
    "losses add up."
)
_AVERAGING = (
    "How likely the better guess of a bit is still wrong, to somebody who knows whose the reports "
    "are and found both answers equally likely before: the posterior of the other answer, on "
    "average. One half is blindness. A report drawn once and repeated tells no more than the first "
    "one; fresh noise every time falls to the truth; averaging the reports of a memoized answer "
    "finds what is kept, and stops at f/2 for what is true. Lines are exact; below them is what "
    "was measured on this crowd."
)


def _notes(texts: list[str]) -> list[Markup]:
    return [note(text[:1].upper() + text[1:]) for text in texts if text]


def _key_figures(facts: Facts) -> Markup:
    figures = [
        ("people", f"{facts['users']:,}"),
        ("reports of each", f"{facts['reports']:,}"),
        ("epsilon, one report", at_most(facts["eps_1"])),
        (f"epsilon, {facts['reports']:,} reports", at_most(facts["eps_T"])),
        ("epsilon, however many", at_most(facts["eps_inf"])),
        ("standard error, counts", number(facts["bit_error_all_reports"])),
    ]
    return figures_list(figures)


def _counts(facts: Facts) -> Markup:
    told = [row for row in ranked(facts) if row["standard_error"] is not None][:_CHART_ROWS]
    rows = [
        Row(row["label"], row["estimate"], row["lower"], row["upper"], row["truth"]) for row in told
    ]
    return rows_chart(rows, f"The {len(rows):,} largest estimates with their intervals")


def _curve(facts: Facts, name: str, field: str) -> Curve:
    rows = facts["by_reports"]
    return Curve(name, tuple((float(row["reports"]), row[field]) for row in rows))


def _losses(facts: Facts) -> Chart:
    ends = [float(facts["by_reports"][place]["reports"]) for place in (0, -1)]
    limit = tuple((end, facts["eps_inf"]) for end in ends)
    return Chart(
        "memory", "Loss by the number of reports", _LOSSES, "reports", "epsilon",
        (
            _curve(facts, "memoized, eps_T", "eps_T"),
            Curve("however many, eps_inf", limit),
            _curve(facts, "fresh noise, T eps_1", "eps_fresh"),
        ),
        marks=_now(facts), log_x=True, log_y=True,
    )  # fmt: skip


def _averaging(facts: Facts) -> Chart:
    return Chart(
        "memory", "Chance of a wrong guess by the number of reports", _AVERAGING, "reports",
        "chance that the better guess of a bit is wrong",
        (
            _curve(facts, "memoized, the true bit", "true_bit_wrong"),
            _curve(facts, "drawn once, repeated", "drawn_once_wrong"),
            _curve(facts, "fresh noise every time", "fresh_wrong"),
            _curve(facts, "memoized, the kept bit", "kept_bit_wrong"),
        ),
        marks=_now(facts), log_x=True,
    )  # fmt: skip


def _now(facts: Facts) -> tuple[tuple[float, str], ...]:
    return ((float(facts["reports"]), "this run"),)


def _by(facts: Facts) -> Markup:
    columns = (
        ("fresh noise", "fresh_wrong"),
        ("drawn once", "drawn_once_wrong"),
        ("true bit", "true_bit_wrong"),
        ("played", "true_bit_wrong_measured"),
        ("kept bit", "kept_bit_wrong"),
        ("played", "kept_bit_wrong_measured"),
    )
    rows = [
        [f"{row['reports']:,}", at_most(row["eps_T"]), *(_share(row[name]) for _, name in columns)]
        for row in facts["by_reports"]
    ]
    title = "Losses and wrong guesses by the number of reports"
    return folded(title, rows_table(["reports", "eps_T", *(head for head, _ in columns)], rows))


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _all(facts: Facts) -> Markup:
    shown = ranked(facts)[:_TABLE_ROWS]
    found = "found" in shown[0]
    head = [facts["column"], "estimate", "standard error", "interval", "interval, all", "truth"]
    head += ["significant"] if found else []
    rows = []
    for row in shown:
        told = row["standard_error"] is not None
        cells = [row["label"], f"{row['estimate']:,.1f}" if told else "not chosen"]
        cells += [number(row["standard_error"])] if told else [""]
        cells += [
            f"{row[low]:,} .. {row[high]:,}" if told else ""
            for low, high in (("lower", "upper"), ("lower_all", "upper_all"))
        ]
        cells += [f"{row['truth']:,}"]
        cells += [("yes" if row["found"] else "no")] if found else []
        rows.append(cells)
    title = f"The {len(shown):,} largest of {len(facts['estimates']):,} estimates"
    return folded(title, rows_table(head, rows))
