"""What is shown of a study: the main release in full, the others by their errors."""

import msgspec

from mixtally.report import counts
from mixtally.report.charts import error_chart
from mixtally.report.counted import CHART_BINS, TABLE_BINS, Counted
from mixtally.report.document import (
    Bullets,
    Document,
    Facts,
    Part,
    Section,
    Table,
    Text,
    closing,
    columns,
)
from mixtally.report.promise import of_result
from mixtally.report.sections import promises, the_plan
from mixtally.report.words import not_promised, promise, seen_by_sums
from mixtally.simulation.models import lines, statements
from mixtally.simulation.study import Release, Study

_FEW = 8
"""Rows of figures that a terminal shows at least."""


def document(study: Study, top: int) -> Document:
    """The study; a terminal shows the ``top`` largest bins. A release when it has no truth."""
    rehearsal, shown = study.truth is not None, counted(study)
    return Document(
        title=study.about.title,
        source=study.about.told(rehearsal=rehearsal),
        promise=of_result(study.main),
        rehearsal=rehearsal,
        key=counts.key_figures(study.main),
        sections=lambda: _sections(study, shown),
        summary=lambda: tuple(_summary(study, shown, top)),
        prose=(study.about.reason,),
        facts=lambda: _facts(study, shown),
        tables=shown.tables,
        closing=closing(study.about.seed, study.main.plan.fingerprint),
    )


def counted(study: Study) -> Counted:
    """The main release as it is shown."""
    return Counted(study.main, given=study.about.ordered, truth=study.truth)


def _sections(study: Study, shown: Counted) -> tuple[Section, ...]:
    errors: list[Part] = [error_chart(lines(study)), Text(_error_note(study), note=True)]
    if stated := statements(study):
        errors.append(Bullets.of(stated))
    errors += [Text(note, own=True) for note in _missing(study)]
    return (
        shown.section(),
        *shown.figure_sections(CHART_BINS),
        Section("Error among other models", tuple(errors)),
        the_plan(study.about.reason, *(release.result.plan.facts() for release in study.releases)),
        *promises(_promises(study), not_promised(study.main.plan)),
        Section("All bins", (shown.table(TABLE_BINS),)),
    )


def _facts(study: Study, shown: Counted) -> Facts:
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
        "releases": [
            _release(release, Counted(release.result, truth=study.truth) if place else shown)
            for place, release in enumerate(study.releases)
        ],
    }


def _release(release: Release, shown: Counted) -> Facts:
    found = {**counts.facts(release.result), **shown.measured(), **shown.facts()}
    if release.sums is not None:
        found["observer_of_sums"] = msgspec.to_builtins(release.sums)
    return found


def _summary(study: Study, shown: Counted, top: int) -> list[Part]:
    parts: list[Part] = [shown.table(top, study.about.title), Text(shown.findings(top))]
    parts += shown.figures(max(top, _FEW))
    parts += [_errors(study), *map(Text, (*statements(study), *_missing(study)))]
    sums = study.releases[0].sums
    return (
        parts if sums is None else [*parts, *map(Text, seen_by_sums(study.main.certificate, sums))]
    )


def _errors(study: Study) -> Table:
    """Standard errors beside the central and the local model."""
    shown = columns(
        [line for line in lines(study) if line.expected is not None],
        ("who adds the noise", lambda line: line.name),
        ("expected error", lambda line: counts.maybe(line.expected, 2)),
        *[("measured", lambda line: counts.maybe(line.measured, 2))] * (study.truth is not None),
        ("messages a user", lambda line: f"{line.messages:.3f}" if line.own else "1"),
    )
    return Table(*shown)


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
