"""Document of a study.

The document shows the main release of a study in full. It shows only the errors of the other
releases. ``app`` calls `document` and renders it as a page, a terminal text, JSON or CSV.
"""

import msgspec

from mixtally.lab.simulation.central import MISSING
from mixtally.lab.simulation.model_comparison import compare_models, describe_accuracy
from mixtally.lab.simulation.study import Release, Study
from mixtally.lab.simulation.winner import section as winner
from mixtally.lab.simulation.winner.facts import facts as winner_facts
from mixtally.lab.simulation.winner.facts import rows as winner_rows
from mixtally.protocol.estimate.received import find_coin_warnings
from mixtally.report import counts
from mixtally.report.charts import error_chart
from mixtally.report.counts_view import CHART_BINS, TABLE_BINS, CountsView
from mixtally.report.document import (
    Bullets,
    Document,
    Facts,
    Part,
    Promise,
    Rows,
    Section,
    Table,
    Text,
    Tone,
    columns,
)
from mixtally.report.promise import certificate_line, promise_of_round
from mixtally.report.received import intake_table, key_figures, refusal_text
from mixtally.report.sections import plan_section, promise_sections
from mixtally.report.words import (
    describe_sums_observer,
    not_promised,
    promise_paragraphs,
    without_mixes,
)

_FEW = 8
"""Least number of rows that a terminal shows of each table of figures."""


def document(study: Study, top: int) -> Document:
    """Return the document of a simulation, or of a publishable result if the truth is missing.

    A terminal shows the ``top`` largest bins.
    """
    about, main = study.provenance, study.releases[0]
    result = None if main.refusal else main.result
    shown = None if main.refusal else build_counts_view(study)
    plan, people = main.conclusion.plan, f"{main.conclusion.received.contributors:,}"
    signed = () if about.signed is None else (about.signed.fingerprint, "contract")
    return study.document(
        promise=_promise(study, promise_of_round(plan, result)),
        key=key_figures(plan, people, None) if result is None else counts.key_figures(result),
        sections=lambda: _sections(study, shown),
        summary=lambda: tuple(_summary(study, shown, top)),
        prose=(about.reason,) if about.reason else (),
        facts=lambda: _facts(study, shown),
        tables=dict if shown is None else lambda: _tables(study, shown),
        origin=signed or (plan.fingerprint,),
    )


def _promise(study: Study, lines: Promise) -> Promise:
    """Return the promise; if there are local ballots, its second line has their guarantee, too."""
    if study.contest is None:
        return lines
    first, second, third = lines
    without_mixes_text = without_mixes(study.contest.plan.local_epsilon)
    ballots = f"Local ballots: {certificate_line(study.contest.local.certificate)}"
    # The ballots' promise goes before the sentence about colluding mixes, which ends the line.
    return first, f"{second.removesuffix(without_mixes_text)}{ballots} {without_mixes_text}", third


def _tables(study: Study, view: CountsView) -> dict[str, Rows]:
    """Return the CSV tables of counts and figures and, for a vote, of both ways of counting."""
    contest, truth = study.contest, study.true_counts
    if contest is None:
        return view.tables()
    every = view.bins(view.result.question.bins)
    lines: list[Facts] = []
    for name, count in contest.counts().items():
        rows = winner_rows(contest, count, truth)
        lines += [{"version": name, **rows[i]} for i in every]
    return {**view.tables(), "winner.csv": Rows(lines)}


def build_counts_view(study: Study) -> CountsView:
    """Return the view of the main release; raise the MessageError of a refused release."""
    return CountsView(
        study.main_result, has_given_order=study.provenance.ordered, truth=study.truth
    )


def _sections(study: Study, view: CountsView | None) -> tuple[Section, ...]:
    main, every = study.releases[0], list[Section]()
    if view is None:
        first = [Section("Counts", (refusal_text(main.refusal),))]
    else:
        won: tuple[Section, ...] = ()
        if study.contest is not None:
            won = winner.sections(study.contest, study.true_counts, view.bins(TABLE_BINS))
        counts_shown = view.section(*_doubt_texts(main))
        first = [counts_shown, *won, *view.figure_sections(CHART_BINS), _error_section(study)]
        every = [Section("All bins", (view.table(TABLE_BINS),))]
    promised = [
        *promise_paragraphs(main.conclusion.plan, main.conclusion.certificate),
        *_sums_texts(main),
    ]
    return (
        *first,
        *[Section("Messages received", (table,)) for table in _intake_tables(main)],
        plan_section(
            study.provenance.reason, *(each.conclusion.plan.facts() for each in study.releases)
        ),
        *promise_sections(promised, not_promised(main.conclusion.plan)),
        *every,
    )


