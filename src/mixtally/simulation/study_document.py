"""What is shown of a study: the main release in full, the others by their errors."""

from collections.abc import Sequence

import msgspec

from mixtally.ground.codec import fingerprint
from mixtally.records.results import Figures
from mixtally.report import counts
from mixtally.report.charts import error_chart, rows_chart
from mixtally.report.counts import bars_of
from mixtally.report.document import (
    Bullets,
    Document,
    Facts,
    FactTable,
    Part,
    Picture,
    Rows,
    Section,
    Table,
    Text,
    closing,
)
from mixtally.report.promise import of_result
from mixtally.report.words import (
    error_text,
    not_promised,
    promise,
    seen_by_sums,
)
from mixtally.simulation.beside import beside, errors_beside
from mixtally.simulation.models import lines, statements
from mixtally.simulation.study import Release, Study

_CHART_BINS = 30
_TABLE_BINS = 1000
_FEW = 8
"""Rows of figures that a terminal shows at least."""


def document(study: Study, top: int) -> Document:
    """The study; a terminal shows the ``top`` largest bins. A release when it has no truth."""
    rehearsal = study.truth is not None
    return Document(
        title=study.about.title,
        source=study.about.told(rehearsal=rehearsal),
        promise=of_result(study.main, study.releases[0].facts["local_epsilon"]),
        rehearsal=rehearsal,
        key=counts.key_figures(study.main),
        sections=lambda: _sections(study),
        summary=lambda: tuple(_summary(study, top)),
        prose=(study.about.reason,),
        facts=lambda: facts(study),
        tables=lambda: tables(study),
        closing=closing(study.about.seed, fingerprint(study.main.plan)),
    )


def released(study: Study, top: int) -> Document | None:
    """What may be published of it; nothing under a seed, whose noise is public."""
    return document(study.published(), top) if study.about.seed is None else None


def _sections(study: Study) -> tuple[Section, ...]:
    main = study.main
    every, bins = _shown(study, _TABLE_BINS), main.question.bins
    title = counts.shown_of(len(every), bins, " bins").capitalize()
    errors: list[Part] = [error_chart(lines(study)), Text(_error_note(study), note=True)]
    if stated := statements(study):
        errors.append(Bullets.of(stated))
    errors += [Text(note, own=True) for note in _missing(study)]
    return (
        Section(
            "Counts",
            (bins_chart(study, _CHART_BINS), Text(_findings(study, every), note=True)),
        ),
        *(_figures(study, one, _CHART_BINS) for one in main.figures),
        Section("Error among other models", tuple(errors)),
        Section(
            "The plan",
            (Text(study.about.reason, own=True), FactTable(tuple(r.facts for r in study.releases))),
        ),
        Section("What is promised", tuple(map(Text, _promises(study)))),
        Section("What is not promised", (Bullets.of(not_promised(main.plans)),)),
        Section("All bins", (_counts(study, every, title, folded=True),)),
    )


def _in_order(study: Study) -> bool:
    return counts.ordered(study.main.question, given=study.about.ordered)


def _shown(study: Study, most: int) -> list[int]:
    """The ``most`` largest bins in the order of the question, or of their counts."""
    return counts.displayed(study.main, most, in_order=_in_order(study))


def facts(study: Study) -> Facts:
    """The whole study as one JSON object."""
    return {
        "title": study.about.title,
        "source": study.about.told(rehearsal=study.truth is not None),
        "seed": study.about.seed,
        "reason": study.about.reason,
        "central_standard_error": study.central_error,
        "local_standard_error": study.local_error,
        "central": [line.facts() for line in study.central.lines],
        "central_note": study.central.note,
        "releases": [_release(study, release) for release in study.releases],
    }


