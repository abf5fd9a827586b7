"""What is shown of a round that was played under a contract: what came, counts, truth, promise."""

from collections.abc import Sequence

import msgspec
import numpy as np

from mixtally.records.result import ContractResult
from mixtally.report import counts
from mixtally.report.charts import Bar, rows_chart
from mixtally.report.document import (
    Bullets,
    Cell,
    Document,
    Facts,
    Marked,
    Picture,
    Rows,
    Section,
    Table,
    Text,
    Tone,
    closing,
)
from mixtally.report.received import came, not_promised
from mixtally.report.svg import Markup
from mixtally.report.words import at_most, number, promise
from mixtally.simulate.contract import Played

_CHART_BINS, _TABLE_BINS = 30, 1000


def document(
    played: Played, title: str, source: str, fingerprint: str, *, top: int, seed: int | None
) -> Document:
    """The round; a terminal shows the ``top`` largest bins, ``fingerprint`` is the contract's."""
    result = played.result
    findings = "" if result is None else _findings(played, result)
    return Document(
        title=title,
        source=source,
        key=key_figures(played),
        sections=lambda: _sections(played, findings),
        summary=lambda: (
            *_shown(played, range(top), title),
            *([Text(findings)] if findings else []),
            came(played.contract.terms, played.received),
        ),
        facts=lambda: facts(played, title, source, fingerprint, seed),
        tables=lambda: tables(played),
        closing=closing(seed, fingerprint, plan="contract"),
    )


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
        error = number(played.result.estimate.standard_error)
        shown.append(("standard error, counts", error))
    return tuple(shown)


def facts(played: Played, title: str, source: str, fingerprint: str, seed: int | None) -> Facts:
    """The whole round as one JSON object."""
    terms, result = played.contract.terms, played.result
    found: Facts = {
        "title": title,
        "source": source,
        "seed": seed,
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
        "told_messages": [tally.messages for tally in played.told],
        "refusal": played.refusal,
    }
    if result is None:
        return found
    each, true = result.estimate.each, played.truth.counts
    return {
        **found,
        "messages": result.messages,
        "confidence_level": each.level,
        "interval_method": each.method,
        "standard_error": result.estimate.standard_error,
        "measured_error": float(np.sqrt(np.mean((result.estimate.counts - true) ** 2))),
        "covered": _covered(played, result),
        "estimates": counts.count_rows(result, {"truth": true.tolist()}),
        **{
            one.name: counts.figure_rows(one, {"truth": played.truth.figures[one.name]})
            for one in result.figures
        },
    }


def tables(played: Played) -> dict[str, Rows]:
    """Bins from the largest estimate down, and figures; nothing where nothing is released."""
    result = played.result
    if result is None:
        return {}
    every = counts.count_rows(result, {"truth": played.truth.counts.tolist()})
    found = {"estimates.csv": counts.as_csv([every[i] for i in result.ranked()])}
    for one in result.figures:
        rows = counts.figure_rows(one, {"truth": played.truth.figures[one.name]})
        found[f"{one.name}.csv"] = counts.as_csv(rows)
    return found


def _sections(played: Played, findings: str) -> tuple[Section, ...]:
    terms, result = played.contract.terms, played.result
    sections = []
    if result is not None:
        picture = Picture(_chart(played, result))
        sections.append(Section("Counts", (picture, Text(findings, note=True))))
    sections += [
        Section("All bins", tuple(_shown(played, range(_TABLE_BINS), "All bins", folded=True))),
        Section("What came", (came(terms, played.received),)),
        Section("What is promised", tuple(map(Text, promise(terms)))),
        Section("What is not promised", (Bullets.of(not_promised(terms)),)),
    ]
    return tuple(sections)


def _shown(
    played: Played, places: Sequence[int], title: str, *, folded: bool = False
) -> list[Table | Text]:
    """The bins at some ``places`` of the ranking with both intervals, and figures beside truth."""
    result, true = played.result, played.truth
    if result is None:
        return [Text(f"Nothing is released. {played.refusal}.", tone=Tone.BAD)]
    bins = result.ranked()[list(places)[: result.question.bins]].tolist()
    found = result.estimate
    inside = (found.each.lower <= true.counts) & (true.counts <= found.each.upper)
    off = [f"{found.counts[i] - true.counts[i]:+,.1f}" for i in bins]
    errors: list[Cell] = [
        text if inside[i] else Marked(text, Tone.BAD) for i, text in zip(bins, off, strict=True)
    ]
    beside: counts.Beside = {"true count": [f"{true.counts[i]:,}" for i in bins], "error": errors}
    parts: list[Table | Text] = [
        counts.counts_table(result, bins, beside, title=title, folded=folded)
    ]
    for one in result.figures:
        values = {"true value": true.figures[one.name]}
        level = found.each.level
        parts.append(counts.figures_table(one, level, len(one.rows), values, titled=True))
        parts.append(Text(one.note))
    return parts


def _chart(played: Played, result: ContractResult) -> Markup:
    """The largest estimates with their intervals, rings at the true counts."""
    found, true = result.estimate, played.truth.counts
    bars = [
        Bar(
            result.question.label(i),
            float(found.counts[i]),
            float(found.each.lower[i]),
            float(found.each.upper[i]),
            float(true[i]),
        )
        for i in result.ranked()[:_CHART_BINS].tolist()
    ]
    return rows_chart(bars, f"The {len(bars)} largest bins with their intervals")


def _covered(played: Played, result: ContractResult) -> float:
    """Share of bins whose own interval covers the true count."""
    each, true = result.estimate.each, played.truth.counts
    return float(np.mean((each.lower <= true) & (true <= each.upper)))


def _findings(played: Played, result: ContractResult) -> str:
    return (
        f"{counts.findings(result)} {100 * _covered(played, result):.1f} % of the "
        f"{result.question.bins:,} intervals cover the true count."
    )
