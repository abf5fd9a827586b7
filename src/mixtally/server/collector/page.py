"""The page of a collector: who runs what, what is promised, how far rounds are, what they told.

Plain HTML without scripts and without anything from elsewhere. Nothing on it depends on who asks.
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
_MOST_SHOWN = 12
"""Rounds whose counts are on the page, the latest first; results of all can be fetched."""


class Page:
    """The page as bytes, written again when something has changed."""

    def __init__(self, collector: Collector) -> None:
        self._collector = collector
        self._known: dict[tuple[str, str], Conclusion] = {}
        self._earlier: dict[tuple[str, str], Conclusion] = {}
        self.html = b""
        collector.on_change = self.write

    def write(self) -> None:
        """Write the page anew; conclusions are drawn once and kept while the page uses them."""
        self._earlier, self._known = self._known, {}
        self.html = page(self.document()).encode()
        self._earlier = {}

    def document(self) -> Document:
        """All contracts, the newest serial of a name first."""
        node, every = self._collector.node, self._collector.contracts.all()
        waiting = sorted(set(node.agreements) - node.cleared)
        opening: list[Part] = []
        if waiting:
            opening.append(
                Text("Some other roles have not answered yet: until then no round goes on.")
            )
        if not every:
            opening.append(Text("No contract was signed yet."))
        return Document(
            title=f"Collector {node.signer.name}",
            promise=_promise(every),
            source=f"Run by {node.folder.role.operator}. What it received is spent; whatever is "
            "computed of a tally afterwards costs nobody anything.",
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
            else "destroyed: a mix had nothing in time",
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
        key = row.folder, row.state  # one that was refused may be released later
        if key not in self._known:
            found = self._earlier.get(key)
            self._known[key] = self._collector.conclusion(row) if found is None else found
        return self._known[key]


def _promise(every: Sequence[SignedContract]) -> Promise:
    """The lines of the only contract, or what can be said of several, or of none."""
    if len(every) == 1:
        return promise_of_plan(every[0].contract.plan)
    if not every:
        none = "no contract was signed"
        return (
            f"Protects: nobody, as nothing is asked yet: {none}.",
            f"epsilon and delta: {none}.",
            f"Expected error: {none}.",
        )
    several = [promise_of_plan(one.contract.plan) for one in every]
    named = [f"{one.contract.name}, serial {one.contract.serial}" for one in every]

    def line(place: int) -> str:
        texts = [lines[place] for lines in several]
        if len(set(texts)) == 1:
            return texts[0]
        return " ".join(f"{name}: {text}" for name, text in zip(named, texts, strict=True))

    return line(0), line(1), line(2)
