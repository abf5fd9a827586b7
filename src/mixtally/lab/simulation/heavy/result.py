"""Result of a search for words, round by round."""

from dataclasses import dataclass

from mixtally.lab.simulation.heavy.design import Design


@dataclass(frozen=True, slots=True)
class FoundWord:
    """A word that was found, with an unbiased estimate of its ``count`` in the crowd.

    A word *ends* in a round that extends it by the end symbol. In the closing round,
    which some searches have, every significant extension ends.

    The intervals are valid for all bins of all rounds simultaneously, and therefore also for words
    that were selected by their counts. There is no individual interval, because it would not be
    valid after the selection. ``round`` is the number of the round in which the word ended, from 1.
    """

    word: str
    count: float
    standard_error: float
    lower_simultaneous: int
    upper_simultaneous: int
    round: int


@dataclass(frozen=True, slots=True)
class SearchRound:
    """One round, with the data that are published before and after it.

    Attributes
    ----------
    asked
        Prefixes whose extensions were the bins of the round.
    people
        Number of people who took part.
    messages
        Number of messages tallied, fakes included.
    threshold
        Smallest tallied count with which a prefix survives.
    survivors
        Prefixes that the next round extends.
    ended
        Words that ended in this round.
    crowded
        Number of prefixes that reached the threshold but were dropped, because only a limited
        number of prefixes may survive.
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

    ``unreadable`` is the number of significant extensions that have ended, as words do, but are not
    the spelling of any text. If all people are honest, only noise made them significant.
    """

    design: Design
    rounds: tuple[SearchRound, ...]
    words: tuple[FoundWord, ...]
    unreadable: int

    @property
    def top(self) -> tuple[FoundWord, ...]:
        """The most frequent words, at most as many as were expected."""
        return self.words[: self.design.search.top]
