"""Another look at a stored tally, by hand: free, as often as one likes, whatever is asked of it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from mixtally.device.wire.sheet import read_sheet
from mixtally.errors import DataError, ParameterError
from mixtally.primitives.chance import SecureChance
from mixtally.protocol.encode.hashed import look_up_words
from mixtally.protocol.estimate.analysis import COUNTS_ALONE, Analysis
from mixtally.report.document import Document
from mixtally.server.collector.collector import Collector
from mixtally.server.collector.page import Page
from mixtally.server.collector.prefixes import Symbols, extend_prefixes
from mixtally.server.collector.results import round_document
from mixtally.server.node.calls import call
from mixtally.server.node.folder import Folder
from mixtally.server.node.node import Node
from mixtally.server.node.peers import Peers
from mixtally.server.node.rounds import RoundRow


def build_page(folder: Folder) -> Document:
    """What the page shows, as it follows from the folder."""
    with _open_collector(folder) as collector:
        document = Page(collector).document()
        sections, summary, facts = document.sections(), document.summary(), document.facts()
    return replace(
        document, sections=lambda: sections, summary=lambda: summary, facts=lambda: facts
    )


@contextmanager
def _open_collector(folder: Folder) -> Iterator[Collector]:
    node = Node(folder, SecureChance())
    collector = Collector(node, Peers(node, call))
    try:
        collector.contracts.load_new()
        node.cleared |= set(node.agreements)  # only looked at
        yield collector
    finally:
        collector.end()


def show_round(
    folder: Folder,
    name: str,
    number: int,
    analysis: Analysis = COUNTS_ALONE,
    top: int = 20,
    *,
    words: Sequence[str] | None = None,
) -> Document:
    """What a round of the contract ``name`` tells; nobody is asked, nothing is charged.

    ``words`` are looked for where its question is open. Raises DataError for a round that is not
    there or not counted, ParameterError for what its tally does not hold, PlanError for words where
    the question has bins.
    """
    with _open_collector(folder) as collector:
        row = _find_round(collector, name, number)
        if words is not None:
            question = collector.contracts.of(row.contract).contract.plan.question
            analysis = replace(analysis, listed=look_up_words(question, words))
        return round_document(collector.shown_round(row), collector.conclusion(row, analysis), top)


def conclude_again(folder: Folder, name: str, number: int, top: int = 20) -> Document:
    """A round that was refused, concluded again from what is stored; nobody is asked.

    It is released where its numbers add up by now. Raises DataError for a round that is not there,
    and for one that was neither refused nor released.
    """
    with _open_collector(folder) as collector:
        collector.conclude_again(_find_round(collector, name, number))
        row = _find_round(collector, name, number)
        return round_document(collector.shown_round(row), collector.conclusion(row), top)


def find_prefixes(folder: Folder, name: str, number: int) -> Symbols:
    """The prefixes that a round under the contract ``name`` found, for the next one to ask for.

    Raises DataError for a round that is not there, not counted, not released, or the last of a
    search, ParameterError for a question that does not ask by prefixes.
    """
    with _open_collector(folder) as collector:
        row = _find_round(collector, name, number)
        asked = collector.contracts.of(row.contract).contract.plan.prefixes
        if asked is None:
            raise ParameterError(
                "--extend", expected="a question for words", got="another", do="leave it out"
            )
        found = collector.conclusion(row)
        if found.result is None:
            raise DataError(
                f"round {number} of {name}",
                expected="one of which counts were released",
                got=found.refusal,
                do="give the prefixes with --prefixes, or ask for the same ones again",
            )
        given = read_sheet(collector.node.sheet_note(row)).prefixes
        return extend_prefixes(asked, given, found.result.estimate)


def _find_round(collector: Collector, name: str, number: int) -> RoundRow:
    every = collector.node.rounds.all()
    rows = [row for row in every if (row.name, row.round) == (name, number)]
    if not rows or rows[0].contract not in collector.node.agreements:
        raise DataError(
            f"round {number} of {name}",
            expected="a round that was proposed",
            got="none",
            do="look at the collector's page for its rounds",
        )
    return rows[0]