def _error_section(study: Study) -> Section:
    errors: list[Part] = [error_chart(compare_models(study)), Text(_error_note(study), note=True)]
    if stated := describe_accuracy(study):
        errors.append(Bullets.of(stated))
    return Section(
        "Error among other models",
        (*errors, *(Text(note, for_user=True) for note in _missing_notes(study))),
    )


def _intake_tables(release: Release) -> list[Table]:
    """Return the table of received messages, in a list.

    The list is empty if no hop declared fakes and there is a result.
    """
    plan, received = release.conclusion.plan, release.conclusion.received
    is_shown = release.refusal or any(part.drawing_hop_count for part in received.parts)
    return [intake_table(plan, received)] if is_shown else []


def _doubt_texts(release: Release) -> list[Text]:
    found = release.conclusion
    warnings = [*find_coin_warnings(found.plan, found.received), *found.warnings]
    return [Text(text, tone=Tone.BAD) for text in warnings]


def _sums_texts(release: Release) -> list[str]:
    sums = release.sums
    return [] if sums is None else describe_sums_observer(release.conclusion.certificate, sums)


def _facts(study: Study, view: CountsView | None) -> Facts:
    """Return the JSON object of the study."""
    signed, central = study.provenance.signed, {} if study.truth is None else study.truth.central
    return {
        **({} if signed is None else signed._asdict()),
        "central_standard_error": study.central_error,
        "local_standard_error": study.local_error,
        "central": [
            {**line.facts(), "measured": central.get(line.name)} for line in study.central.lines
        ],
        "central_note": study.central.note,
        **(
            {}
            if study.contest is None
            else {"winner": winner_facts(study.contest, study.true_counts)}
        ),
        "releases": [
            # The view of the main release has been computed already.
            _release_facts(study, release, view if place == 0 else None)
            for place, release in enumerate(study.releases)
        ],
    }


def _release_facts(study: Study, release: Release, view: CountsView | None) -> Facts:
    plan, received = release.conclusion.plan, release.conclusion.received
    facts: Facts = {
        **plan.facts(),
        "fingerprint": plan.fingerprint,
        "received": msgspec.to_builtins(received),
        "refusal": release.refusal,
    }
    if study.truth is not None:
        facts["told_messages"] = [tally.messages for tally in release.leaked]
    if release.refusal is None:
        view = view or CountsView(release.result, truth=study.truth)
        facts["doubts"] = [*find_coin_warnings(plan, received), *release.result.warnings]
        facts |= {**counts.message_facts(release.result), **view.measure_errors(), **view.facts()}
    if release.sums is not None:
        facts["observer_of_sums"] = msgspec.to_builtins(release.sums)
    return facts


def _summary(study: Study, view: CountsView | None, top: int) -> list[Part]:
    main = study.releases[0]
    if view is None:
        return [refusal_text(main.refusal), *_intake_tables(main)]
    parts: list[Part] = [view.table(top, study.provenance.title), Text(view.findings(top))]
    if study.contest is not None:
        parts += winner.summary(study.contest, study.true_counts, view.bins(top))
    parts += [
        *_doubt_texts(main),
        *view.figures(max(top, _FEW)),
        *_intake_tables(main),
        _error_table(study),
    ]
    # The note that OpenDP is missing is left out, because a formula replaces its mechanisms.
    missing = [note for note in _missing_notes(study) if note != MISSING]
    return [*parts, *map(Text, (*describe_accuracy(study), *missing, *_sums_texts(main)))]


def _error_table(study: Study) -> Table:
    """Return the table of standard errors of the central model, releases and local model."""
    shown = columns(
        [line for line in compare_models(study) if line.expected is not None],
        ("who adds the noise", lambda line: line.name),
        ("expected error", lambda line: counts.number_or_blank(line.expected, 2)),
        *[("measured", lambda line: counts.number_or_blank(line.measured, 2))]
        * (study.truth is not None),
        ("messages per user", lambda line: f"{line.messages:.3f}" if line.is_plan else "1"),
    )
    return Table(*shown)


def _missing_notes(study: Study) -> list[str]:
    """Return why the comparison lacks central mechanisms, as a list of at most one note."""
    return [study.central.note] if study.central.note else []


def _error_note(study: Study) -> str:
    text = "Expected standard error of an empty bin at the same epsilon. "
    if study.central.lines:
        text += (
            "In the central model someone who sees everything adds the noise; upright bars are the "
            "largest error of one count, at the confidence stated below, and dashed lines extend "
            "the errors through all rows. "
        )
    else:
        text += (
            "The central model uses the better of discrete Laplace and Gaussian noise, added by "
            "someone who sees everything. "
        )
    text += "The local model uses the better of optimized unary and direct encoding."
    if study.truth is not None:
        text += " Rings are the error measured here over all bins."
    return text
