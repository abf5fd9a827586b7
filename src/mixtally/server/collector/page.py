"""Web page of a collector: its contracts and guarantees, the states of its rounds, and the results.

The page is plain HTML without scripts and without resources from other servers. It is the same for
every visitor.
"""

from collections.abc import Sequence

from mixtally.device.wire.manifest import EXPIRED, LOST, TOO_FEW
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
    Tone,
)
from mixtally.report.page import page
from mixtally.report.promise import promise_of_plan
from mixtally.report.words import not_promised
from mixtally.server.collector.collector import Collector
from mixtally.server.collector.concluding import OPEN_QUESTION_REFUSAL, Conclusion
from mixtally.server.collector.contracts import SignedContract
from mixtally.server.collector.core import ENDS, CollectorState
from mixtally.server.collector.results import format_utc, round_parts
from mixtally.server.node.events import Condition
from mixtally.server.node.rounds import RoundRow

_COLUMNS = ("round", "opens", "closes", "people", "state")
_BINS = 1000
"""Maximum number of bins of a round in the table on the page."""
MOST_SHOWN = 12
"""Number of rounds of a contract whose counts are shown, latest first and one on each page; all
results can be downloaded. A round of 300 answers takes 100 kB.
"""
_DESTROYED = {
    TOO_FEW: "too few people took part",
    EXPIRED: "a mix received nothing before the round expired",
    LOST: "a mix lost its disk",
}
"""The explanation of each end of a round that a mix can sign. The reason that an operator has
written is shown unchanged."""


