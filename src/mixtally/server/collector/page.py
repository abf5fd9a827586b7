"""Web page of a collector: its contracts and guarantees, the states of its rounds, and the results.

The page is plain HTML without scripts and without resources from other servers. It is the same for
every visitor.
"""

from collections.abc import Sequence

from mixtally.device.wire.manifest import TOO_FEW
from mixtally.report.contract import contract_document
from mixtally.report.document import (
    Bullets,
    Cell,
    Document,
    Facts,
    Heading,
    Part,
    Promise,
    Section,
    Table,
    Text,
)
from mixtally.report.page import page
from mixtally.report.promise import promise_of_plan
from mixtally.report.words import not_promised
from mixtally.server.collector.collector import Collector
from mixtally.server.collector.concluding import OPEN_QUESTION_REFUSAL, Conclusion
from mixtally.server.collector.contracts import SignedContract
from mixtally.server.collector.core import ENDS, CollectorState
from mixtally.server.collector.results import format_utc, round_parts
from mixtally.server.node.rounds import RoundRow

_COLUMNS = ("round", "opens", "closes", "people", "state")
_BINS = 1000
"""Maximum number of bins of a round in the table on the page."""
_MOST_SHOWN = 12
"""Number of rounds whose counts are on the page, latest first; all results can be downloaded."""


class Page:
    """The page as bytes, which is rebuilt when the collector reports a change."""

    def __init__(self, collector: Collector) -> None:
        self._collector = collector
        self._known: dict[tuple[str, str], Conclusion] = {}
        self._earlier: dict[tuple[str, str], Conclusion] = {}
        self.html = b""
        collector.on_change = self.write

    def write(self) -> None:
        """Rebuild the page; conclusions of rounds that are still shown are not computed again."""
        self._earlier, self._known = self._known, {}
        self.html = page(self.document()).encode()
        self._earlier = {}

    def document(self) -> Document:
        """Return the document with all contracts, newest serial of each name first."""
        node, every = self._collector.node, self._collector.contracts.all()
        waiting = sorted(set(node.agreements) - node.cleared)
        opening: list[Part] = []
        if waiting:
            opening.append(
                Text("Some other roles have not answered yet. No round continues before they do.")
            )
        if not every:
            opening.append(Text("No contract was signed yet."))
        return Document(
            title=f"Collector {node.signer.name}",
            promise=_promise(every),
            source=f"Run by {node.folder.role.operator}. Privacy is spent when a batch is "
            "received. Computing more from it costs nothing more.",
            opening=tuple(opening),
            sections=lambda: tuple(part for one in every for part in self._sections(one)),
            summary=lambda: tuple(part for one in every for part in self._summary(one)),
            facts=lambda: {"contracts": [self._facts(one) for one in every]},
        )

    def _sections(self, agreed: SignedContract) -> list[Section]:
        name = f"{agreed.contract.name}, serial {agreed.contract.serial}"
        rows = self._rows(agreed)
        shown = [
            row
            for row in reversed(rows)
            if row.state in (CollectorState.RELEASED, CollectorState.REFUSED)
        ]
        sections = [Section(f"Contract {name}", (*self._summary(agreed),))]
        for row in shown[:_MOST_SHOWN]:
            held = self._collector.shown_round(row)
            counts = round_parts(held, self._conclusion(row), _BINS, chart=True)
            sections.append(Section(held.title, counts))
        about = contract_document(agreed.contract, agreed.fingerprint).summary()
        more = (Heading("What is not promised"), Bullets.of(not_promised(agreed.contract.plan)))
        return [*sections, Section(f"What {name} says", (*about, *more))]

    def _summary(self, agreed: SignedContract) -> tuple[Part, ...]:
        rows, plan = self._rows(agreed), agreed.contract.plan
        charged = len([row for row in rows if self._collector.results.read_charge(row.folder)])
        spent = (
            f"{len(rows):,} of {plan.collections:,} rounds were proposed and {charged:,} batches "
            "were taken; the promise is for all of them together."
        )
        if not rows:
            return (Text(spent),)
        return Text(spent), Table(
            _COLUMNS, [self._line(row) for row in rows], words=frozenset(_COLUMNS)
        )

    def _facts(self, agreed: SignedContract) -> Facts:
        contract, results = agreed.contract, self._collector.results
        rounds = [
            {
                "round": row.round,
                "opens": row.opens,
                "closes": row.closes,
                "expires": row.expires,
                "state": row.state,
                "charged": results.read_charge(row.folder) is not None,
                "waits": self._collector.describe_missing(row),
            }
            for row in self._rows(agreed)
        ]
        return {
            "name": contract.name,
            "serial": contract.serial,
            "fingerprint": agreed.fingerprint,
            "collections": contract.plan.collections,
            "rounds": rounds,
        }

    def _rows(self, agreed: SignedContract) -> list[RoundRow]:
        every = self._collector.node.rounds.all()
        return [row for row in every if row.contract == agreed.fingerprint]

    def _line(self, row: RoundRow) -> list[Cell]:
        people = self._collector.results.people(row.folder)
        shown = "" if people is None else f"{people:,}"
        return [
            str(row.round),
            format_utc(row.opens),
            format_utc(row.closes),
            shown,
            self._state(row),
        ]

    def _state(self, row: RoundRow) -> str:
        if (
            row.state == CollectorState.REFUSED
            and self._conclusion(row).refusal == OPEN_QUESTION_REFUSAL
        ):
            return f"counted; {OPEN_QUESTION_REFUSAL}"
        ends = {
            CollectorState.RELEASED: "released",
            CollectorState.REFUSED: "not released: its numbers do not add up",
            CollectorState.DESTROYED: "destroyed: too few took part"
            if row.ended == TOO_FEW
            else "destroyed: a mix received nothing in time",
            CollectorState.EXPIRED: "over: its batch did not come in time",
            CollectorState.WITHDRAWN: "withdrawn before it opened",
        }
        if row.state in ENDS:
            return ends[CollectorState(row.state)]
        waits = self._collector.describe_missing(row)
        if row.state == CollectorState.OPEN:
            return f"takes answers in that time; mixed afterwards, by {format_utc(row.expires)}"
        return waits or "its batch is being counted"

    def _conclusion(self, row: RoundRow) -> Conclusion:
        # The state is part of the key, because a refused round may be released later.
        key = row.folder, row.state
        if key not in self._known:
            found = self._earlier.get(key)
            self._known[key] = self._collector.conclusion(row) if found is None else found
        return self._known[key]


def _promise(contracts: Sequence[SignedContract]) -> Promise:
    """Return the guarantee of the only contract, or a summary of several or none."""
    if len(contracts) == 1:
        return promise_of_plan(contracts[0].contract.plan)
    if not contracts:
        none = "no contract was signed"
        return (
            f"Protects: nobody, as nothing is asked yet: {none}.",
            f"epsilon and delta: {none}.",
            f"Expected error: {none}.",
        )
    several = [promise_of_plan(one.contract.plan) for one in contracts]
    named = [f"{one.contract.name}, serial {one.contract.serial}" for one in contracts]

    def line(place: int) -> str:
        texts = [lines[place] for lines in several]
        if len(set(texts)) == 1:
            return texts[0]
        return " ".join(f"{name}: {text}" for name, text in zip(named, texts, strict=True))

    return line(0), line(1), line(2)
