"""What is said of a round under a contract: what came, and what nobody must take for granted."""

from mixtally.records.contract import Cover, Part, Terms
from mixtally.records.guarantee import LEAST_USERS
from mixtally.records.received import Received
from mixtally.report.document import Cell, Table
from mixtally.report.words import without_mixes

_CAME = ("part", "messages tallied", "of hops", "of people", "dropped", "bytes each")


def came(terms: Terms, received: Received) -> Table:
    """What each part's messages were, by what hops declared."""
    rows = list[list[Cell]]()
    for place, (part, one) in enumerate(zip(terms.parts, received.parts, strict=True), 1):
        numbers = (one.received, one.added, one.came - one.added, one.came - one.received)
        cells = [f"{many:,}" for many in (*numbers, part.layout.message_bytes)]
        rows.append([f"{place}: {part.protocol}", *cells])
    return Table(_CAME, rows, title="What came")


def not_promised(terms: Terms) -> list[str]:
    """What a careful reader must not take for granted."""
    texts = [
        without_mixes(terms.local_epsilon),
        "Counts are right only if every hop is honest: one may put its fakes into any bin, and "
        "lose as many messages as people's coins vary.",
        "That someone took part is not hidden, only what they answered.",
        "Promises add up: a person who answers more often than the contract's "
        f"{terms.collections:,} time(s), or elsewhere too, spends more.",
        f"Nothing here stops a person from lying: each dishonest message can move a bin by "
        f"{max(map(_reach, terms.parts)):.3g} counts.",
    ]
    if terms.cover is Cover.PEOPLE:
        texts.insert(
            1,
            "Behind a hop that leaves out others' messages an honest one hides nobody: people "
            "bring the cover.",
        )
    return texts


def _reach(part: Part) -> float:
    """Counts by which one more set bit moves a bin's estimate."""
    return 1.0 / part.mechanism(fakes=1, crowd=LEAST_USERS).gain
