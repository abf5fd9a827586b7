"""What is shown of a round that was played under a contract: what came, counts, truth, promise."""

import msgspec

from mixtally.estimate.received import doubts
from mixtally.report.counted import TABLE_BINS, Counted
from mixtally.report.document import (
    Bullets,
    Document,
    Facts,
    Part,
    Section,
    Text,
    Tone,
    closing,
)
from mixtally.report.numbers import at_most, error_text
from mixtally.report.promise import of_contract_result, of_terms
from mixtally.report.received import came, not_promised
from mixtally.report.words import promise
from mixtally.simulation.contract import Played
from mixtally.simulation.lab import Provenance


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
        summary=lambda: (*_shown(played, top, about.title), came(terms, played.received)),
        facts=lambda: facts(played, about, fingerprint),
        tables=lambda: {} if (shown := counted(played)) is None else shown.tables(),
        closing=closing(about.seed, fingerprint, plan="contract"),
    )


def counted(played: Played) -> Counted | None:
    """The counts as they are shown; None where nothing is released."""
    return None if played.result is None else Counted(played.result, truth=played.truth)


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
    shown = counted(played)
    if result is None or shown is None:
        return found
    each = result.estimate.each
    return {
        **found,
        "doubts": doubts(result.terms, result.received),
        "messages": result.messages,
        "confidence_level": each.level,
        "interval_method": each.method,
        "standard_error": result.estimate.standard_error,
        **shown.measured(),
        **shown.facts(),
    }


def _sections(played: Played) -> tuple[Section, ...]:
    terms, shown, sections = played.contract.terms, counted(played), list[Section]()
    if shown is not None:
        said = Text(shown.findings(TABLE_BINS), note=True)
        sections.append(Section("Counts", (shown.chart(), said)))
    return (
        *sections,
        Section("All bins", tuple(_shown(played, TABLE_BINS))),
        Section("What came", (came(terms, played.received),)),
        Section("What is promised", tuple(map(Text, promise(terms)))),
        Section("What is not promised", (Bullets.of(not_promised(terms)),)),
    )


def _shown(played: Played, most: int, lead: str = "") -> list[Part]:
    """The ``most`` largest bins and figures; a ``lead`` names them on a terminal."""
    result, shown = played.result, counted(played)
    if result is None or shown is None:
        return [Text(f"Nothing is released. {played.refusal}.", tone=Tone.BAD)]
    parts: list[Part] = [shown.table(most, lead)]
    if lead:
        parts.append(Text(shown.findings(most)))
    parts += [Text(text, tone=Tone.BAD) for text in doubts(result.terms, result.received)]
    for one in result.figures:
        parts += shown.figures(one, len(one.rows), titled=True)
    return parts
