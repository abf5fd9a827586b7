"""What a search found, round by round."""

from dataclasses import dataclass
from typing import Any

import msgspec

from mixtally.simulation.heavy.design import Design, promise


@dataclass(frozen=True, slots=True)
class Found:
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
class Round:
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
    rounds: tuple[Round, ...]
    found: tuple[Found, ...]
    unreadable: int

    @property
    def top(self) -> tuple[Found, ...]:
        """The most frequent words, as many as were wanted or fewer."""
        return self.found[: self.design.search.top]

    def facts(self) -> dict[str, Any]:
        """The result as one JSON object."""
        design, search = self.design, self.design.search
        shown = design.certificate
        return {
            "epsilon": shown.epsilon,
            "delta": shown.upper,
            **shown.terms(),
            "promised": promise(design),
            "way": design.way,
            "reason": design.reason,
            "users": search.users,
            "rounds_planned": search.rounds,
            "rounds_played": len(self.rounds),
            "bins": search.bins,
            "keep": search.most_survivors,
            "alphabet": search.spelling.characters,
            "error_rate": search.error_rate,
            "protocol": design.plan.name,
            "noise_of_a_round": design.plan.standard_error,
            "messages_per_user": design.messages_per_user,
            "bytes_per_user": design.bytes_per_user,
            "words_found": len(self.found),
            "unreadable": self.unreadable,
            "words": [_plain(one) for one in self.top],
            "rounds": [_plain(one) for one in self.rounds],
            "plan": design.plan.plain(),
        }


def _plain(record: Found | Round) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(record)
    return plain
