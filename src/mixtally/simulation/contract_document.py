"""What is shown of a round that was played under a contract: what came, counts, truth, promise."""

from collections.abc import Sequence

import msgspec

from mixtally.estimate.received import doubts
from mixtally.records.result import ContractResult
from mixtally.report import counts
from mixtally.report.charts import rows_chart
from mixtally.report.document import (
    Bullets,
    Document,
    Facts,
    Rows,
    Section,
    Table,
    Text,
    Tone,
    closing,
)
from mixtally.report.promise import of_contract_result, of_terms
from mixtally.report.received import came, not_promised
from mixtally.report.words import at_most, error_text, promise
from mixtally.simulation.beside import beside, errors_beside
from mixtally.simulation.contract import Played
from mixtally.simulation.lab import Provenance
from mixtally.simulation.truth import Truth

_CHART_BINS, _TABLE_BINS = 30, 1000


def document(played: Played, about: Provenance, fingerprint: str, *, top: int) -> Document:
    """The round; a terminal shows the ``top`` largest bins, ``fingerprint`` is the contract's.

    A release when it has no truth.
    """
    result, terms, rehearsal = played.result, played.contract.terms, played.truth is not None
    return Document(
        title=about.title,
        source=about.told(rehearsal=rehearsal),
        promise=of_terms(terms) if result is None else of_contract_result(result),
        rehearsal=rehearsal,
        key=key_figures(played),
        sections=lambda: _sections(played),
        summary=lambda: (*_shown(played, top, f"{about.title}: "), came(terms, played.received)),
        facts=lambda: facts(played, about, fingerprint),
        tables=lambda: tables(played),
        closing=closing(about.seed, fingerprint, plan="contract"),
    )


def released(played: Played, about: Provenance, fingerprint: str, *, top: int) -> Document | None:
    """What may be published of it; nothing under a seed, whose noise is public."""
    if about.seed is not None:
        return None
    return document(played.published(), about, fingerprint, top=top)


def key_figures(played: Played) -> tuple[tuple[str, str], ...]:
    """Names and values that a page opens with."""
    terms, received = played.contract.terms, played.received
    messages = sum(part.received for part in received.parts)
    shown = [
        ("people", f"{received.contributors:,}"),
        ("bins", f"{terms.question.bins:,}"),
        ("epsilon", at_most(terms.certificate.epsilon)),
        ("delta at most", at_most(terms.certificate.upper)),
        ("messages a person", f"{messages / max(1, received.contributors):.3f}"),
    ]
    if played.result is not None:
        error = error_text(played.result.estimate.standard_error)
        shown.append(("standard error, counts", error))
    return tuple(shown)


def facts(played: Played, about: Provenance, fingerprint: str) -> Facts:
    """The whole round as one JSON object."""
    terms, result, truth = played.contract.terms, played.result, played.truth
    found: Facts = {
        "title": about.title,
        "source": about.told(rehearsal=truth is not None),
        "seed": about.seed,
        "contract": played.contract.name,
        "serial": played.contract.serial,
        "fingerprint": fingerprint,
        "epsilon": terms.certificate.epsilon,
        "delta": terms.certificate.upper,
        "delta_lower": terms.certificate.lower,
        "assumption": terms.certificate.assumption,
        "cover": str(terms.cover),
        "hops": terms.hops,
        "minimum_crowd": terms.minimum_crowd,
        "local_epsilon": terms.local_epsilon,
        "received": msgspec.to_builtins(played.received),
        "refusal": played.refusal,
    }
    if truth is not None:
        found["told_messages"] = [tally.messages for tally in played.told]
    return found if result is None else {**found, **_counted(result, truth)}


def _counted(result: ContractResult, truth: Truth | None) -> Facts:
    each = result.estimate.each
    found: Facts = {
        "doubts": doubts(result.terms, result.received),
        "messages": result.messages,
        "confidence_level": each.level,
        "interval_method": each.method,
        "standard_error": result.estimate.standard_error,
    }
    if truth is not None:
        found["measured_error"] = truth.measured_error(result)
        found["covered"] = truth.covered(result)
    return {
        **found,
        "estimates": counts.count_rows(result, beside(truth)),
        **{one.name: counts.figure_rows(one, beside(truth, one)) for one in result.figures},
    }


def tables(played: Played) -> dict[str, Rows]:
    """Bins in their order or from the largest down, and figures; nothing where none is released."""
    result, truth = played.result, played.truth
    if result is None:
        return {}
    every = counts.count_rows(result, beside(truth))
    order = counts.displayed(result, len(every), in_order=_in_order(result))
    found = {"estimates.csv": counts.as_csv([every[i] for i in order])}
    for one in result.figures:
        found[f"{one.name}.csv"] = counts.as_csv(counts.figure_rows(one, beside(truth, one)))
    return found


def _in_order(result: ContractResult) -> bool:
    return counts.ordered(result.terms.question, given=True)


def _sections(played: Played) -> tuple[Section, ...]:
    terms, result, truth = played.contract.terms, played.result, played.truth
    sections = []
    if result is not None:
        bins = counts.displayed(result, _CHART_BINS, in_order=_in_order(result))
        marks = None if truth is None else truth.counts.tolist()
        chart = rows_chart(
            counts.bars_of(result, bins, marks),
            f"The {len(bins)} largest bins with their intervals",
        )
        said = Text(_findings(result, truth, bins), note=True)
        sections.append(Section("Counts", (chart, said)))
    sections += [
        Section("All bins", tuple(_shown(played, _TABLE_BINS, folded=True))),
        Section("What came", (came(terms, played.received),)),
        Section("What is promised", tuple(map(Text, promise(terms)))),
        Section("What is not promised", (Bullets.of(not_promised(terms)),)),
    ]
    return tuple(sections)


def _shown(
    played: Played, most: int, lead: str = "", *, folded: bool = False
) -> list[Table | Text]:
    """The ``most`` largest bins with both intervals, and figures; beside the truth if known."""
    result, truth = played.result, played.truth
    if result is None:
        return [Text(f"Nothing is released. {played.refusal}.", tone=Tone.BAD)]
    bins = counts.displayed(result, most, in_order=_in_order(result))
    columns = {} if truth is None else errors_beside(result, truth, bins)
    title = lead + counts.shown_of(len(bins), result.question.bins, " bins" * folded)
    parts: list[Table | Text] = [
        counts.counts_table(result, bins, columns, title=title, folded=folded)
    ]
    if not folded:
        parts.append(Text(_findings(result, truth, bins)))
    doubted = doubts(result.terms, result.received)
    parts += [Text(text, tone=Tone.BAD) for text in doubted]
    for one in result.figures:
        values = {} if truth is None else {"true value": truth.figures[one.name]}
        level = result.estimate.each.level
        parts.append(counts.figures_table(one, level, len(one.rows), values, titled=True))
        parts.append(Text(one.note))
    return parts


def _findings(result: ContractResult, truth: Truth | None, bins: Sequence[int]) -> str:
    said = [counts.findings(result), counts.moved(result, bins)]
    if truth is not None:
        said.append(truth.covered_text(result))
    return " ".join(filter(None, said))
