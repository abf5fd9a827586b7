"""What is shown of a study: the main release in full, the others by their errors."""

from collections.abc import Mapping

import msgspec

from mixtally.ground.codec import fingerprint
from mixtally.records.results import Figures
from mixtally.report import counts
from mixtally.report.charts import Bar, error_chart, rows_chart
from mixtally.report.document import (
    Bullets,
    Cell,
    Document,
    Facts,
    FactTable,
    Marked,
    Part,
    Picture,
    Rows,
    Section,
    Table,
    Text,
    Tone,
    closing,
)
from mixtally.report.svg import Markup
from mixtally.report.words import not_promised, number, promise, seen_by_sums
from mixtally.simulate.models import lines, statements
from mixtally.simulate.study import Release, Study

_CHART_BINS = 30
_TABLE_BINS = 1000
_FEW = 8
"""Rows of figures that a terminal shows at least."""


def document(study: Study, top: int) -> Document:
    """The study; a terminal shows the ``top`` largest bins."""
    return Document(
        title=study.about.title,
        source=study.about.source,
        key=counts.key_figures(study.main),
        sections=lambda: _sections(study),
        summary=lambda: tuple(_summary(study, top)),
        prose=(study.about.reason,),
        facts=lambda: facts(study),
        tables=lambda: tables(study),
        closing=closing(study.about.seed, fingerprint(study.main.plan)),
    )


def _sections(study: Study) -> tuple[Section, ...]:
    main = study.main
    every = main.ranked()[:_TABLE_BINS].tolist()
    title = f"The {len(every):,} largest of {main.question.bins:,} bins"
    errors: list[Part] = [Picture(error_chart(lines(study))), Text(_error_note(study), note=True)]
    if stated := statements(study):
        errors.append(Bullets.of(stated))
    return (
        Section(
            "Counts",
            (Picture(bins_chart(study, _CHART_BINS)), Text(_findings(study), note=True)),
        ),
        *(_figures(study, one, _CHART_BINS) for one in main.figures),
        Section("Error among other models", tuple(errors)),
        Section(
            "The plan",
            (Text(study.about.reason), FactTable(tuple(r.facts for r in study.releases))),
        ),
        Section("What is promised", tuple(map(Text, _promises(study)))),
        Section("What is not promised", (Bullets.of(not_promised(main.plans)),)),
        Section("All bins", (_counts(study, every, title, folded=True),)),
    )


def facts(study: Study) -> Facts:
    """The whole study as one JSON object."""
    return {
        "title": study.about.title,
        "source": study.about.source,
        "seed": study.about.seed,
        "reason": study.about.reason,
        "central_standard_error": study.central_error,
        "local_standard_error": study.local_error,
        "central": [line.facts() for line in study.central.lines],
        "central_note": study.central.note,
        "releases": [_release(study, release) for release in study.releases],
    }


def tables(study: Study) -> dict[str, Rows]:
    """The main release's rows: bins from the largest estimate down, and its figures."""
    main = study.main
    every = counts.count_rows(main, {"truth": study.truth.counts.tolist()})
    return {
        "estimates.csv": counts.as_csv([every[i] for i in main.ranked()]),
        **{
            f"{one.name}.csv": counts.as_csv(counts.figure_rows(one, _truth_of(study, one)))
            for one in main.figures
        },
    }


def _release(study: Study, release: Release) -> Facts:
    result = release.result
    found = {
        **counts.facts(result, release.facts),
        "measured_error": study.measured_error(result),
        "covered": study.covered(result),
        "estimates": counts.count_rows(result, {"truth": study.truth.counts.tolist()}),
        **{one.name: counts.figure_rows(one, _truth_of(study, one)) for one in result.figures},
    }
    if release.sums is not None:
        found["observer_of_sums"] = msgspec.to_builtins(release.sums)
    return found


def _summary(study: Study, top: int) -> list[Part]:
    main = study.main
    parts: list[Part] = [
        _counts(study, main.ranked()[:top].tolist(), study.about.title),
        Text(_findings(study)),
    ]
    for one in main.figures:
        parts += [_figures_table(study, one, max(top, _FEW), titled=True), Text(one.note)]
    parts += [_errors(study), *map(Text, statements(study))]
    sums = study.releases[0].sums
    return parts if sums is None else [*parts, *map(Text, seen_by_sums(main.certificate, sums))]


def _counts(study: Study, bins: list[int], title: str, *, folded: bool = False) -> Table:
    """Counts beside the true ones, and by how much they err."""
    found, true = study.main.estimate, study.truth.counts
    inside = (found.each.lower <= true) & (true <= found.each.upper)
    off = [f"{found.counts[i] - true[i]:+,.1f}" for i in bins]
    errors: list[Cell] = [
        text if inside[i] else Marked(text, Tone.BAD) for i, text in zip(bins, off, strict=True)
    ]
    beside: counts.Beside = {"true count": [f"{true[i]:,}" for i in bins], "error": errors}
    return counts.counts_table(study.main, bins, beside, title=title, folded=folded)


def _figures(study: Study, figures: Figures, most: int) -> Section:
    return Section(
        figures.title,
        (_figures_table(study, figures, most, titled=False), Text(figures.note, note=True)),
    )


def _figures_table(study: Study, figures: Figures, most: int, *, titled: bool) -> Table:
    level, true = study.main.estimate.each.level, study.truth.figures[figures.name]
    return counts.figures_table(figures, level, most, {"true value": true}, titled=titled)


def _truth_of(study: Study, figures: Figures) -> Mapping[str, tuple[float | None, ...]]:
    return {"truth": study.truth.figures[figures.name]}


def bins_chart(study: Study, top: int) -> Markup:
    """The ``top`` largest estimates with their intervals, rings at the true counts."""
    found, question, true = study.main.estimate, study.main.question, study.truth.counts
    bars = [
        Bar(
            question.label(i),
            float(found.counts[i]),
            float(found.each.lower[i]),
            float(found.each.upper[i]),
            float(true[i]),
        )
        for i in study.main.ranked()[:top].tolist()
    ]
    return rows_chart(bars, f"The {len(bars)} largest bins with their intervals")


def _findings(study: Study) -> str:
    covered, bins = study.covered(study.main), study.main.question.bins
    return (
        f"{counts.findings(study.main)} {100 * covered:.1f} % of the {bins:,} intervals cover the "
        "true count."
    )


def _errors(study: Study) -> Table:
    """Standard errors beside the central and the local model."""
    rows = [
        (
            line.name,
            number(line.expected),
            counts.maybe(line.measured, 3),
            f"{line.messages:.3f}" if line.own else "1",
        )
        for line in lines(study)
        if line.expected is not None
    ]
    return Table(("who adds the noise", "expected error", "measured", "messages a user"), rows)


def _error_note(study: Study) -> str:
    text = "Expected standard error of an empty bin at the same epsilon. "
    if study.central.lines:
        text += (
            "In the central model someone who sees everything adds the noise; upright bars are how "
            "far off one answer is at most, at the confidence stated below, and dashed lines carry "
            "the errors through all rows. "
        )
    else:
        text += "The central model is discrete Laplace noise added by someone who sees everything. "
    return text + (
        "The local model is the better of optimized unary and direct encoding. Rings are the error "
        "measured here over all bins."
    )


def _promises(study: Study) -> list[str]:
    main, sums = study.main, study.releases[0].sums
    texts = promise(main.plan, main.certificate)
    return texts if sums is None else texts + seen_by_sums(main.certificate, sums)
