"""What is shown of a round: estimates with intervals, what came, what is promised.

The same document is the page of a round, what a terminal prints, JSON and CSV.
"""

from datetime import UTC, datetime
from typing import NamedTuple

import msgspec

from mixtally.collector.agreed import Agreed
from mixtally.collector.concluding import Conclusion
from mixtally.estimate.covering import covering
from mixtally.estimate.received import doubts
from mixtally.records.certificate import Certificate
from mixtally.records.received import Received
from mixtally.records.result import ContractResult
from mixtally.report.counted import TABLE_BINS, Counted
from mixtally.report.document import (
    Bullets,
    Document,
    Facts,
    Heading,
    Part,
    Section,
    Text,
    Tone,
)
from mixtally.report.numbers import at_most, error_text
from mixtally.report.promise import of_contract_result, of_terms
from mixtally.report.received import came, not_promised
from mixtally.report.words import promise


class Held(NamedTuple):
    """A round that was held.

    where
      overruled   roles that were silent and not waited for when the collector started
    """

    agreed: Agreed
    number: int
    opens: int
    closes: int
    overruled: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """What it asked, and which time."""
        return f"{self.agreed.contract.terms.question.name}, round {self.number}"


def utc(seconds: int) -> str:
    """A moment for people."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def document(held: Held, found: Conclusion, top: int) -> Document:
    """The round; a terminal shows the ``top`` largest bins."""
    contract = held.agreed.contract
    return Document(
        title=held.title,
        promise=of_terms(contract.terms)
        if found.result is None
        else of_contract_result(found.result),
        source=f"Answers taken from {utc(held.opens)} to {utc(held.closes)} under contract "
        f"{contract.name}, serial {contract.serial}.",
        key=key_figures(held, found),
        sections=lambda: (
            Section("Counts", parts(held, found, TABLE_BINS, chart=True)),
            Section(
                "What is promised",
                tuple(map(Text, promise(contract.terms, _certificate(held, found)))),
            ),
            Section("What is not promised", (Bullets.of(not_promised(contract.terms)),)),
        ),
        summary=lambda: parts(held, found, top, chart=False),
        facts=lambda: facts(held, found),
        tables=lambda: {} if found.result is None else Counted(found.result).tables(),
        closing=f"contract {held.agreed.fingerprint}",
    )


def key_figures(held: Held, found: Conclusion) -> tuple[tuple[str, str], ...]:
    """Names and values that a page opens with."""
    terms, came_ = held.agreed.contract.terms, found.received
    shown = [
        ("people", "unknown" if came_ is None else f"{came_.contributors:,}"),
        ("bins", f"{terms.question.bins:,}"),
        ("epsilon", at_most(terms.certificate.epsilon)),
        ("delta at most", at_most(terms.certificate.upper)),
    ]
    if found.result is not None:
        shown.append(("standard error, counts", error_text(found.result.estimate.standard_error)))
    return tuple(shown)


def parts(held: Held, found: Conclusion, most: int, *, chart: bool) -> tuple[Part, ...]:
    """Counts and what came, or why nothing is released."""
    terms, shown = held.agreed.contract.terms, list[Part]()
    if found.result is None:
        shown.append(Text(f"Nothing is released. {found.refusal}.", tone=Tone.BAD))
    else:
        counted = Counted(found.result)
        shown += [counted.chart()] * chart
        shown += [counted.table(most, "" if chart else held.title), Text(counted.findings(most))]
        for one in found.result.figures:
            shown += counted.figures(one, len(one.rows), titled=True)
    if found.received is not None:
        shown += [Heading("What came")] * chart
        shown.append(came(terms, found.received))
        shown += [Text(text) for text in _dropped(found.received)]
    if found.result is not None:
        shown += [Text(text, tone=Tone.BAD) for text in _doubts(held, found.result)]
    if held.overruled:
        silent = ", ".join(held.overruled)
        shown.append(Text(f"Silent at the start and not waited for: {silent}.", tone=Tone.BAD))
    return tuple(shown)


def facts(held: Held, found: Conclusion) -> Facts:
    """The round as one JSON object."""
    contract, result = held.agreed.contract, found.result
    terms = contract.terms
    said: Facts = {
        "contract": contract.name,
        "serial": contract.serial,
        "fingerprint": held.agreed.fingerprint,
        "round": held.number,
        "of_rounds": terms.collections,
        "opens": held.opens,
        "closes": held.closes,
        "question": terms.question.name,
        "epsilon": terms.certificate.epsilon,
        "delta": terms.certificate.upper,
        "assumption": _certificate(held, found).assumption,
        "cover": str(terms.cover),
        "hops": terms.hops,
        "minimum_crowd": terms.minimum_crowd,
        "local_epsilon": terms.local_epsilon,
        "overruled": list(held.overruled),
        "received": None if found.received is None else msgspec.to_builtins(found.received),
        "released": result is not None,
        "refusal": found.refusal,
    }
    if result is None:
        return said
    each = result.estimate.each
    return {
        **said,
        "doubts": doubts(terms, result.received),
        "rests_on": _covering(held, result),
        "messages": result.messages,
        "confidence_level": each.level,
        "interval_method": each.method,
        "standard_error": result.estimate.standard_error,
        **Counted(result).facts(),
    }


def _certificate(held: Held, found: Conclusion) -> Certificate:
    terms = held.agreed.contract.terms
    return terms.certificate if found.result is None else found.result.certificate


def _covering(held: Held, result: ContractResult) -> list[str]:
    """Names of the hops on which the promise still rests, by what they say they brought."""
    contract = held.agreed.contract
    return [contract.hops[hop - 1].name for hop in covering(contract.terms, result.received)]


def _doubts(held: Held, result: ContractResult) -> list[str]:
    rest = _covering(held, result)
    lazy = [role.name for role in held.agreed.contract.hops if role.name not in rest]
    said = doubts(result.terms, result.received)
    if lazy:
        said.append(
            f"Less cover than its recipe was brought by {', '.join(lazy)}: the promise rests on "
            f"{' or '.join(rest)} alone, one of which must be honest."
        )
    return said


def _dropped(received: Received) -> list[str]:
    """What came and is in no count; nobody can tell what it was to say."""
    several = [("Bundles left out whole", received.left_out)]
    several += [
        (f"Messages dropped in part {place}", one.dropped)
        for place, one in enumerate(received.parts, 1)
    ]
    return [
        f"{what}: " + ", ".join(f"{many:,} for {reason}" for reason, many in held.items()) + "."
        for what, held in several
        if held
    ]