class Page:
    """The pages as bytes, which are rebuilt when the collector reports a change."""

    def __init__(self, collector: Collector) -> None:
        self._collector = collector
        self._known: dict[tuple[str, str], Conclusion] = {}
        self._earlier: dict[tuple[str, str], Conclusion] = {}
        self.pages: list[bytes] = []
        collector.on_change = self.write

    def write(self) -> None:
        """Rebuild all pages; estimates of rounds that were already shown are not computed again."""
        self._earlier, self._known = self._known, {}
        many = max(
            (len(self._concluded_rounds(one)) for one in self._collector.contracts.all()), default=1
        )
        self.pages = [
            page(self.document(place), _links(place, many)).encode()
            for place in range(max(many, 1))
        ]
        self._earlier = {}

    def document(self, place: int | None = None, name: str | None = None) -> Document:
        """Return the document with all contracts, or those of a name, newest serial first.

        ``place`` is the number of a page. Page 0 has the counts of the latest round of each
        contract, page 1 those of the round before it, and so on. With None, the document has the
        counts of all these rounds.
        """
        node, contracts = self._collector.node, self._collector.contracts.all()
        every = [one for one in contracts if name in (None, one.contract.name)]
        waiting = [_name_of(one) for one in every if one.fingerprint not in node.cleared]
        opening: list[Part] = []
        if waiting:
            opening.append(
                Text(
                    f"Waiting for answers of other roles under {', '.join(waiting)}. "
                    "No round of these contracts continues before that."
                )
            )
        if not every:
            opening.append(Text("No contract has been signed."))
        return Document(
            title=f"Collector {node.signer.name}",
            promise=_promise(every),
            source=f"Run by {node.folder.role.operator}. Privacy is spent when a batch is "
            "received. Computing more from it costs nothing more.",
            opening=tuple(opening),
            sections=lambda: tuple(part for one in every for part in self._sections(one, place)),
            summary=lambda: tuple(part for one in every for part in self._summary(one)),
            facts=lambda: {"contracts": [self._facts(one) for one in every]},
        )

    def _concluded_rounds(self, agreed: SignedContract) -> list[RoundRow]:
        """Return the rounds whose counts are shown, latest first."""
        ends = CollectorState.RELEASED, CollectorState.REFUSED
        return [row for row in reversed(self._rows(agreed)) if row.state in ends][:MOST_SHOWN]

    def _sections(self, agreed: SignedContract, place: int | None) -> list[Section]:
        name = _name_of(agreed)
        shown, sections = self._concluded_rounds(agreed), list[Section]()
        if not place:
            sections.append(Section(f"Contract {name}", (*self._summary(agreed),)))
        for row in shown if place is None else shown[place : place + 1]:
            shown_round = self._collector.shown_round(row)
            counts = round_parts(shown_round, self._conclusion(row), _BINS, chart=True)
            sections.append(Section(shown_round.title, counts))
        if place:
            return sections
        about = contract_document(agreed.contract, agreed.fingerprint).summary()
        more = (Heading("What is not promised"), Bullets.of(not_promised(agreed.contract.plan)))
        return [*sections, Section(f"What {name} says", (*about, *more))]

    def _summary(self, agreed: SignedContract) -> tuple[Part, ...]:
        rows, plan = self._rows(agreed), agreed.contract.plan
        charged = len([row for row in rows if self._collector.results.read_charge(row.folder)])
        spent = (
            f"{_name_of(agreed)}. Rounds proposed: {len(rows):,}; at most {plan.collections:,} in "
            f"all serials together. Batches received: {charged:,}. The guarantee covers all rounds "
            "together."
        )
        warnings = [Text(text, tone=Tone.BAD) for text in self._warnings(agreed)]
        if not rows:
            return Text(spent), *warnings
        lines = [self._line(row) for row in rows]
        return Text(spent), *warnings, Table(_COLUMNS, lines, words=frozenset(_COLUMNS))

    def _warnings(self, agreed: SignedContract) -> list[str]:
        """Return the warnings about a contract, one sentence each.

        They report roles that do not answer, and a next round that could not be proposed.
        """
        roles = {(role.name, role.address) for role in agreed.agreement.other_roles}
        every = self._collector.warnings()
        return [
            f"{said['role']} has not answered since {said['since']}."
            for said in every
            if (said.get("role"), said.get("address")) in roles
        ] + [
            f"The next round could not be proposed since {said['since']}: {said['because']}."
            for said in every
            if said["event"] == Condition.SCHEDULE.value.begins
            and said["contract"] == agreed.contract.name
        ]

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
            "warnings": self._warnings(agreed),
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
            return f"counted: {OPEN_QUESTION_REFUSAL}"
        ends = {
            CollectorState.RELEASED: "released",
            CollectorState.REFUSED: "not released: the numbers of the mixes do not agree",
            CollectorState.DESTROYED: f"destroyed: {_DESTROYED.get(row.ended, row.ended)}",
            CollectorState.EXPIRED: "expired: the batch did not arrive in time",
            CollectorState.WITHDRAWN: "withdrawn before it opened",
            CollectorState.LOST: "lost with the collector's disk; counts as charged",
        }
        if row.state in ENDS:
            return ends[CollectorState(row.state)]
        waits = self._collector.describe_missing(row)
        if row.state == CollectorState.OPEN:
            return f"accepts answers until it closes; results by {format_utc(row.expires)}"
        return waits or "the batch is being counted"

    def _conclusion(self, row: RoundRow) -> Conclusion:
        # The state is part of the key, because a refused round may be released later.
        key = row.folder, row.state
        if key not in self._known:
            found = self._earlier.get(key)
            self._known[key] = self._collector.conclusion(row) if found is None else found
        return self._known[key]


def _name_of(agreed: SignedContract) -> str:
    """Return the name and serial of a contract."""
    return f"{agreed.contract.name}, serial {agreed.contract.serial}"


def _links(place: int, many: int) -> list[tuple[str, str]]:
    """Return the links from the page with the number ``place`` to the other pages.

    There are ``many`` pages in total. A link is a pair of its text and its URL.
    """
    names = ["Latest round", *(f"{number} before the latest" for number in range(1, many))]
    return [(name, f"?page={i + 1}") for i, name in enumerate(names) if i != place]


def _promise(contracts: Sequence[SignedContract]) -> Promise:
    """Return the guarantee of the only contract, or a summary if there are several or none."""
    if len(contracts) == 1:
        return promise_of_plan(contracts[0].contract.plan)
    if not contracts:
        none = "none, because no contract has been signed"
        return (f"Protects: {none}.", f"epsilon and delta: {none}.", f"Expected error: {none}.")
    several = [promise_of_plan(one.contract.plan) for one in contracts]
    named = [_name_of(one) for one in contracts]

    def line(place: int) -> str:
        texts = [lines[place] for lines in several]
        if len(set(texts)) == 1:
            return texts[0]
        return " ".join(f"{name}: {text}" for name, text in zip(named, texts, strict=True))

    return line(0), line(1), line(2)
