"""What a search found, round by round."""

from dataclasses import dataclass

from mixtally.lab.simulation.heavy.design import Design


@dataclass(frozen=True, slots=True)
class FoundWord:
    """A word that ended in some round.

    where
      count                unbiased, of the whole crowd
      lower_simultaneous,  hold for all bins of all rounds at once, so also for those that were
      upper_simultaneous   picked; there is no interval for a picked word alone
      round                the round it ended in, from 1
    """

    word: str
    count: float
    standard_error: float
    lower_simultaneous: int
    upper_simultaneous: int
    round: int


@dataclass(frozen=True, slots=True)
class SearchRound:
    """One round: what was published before and after it.

    where
      asked      prefixes whose extensions were the bins
      people     who took part
      messages   tallied, fakes included
      threshold  the least tallied count that survives
      survivors  prefixes that the next round extends
      ended      words that ended in this round
      crowded    prefixes above the threshold for which there was no room
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
    """The words found, most frequent first, and how.

    ``unreadable`` counts ended extensions that no text spells: with honest people, noise.
    """

    design: Design
    rounds: tuple[SearchRound, ...]
    words: tuple[FoundWord, ...]
    unreadable: int

    @property
    def top(self) -> tuple[FoundWord, ...]:
        """The most frequent words, as many as were expected or fewer."""
        return self.words[: self.design.search.top]
