"""What is shown of a round: estimates with intervals, what came, what is promised.

The same document is the page of a round, what a terminal prints, JSON and CSV.
"""

from datetime import UTC, datetime
from typing import NamedTuple

import msgspec

from mixtally.model.certificate import Certificate
from mixtally.model.received import Received
from mixtally.model.result import Result
from mixtally.protocol.estimate.covering import covering
from mixtally.protocol.estimate.received import doubts
from mixtally.report.counted import TABLE_BINS, Counted
from mixtally.report.document import Document, Facts, Heading, Part, Section, Text, Tone
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
from mixtally.server.collector.agreed import Agreed
from mixtally.server.collector.concluding import Conclusion


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
        return f"{self.agreed.contract.plan.question.name}, round {self.number}"


def utc(seconds: int) -> str:
    """A moment for people."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def document(held: Held, found: Conclusion, top: int) -> Document:
    """The round; a terminal shows the ``top`` largest bins."""
    contract, result = held.agreed.contract, found.result
    plan, shown = contract.plan, _counted(found)
    people = "unknown" if found.received is None else f"{found.received.contributors:,}"
    return Document(
        title=held.title,
        promise=of_round(plan, result),
        source=f"Answers taken from {utc(held.opens)} to {utc(held.closes)} under contract "
        f"{contract.name}, serial {contract.serial}.",
        key=key_figures(plan, people, result),
        sections=lambda: (
            Section("Counts", _parts(held, found, shown, TABLE_BINS, chart=True)),
            *promises(promise(plan, _certificate(held, found)), not_promised(plan)),
        ),
        summary=lambda: _parts(held, found, shown, top, chart=False),
        facts=lambda: _facts(held, found, shown),
        tables=dict if shown is None else shown.tables,
        closing=f"contract {held.agreed.fingerprint}",
    )


def _counted(found: Conclusion) -> Counted | None:
    """The counts as they are shown; None where nothing is released."""
    return None if found.result is None else Counted(found.result)


def parts(held: Held, found: Conclusion, most: int, *, chart: bool) -> tuple[Part, ...]:
    """Counts and what came, or why nothing is released."""
    return _parts(held, found, _counted(found), most, chart=chart)


def _parts(
    held: Held, found: Conclusion, counted: Counted | None, most: int, *, chart: bool
) -> tuple[Part, ...]:
    plan, shown = held.agreed.contract.plan, list[Part]()
    if counted is None:
        shown.append(refused(found.refusal))
    else:
        shown += [counted.chart()] * chart
        shown += [counted.table(most, "" if chart else held.title), Text(counted.findings(most))]
        shown += counted.figures()
    if found.received is not None:
        shown += [Heading("What came")] * chart
        shown.append(came(plan, found.received))
        shown += [Text(text) for text in _dropped(found.received)]
    if found.result is not None:
        shown += [Text(text, tone=Tone.BAD) for text in _doubts(held, found.result)]
    if held.overruled:
        silent = ", ".join(held.overruled)
        shown.append(Text(f"Silent at the start and not waited for: {silent}.", tone=Tone.BAD))
    return tuple(shown)


def _facts(held: Held, found: Conclusion, shown: Counted | None) -> Facts:
    """The round as one JSON object."""
    contract, result = held.agreed.contract, found.result
    plan = contract.plan
    said: Facts = {
        "contract": contract.name,
        "serial": contract.serial,
        "fingerprint": held.agreed.fingerprint,
        "round": held.number,
        "of_rounds": plan.collections,
        "opens": held.opens,
        "closes": held.closes,
        "question": plan.question.name,
        "epsilon": plan.certificate.epsilon,
        "delta": plan.certificate.upper,
        "assumption": _certificate(held, found).assumption,
        **trust_facts(plan),
        "overruled": list(held.overruled),
        "received": None if found.received is None else msgspec.to_builtins(found.received),
        "released": result is not None,
        "refusal": found.refusal,
    }
    if result is None or shown is None:
        return said
    return {
        **said,
        "doubts": [*doubts(plan, result.received), *result.doubts],
        "rests_on": _covering(held, result),
        **count_facts(shown),
    }


def _certificate(held: Held, found: Conclusion) -> Certificate:
    plan = held.agreed.contract.plan
    return plan.certificate if found.result is None else found.result.certificate


def _covering(held: Held, result: Result) -> list[str]:
    """Names of the hops on which the promise still rests, by what they say they brought."""
    contract = held.agreed.contract
    return [contract.hops[hop - 1].name for hop in covering(contract.plan, result.received)]


def _doubts(held: Held, result: Result) -> list[str]:
    rest = _covering(held, result)
    lazy = [role.name for role in held.agreed.contract.hops if role.name not in rest]
    said = [*doubts(result.plan, result.received), *result.doubts]
    if lazy:
        said.append(
            f"Less cover than its recipe was brought by {', '.join(lazy)}: "
            f"{' or '.join(rest)} must be honest."
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
