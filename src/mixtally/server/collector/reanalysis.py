"""Results of rounds for the commands of a collector, computed from its folder.

These functions send no requests. They cost no further privacy, even if they are called repeatedly.
"""

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
from mixtally.server.node.health import read_health
from mixtally.server.node.node import Node
from mixtally.server.node.peers import Peers
from mixtally.server.node.rounds import RoundRow


def build_page(folder: Folder, name: str | None = None) -> Document:
    """Return the document of the collector's page, with all contracts or only those of a name."""
    stored = read_health(folder.path)
    with open_collector(folder) as collector:
        # Only the serving process knows its conditions. It records them in the folder.
        collector.warnings = lambda: [] if stored is None else stored.warnings
        document = Page(collector).document(name=name)
        sections, summary, facts = document.sections(), document.summary(), document.facts()
    return replace(
        document, sections=lambda: sections, summary=lambda: summary, facts=lambda: facts
    )


@contextmanager
def open_collector(folder: Folder) -> Iterator[Collector]:
    """Open a collector from its folder, without serving it."""
    node = Node(folder, SecureChance())
    collector = Collector(node, Peers(node, call))
    try:
        collector.contracts.load_new()
        # These commands sign nothing, so the peers need not be asked for lost notes.
        node.cleared |= set(node.agreements)
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
    """Return the result of a round under the contract ``name``.

    The summary shows the ``top`` largest bins. ``words`` are the words to look for if the question
    has an open domain.

    Raises
    ------
    DataError
        If the round does not exist or is not counted.
    ParameterError
        If the analysis needs data that the tally does not contain.
    PlanError
        If words are given for a question that has bins.
    """
    with open_collector(folder) as collector:
        row = find_round(collector, name, number)
        if words is not None:
            question = collector.contracts.of(row.contract).contract.plan.question
            analysis = replace(analysis, listed=look_up_words(question, words))
        return round_document(collector.shown_round(row), collector.conclusion(row, analysis), top)


def conclude_again(folder: Folder, name: str, number: int, top: int = 20) -> Document:
    """Repeat the conclusion of a refused round from stored data, and return its result.

    The round is released if its numbers are now consistent.

    Raises
    ------
    DataError
        If the round does not exist, or was neither refused nor released.
    """
    with open_collector(folder) as collector:
        collector.conclude_again(find_round(collector, name, number))
        row = find_round(collector, name, number)
        return round_document(collector.shown_round(row), collector.conclusion(row), top)


def find_prefixes(folder: Folder, name: str, number: int) -> Symbols:
    """Return the prefixes that a round of a search for words has found, for the next round.

    Raises
    ------
    DataError
        If the round does not exist, has no released result, or is the last of the search.
    ParameterError
        If the question does not ask by prefixes.
    """
    with open_collector(folder) as collector:
        row = find_round(collector, name, number)
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


def find_round(collector: Collector, name: str, number: int) -> RoundRow:
    """Return a round of a contract; raises DataError if it does not exist."""
    every = collector.node.rounds.all()
    rows = [row for row in every if (row.name, row.round) == (name, number)]
    if not rows or rows[0].contract not in collector.node.agreements:
        raise DataError(
            f"round {number} of {name}",
            expected="a round that was proposed",
            got="none",
            do="see the collector's page for its rounds",
        )
    return rows[0]
