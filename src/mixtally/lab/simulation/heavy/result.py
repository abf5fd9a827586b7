"""Result of a search for words, round by round."""

from dataclasses import dataclass

from mixtally.lab.simulation.heavy.design import Design


@dataclass(frozen=True, slots=True)
class FoundWord:
    """A word that ended in some round, with its unbiased ``count`` of the whole crowd.

    The intervals are valid for all bins of all rounds simultaneously, and therefore also for words
    that were selected. There is no interval for a selected word alone. ``round`` is the round in
    which the word ended, from 1.
    """

    word: str
    count: float
    standard_error: float
    lower_simultaneous: int
    upper_simultaneous: int
    round: int


@dataclass(frozen=True, slots=True)
class SearchRound:
    """One round, with what was published before and after it.

    Attributes
    ----------
    asked
        Prefixes whose extensions were the bins.
    people
        Number of people who took part.
    messages
        Number of messages tallied, fakes included.
    threshold
        Smallest tallied count that survives.
    survivors
        Prefixes that the next round extends.
    ended
        Words that ended in this round.
    crowded
        Number of prefixes above the threshold that exceeded the limit of survivors.
    """

    asked: tuple[str, ...]
    people: int
    messages: int
    threshold: int
    survivors: tuple[str, ...]
    ended: tuple[str, ...]
    crowded: int


@dataclass(frozen=True, slots=True)
class HeavyResult:
    """The words found, most frequent first, and the rounds that found them.

    ``unreadable`` counts ended extensions that spell no text. With honest people they are noise.
    """

    design: Design
    rounds: tuple[SearchRound, ...]
    words: tuple[FoundWord, ...]
    unreadable: int

    @property
    def top(self) -> tuple[FoundWord, ...]:
        """The most frequent words, at most as many as were expected."""
        return self.words[: self.design.search.top]
