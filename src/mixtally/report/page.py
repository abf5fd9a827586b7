"""A study as one HTML file that opens offline: no scripts, fonts or address of anything else."""

from mixtally.ground.codec import fingerprint
from mixtally.records.results import Figures
from mixtally.report.charts import bins_chart, error_chart
from mixtally.report.models import statements
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
from mixtally.report.study import Study
from mixtally.report.svg import Markup, el, join
from mixtally.report.words import at_most, not_promised, number, promise, seen_by_sums

_CHART_BINS = 30
_TABLE_BINS = 1000


def page(study: Study) -> str:
    """The report as HTML text."""
    return document(
        study.title,
        study.source,
        _key_figures(study),
        section("Counts", bins_chart(study, _CHART_BINS), note(study.findings())),
        *map(figures_section, study.main.figures),
        section("Error among other models", error_chart(study), _error_note(study)),
        section(
            "The plan", el("p", study.reason), facts_table(*[r.facts() for r in study.releases])
        ),
        section("What is promised", *paragraphs(_promises(study))),
        section("What is not promised", plain_list(_not_promised(study))),
        section("All bins", _all_bins(study)),
        footer(study.seed, fingerprint(study.main.plan)),
    )


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
    return section(figures.title, rows_table(names, rows), note(figures.note))


def _promises(study: Study) -> list[str]:
    release = study.main
    texts = promise(release.plan, release.whole)
    if release.sums is None:
        return texts
    return texts + seen_by_sums(release.certificate, release.sums)


def _not_promised(study: Study) -> list[str]:
    return not_promised(study.main.plans)


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
    return join([note(text), *([plain_list(told)] if told else [])])


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
    return folded(title, rows_table(names, rows))
