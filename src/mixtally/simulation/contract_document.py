"""What is shown of a round that was played under a contract: what came, counts, truth, promise."""

import msgspec

from mixtally.estimate.received import doubts
from mixtally.report.counted import TABLE_BINS, Counted
from mixtally.report.document import Document, Facts, Part, Section, Text, Tone, closing
from mixtally.report.promise import of_round
from mixtally.report.received import (
    came,
    count_facts,
    key_figures,
    refused,
    trust_facts,
)
from mixtally.report.sections import promises
from mixtally.report.words import not_promised, promise
from mixtally.simulation.contract import Played
from mixtally.simulation.lab import Provenance


def document(played: Played, about: Provenance, fingerprint: str, *, top: int) -> Document:
    """The round; a terminal shows the ``top`` largest bins, ``fingerprint`` is the contract's.

    A release when it has no truth.
    """
    result, plan, rehearsal = played.result, played.contract.plan, played.truth is not None
    shown = None if result is None else Counted(result, truth=played.truth)
    return Document(
        title=about.title,
        source=about.told(rehearsal=rehearsal),
        promise=of_round(plan, result),
        rehearsal=rehearsal,
        key=_key_figures(played),
        sections=lambda: _sections(played, shown),
        summary=lambda: (
            *_parts(played, shown, top, about.title),
            came(plan, played.round.received),
        ),
        facts=lambda: _facts(played, shown, about, fingerprint),
        tables=dict if shown is None else shown.tables,
        closing=closing(about.seed, fingerprint, plan="contract"),
    )


def _key_figures(played: Played) -> tuple[tuple[str, str], ...]:
    people, parts = played.round.received.contributors, played.round.received.parts
    sent = f"{sum(part.received for part in parts) / max(1, people):.3f}"
    plan = played.contract.plan
    return key_figures(plan, f"{people:,}", played.result, ("messages a person", sent))


def _facts(played: Played, shown: Counted | None, about: Provenance, fingerprint: str) -> Facts:
    """The whole round as one JSON object."""
    plan, truth = played.contract.plan, played.truth
    found: Facts = {
        "title": about.title,
        "source": about.told(rehearsal=truth is not None),
        "seed": about.seed,
        "contract": played.contract.name,
        "serial": played.contract.serial,
        "fingerprint": fingerprint,
        "epsilon": plan.certificate.epsilon,
        "delta": plan.certificate.upper,
        "delta_lower": plan.certificate.lower,
        "assumption": plan.certificate.assumption,
        **trust_facts(plan),
        "received": msgspec.to_builtins(played.round.received),
        "refusal": played.refusal,
    }
    if truth is not None:
        found["told_messages"] = [tally.messages for tally in played.round.leaked]
    if shown is None:
        return found
    return {**found, "doubts": doubts(plan, played.round.received), **count_facts(shown)}


def _sections(played: Played, shown: Counted | None) -> tuple[Section, ...]:
    plan = played.contract.plan
    return (
        *([] if shown is None else [shown.section()]),
        Section("All bins", tuple(_parts(played, shown, TABLE_BINS))),
        Section("What came", (came(plan, played.round.received),)),
        *promises(promise(plan), not_promised(plan)),
    )


def _parts(played: Played, shown: Counted | None, most: int, lead: str = "") -> list[Part]:
    """The ``most`` largest bins and figures; a ``lead`` names them on a terminal."""
    if shown is None:
        return [refused(played.refusal)]
    parts: list[Part] = [shown.table(most, lead)]
    if lead:
        parts.append(Text(shown.findings(most)))
    doubtful = doubts(played.contract.plan, played.round.received)
    return [*parts, *(Text(text, tone=Tone.BAD) for text in doubtful), *shown.figures()]
