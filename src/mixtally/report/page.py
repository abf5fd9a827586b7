"""One HTML file that opens offline: no scripts, no fonts, no address of anything else."""

from collections.abc import Iterable

from mixtally.ground.codec import fingerprint
from mixtally.records.results import Figures
from mixtally.report.charts import bins_chart, error_chart
from mixtally.report.models import statements
from mixtally.report.study import Study
from mixtally.report.style import STYLE
from mixtally.report.svg import Markup, el, join
from mixtally.report.words import at_most, fact, not_promised, number, promise, seen_by_sums
from mixtally.version import VERSION

_CHART_BINS = 30
_TABLE_BINS = 1000


def page(study: Study) -> str:
    """The report as HTML text."""
    body = el(
        "main",
        el("h1", study.title),
        el("p", study.source, class_="source"),
        _key_figures(study),
        section("Counts", bins_chart(study, _CHART_BINS), el("p", study.findings(), class_="note")),
        *map(figures_section, study.main.figures),
        section("Error among other models", error_chart(study), _error_note(study)),
        section("The plan", el("p", study.reason), _plan_table(study)),
        section("What is promised", *[el("p", text) for text in _promises(study)]),
        section("What is not promised", plain_list(_not_promised(study))),
        section("All bins", _all_bins(study)),
        el("footer", _footer(study)),
    )
    return document(study.title, body)


def document(title: str, body: Markup, style: str = "") -> str:
    """A whole HTML file around ``body``, with more style if any."""
    head = (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"{el('title', title)}<style>{STYLE}{style}</style></head><body>"
    )
    return f"{head}{body}</body></html>\n"


def section(title: str, *parts: Markup) -> Markup:
    """A part of a page under its heading."""
    return el("section", el("h2", title), *parts)


def figures_list(figures: Iterable[tuple[str, str]]) -> Markup:
    """Names and values that a page opens with."""
    return el(
        "dl",
        *[el("div", el("dt", name), el("dd", value)) for name, value in figures],
        class_="figures",
    )


def rows_table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> Markup:
    """A table of names and numbers, wide ones in a frame that scrolls."""
    top = el("thead", el("tr", *[el("th", name) for name in head]))
    lines = [el("tr", *[el("td", cell) for cell in row]) for row in rows]
    return el("div", el("table", top, el("tbody", *lines), class_="bins"), class_="scroll")


def plain_list(texts: Iterable[str]) -> Markup:
    """Sentences one below the other."""
    return el("ul", *[el("li", text) for text in texts])


def _promises(study: Study) -> list[str]:
    release = study.main
    texts = promise(release.plan, release.whole)
    return (
        texts if release.sums is None else texts + seen_by_sums(release.certificate, release.sums)
    )


def _not_promised(study: Study) -> list[str]:
    first, *rest = study.main.protocols
    return not_promised(study.main.plan, first, rest)


def figures_section(figures: Figures) -> Markup:
    """Numbers derived from the same messages, as a table."""
    coarse = any(row.resolution is not None for row in figures.rows)
    names = ["", "estimate", "standard error", "interval", *["resolution"] * coarse, "truth"]
    rows = []
    for row in figures.rows[:_CHART_BINS]:
        values = [row.estimate, row.standard_error, *[row.resolution] * coarse, row.truth]
        cells = [number(v, 5) if v is not None else "" for v in values]
        cells.insert(2, f"{number(row.lower, 5)} .. {number(row.upper, 5)}")
        rows.append([row.label, *cells])
    return section(figures.title, rows_table(names, rows), el("p", figures.note, class_="note"))


def _key_figures(study: Study) -> Markup:
    plan, found, shown = study.main.plan, study.main.estimate, study.main.certificate
    figures = [
        ("people", f"{plan.users:,}"),
        ("bins", f"{study.main.question.bins:,}"),
        ("epsilon", at_most(shown.epsilon)),
        ("delta at most", at_most(shown.upper)),
        ("standard error, counts", number(found.standard_error)),
        ("messages a user", f"{study.main.messages / plan.users:.3f}"),
    ]
    return figures_list(figures)


def _error_note(study: Study) -> Markup:
    text = "Expected standard error of an empty bin at the same epsilon. "
    if study.central.lines:
        text += (
            "In the central model someone who sees everything adds the noise; upright bars are how "
            "far off one answer is at most, at the confidence stated below, and dashed lines carry "
            "the errors through all rows. "
        )
    else:
        text += "The central model is discrete Laplace noise added by someone who sees everything. "
    text += "The local model is the better of optimized unary and direct encoding."
    if study.truth is not None:
        text += " Rings are the error measured here over all bins."
    told = statements(study)
    return join([el("p", text, class_="note"), *([plain_list(told)] if told else [])])


def _plan_table(study: Study) -> Markup:
    every = [r.facts() for r in study.releases]
    names = list(dict.fromkeys(name for facts in every for name in facts))
    hidden = {"source", "assumption"}  # told in words below
    rows = [
        el(
            "tr",
            el("th", name.replace("_", " ")),
            *[el("td", fact(name, f.get(name, ""))) for f in every],
        )
        for name in names
        if name not in hidden
    ]
    return el("div", el("table", *rows, class_="plan"), class_="scroll")


def _all_bins(study: Study) -> Markup:
    found, question = study.main.estimate, study.main.question
    names = [question.name, "estimate", "interval", "interval, all bins"]
    names += ["simplex"] if found.projected is not None else []
    names += ["truth"] if study.truth is not None else []
    shown = study.ranked()[:_TABLE_BINS].tolist()
    rows = []
    for i in shown:
        cells = [
            question.label(i),
            f"{found.counts[i]:,.1f}",
            f"{found.each.lower[i]:,} .. {found.each.upper[i]:,}",
            f"{found.together.lower[i]:,} .. {found.together.upper[i]:,}",
        ]
        cells += [f"{found.projected[i]:,.1f}"] if found.projected is not None else []
        cells += [f"{study.truth[i]:,}"] if study.truth is not None else []
        rows.append(cells)
    title = f"The {len(shown):,} largest of {question.bins:,} bins"
    return el("details", el("summary", title), rows_table(names, rows))


def _footer(study: Study) -> Markup:
    chance = "randomness from the operating system" if study.seed is None else f"seed {study.seed}"
    text = f"mixtally {VERSION}, {chance}, plan {fingerprint(study.main.plan)}"
    return join([el("p", text)])