def tables(study: Study) -> dict[str, Rows]:
    """The main release's rows, bins in their order or from the largest down, and its figures."""
    main = study.main
    every = counts.count_rows(main, beside(study.truth))
    return {
        "estimates.csv": counts.as_csv([every[i] for i in _shown(study, main.question.bins)]),
        **{
            f"{one.name}.csv": counts.as_csv(counts.figure_rows(one, beside(study.truth, one)))
            for one in main.figures
        },
    }


def _release(study: Study, release: Release) -> Facts:
    result, truth = release.result, study.truth
    found = counts.facts(result, release.facts)
    if truth is not None:
        found["measured_error"] = truth.measured_error(result)
        found["covered"] = truth.covered(result)
    found["estimates"] = counts.count_rows(result, beside(truth))
    for one in result.figures:
        found[one.name] = counts.figure_rows(one, beside(truth, one))
    if release.sums is not None:
        found["observer_of_sums"] = msgspec.to_builtins(release.sums)
    return found


def _summary(study: Study, top: int) -> list[Part]:
    main, bins = study.main, _shown(study, top)
    shown = counts.shown_of(len(bins), main.question.bins)
    parts: list[Part] = [
        _counts(study, bins, f"{study.about.title}: {shown}"),
        Text(_findings(study, bins)),
    ]
    for one in main.figures:
        parts += [_figures_table(study, one, max(top, _FEW), titled=True), Text(one.note)]
    parts += [_errors(study), *map(Text, (*statements(study), *_missing(study)))]
    sums = study.releases[0].sums
    return parts if sums is None else [*parts, *map(Text, seen_by_sums(main.certificate, sums))]


def _counts(study: Study, bins: list[int], title: str, *, folded: bool = False) -> Table:
    """Counts; in a rehearsal beside the true ones, and by how much they err."""
    columns = {} if study.truth is None else errors_beside(study.main, study.truth, bins)
    return counts.counts_table(study.main, bins, columns, title=title, folded=folded)


def _figures(study: Study, figures: Figures, most: int) -> Section:
    return Section(
        figures.title,
        (_figures_table(study, figures, most, titled=False), Text(figures.note, note=True)),
    )


def _figures_table(study: Study, figures: Figures, most: int, *, titled: bool) -> Table:
    level = study.main.estimate.each.level
    values = {} if study.truth is None else {"true value": study.truth.figures[figures.name]}
    return counts.figures_table(figures, level, most, values, titled=titled)


def bins_chart(study: Study, top: int) -> Picture:
    """The ``top`` largest estimates with their intervals, rings at the true counts if known."""
    true, bins = study.truth, _shown(study, top)
    bars = bars_of(study.main, bins, None if true is None else true.counts.tolist())
    return rows_chart(bars, f"The {len(bars)} largest bins with their intervals")


def _findings(study: Study, bins: Sequence[int]) -> str:
    said = [counts.findings(study.main), counts.moved(study.main, bins)]
    if study.truth is not None:
        said.append(study.truth.covered_text(study.main))
    return " ".join(filter(None, said))


def _errors(study: Study) -> Table:
    """Standard errors beside the central and the local model."""
    measured = study.truth is not None
    rows = [
        (
            line.name,
            error_text(line.expected),
            *([counts.maybe(line.measured, 2)] if measured else []),
            f"{line.messages:.3f}" if line.own else "1",
        )
        for line in lines(study)
        if line.expected is not None
    ]
    head = ("who adds the noise", "expected error", *["measured"] * measured, "messages a user")
    return Table(head, rows)


def _missing(study: Study) -> list[str]:
    """Why there are no central mechanisms to compare with."""
    return [study.central.note] if study.central.note else []


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
    text += "The local model is the better of optimized unary and direct encoding."
    if study.truth is not None:
        text += " Rings are the error measured here over all bins."
    return text


def _promises(study: Study) -> list[str]:
    main, sums = study.main, study.releases[0].sums
    texts = promise(main.plan, main.certificate)
    return texts if sums is None else texts + seen_by_sums(main.certificate, sums)
