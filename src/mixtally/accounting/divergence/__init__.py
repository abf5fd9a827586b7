"""Exact divergences, one mechanism a file, each with its derivation.

``registry`` says which file has the functions of ``Divergence`` for a mechanism; files that it does
not name hold the cases of flips.
"""

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple, Protocol

from mixtally.accounting.numerics.bracket import Bracket
from mixtally.accounting.numerics.search import usual_cover
from mixtally.model.guarantee import Observer
from mixtally.model.mechanism import Parameter, Shuffled
from mixtally.model.mechanism.parameters import Parameters
from mixtally.primitives.memo import Memo

__all__ = [
    "Bound",
    "CalibrationTarget",
    "CountedParameters",
    "Divergence",
    "ObservedMessage",
    "ProvedDelta",
    "separation_note",
]


class ObservedMessage(NamedTuple):
    """One message of a person, and what its observer knows.

    where
      mechanism   by which it was made; sent as often as its ``repeats``
      observer    ``messages`` or ``sums``
      others      how many of the other people are known to hold a one, or everybody known to hold
                  nothing for 0; None for any crowd, which is the only promise
    """

    mechanism: Shuffled
    observer: Observer = Observer.MESSAGES
    others: int | None = None


class ProvedDelta(NamedTuple):
    """Proved bounds of delta, with their source and what they rest on."""

    bounds: Bracket
    source: str
    assumption: str


class CountedParameters(NamedTuple):
    """Parameters with their fakes and people counted: everybody's, or only the honest ones.

    where
      fakes         in one round; 0 where there are none or they are sought
      crowd         people whose own flips are counted on, 0 for none
      for_epsilon   the epsilon for which something is sought, None when nothing is
    """

    given: Parameters
    fakes: int
    crowd: int
    for_epsilon: float | None


class CalibrationTarget(NamedTuple):
    """What a search is for: ``times`` messages that together keep (epsilon, delta)."""

    epsilon: float
    delta: float
    times: int

    @property
    def cover(self) -> float:
        """Roughly the ones that must hide a bin, for each of the messages."""
        return usual_cover(self.epsilon, self.delta) * float(self.times**0.9)


class Bound(Enum):
    """What an upper bound of delta is for, and so how close it is."""

    EXACT = "exact"
    """Proved, as close as it is known."""
    NEAR = "near"
    """Proved, some parts in a thousand above: points of a curve that is composed."""
    EXPECTED = "expected"
    """What ``EXACT`` most likely is, not proved: a search whose end is proved."""
    ROUGH = "rough"
    """The same to some hundredths: points of a curve that is composed in a search."""


class Divergence(Protocol):
    """The functions of a mechanism's file; every epsilon is at least 0.

    What a call computes and a later one may need again is kept in ``memo``, which the caller owns.
    """

    @property
    def MECHANISM(self) -> type[Shuffled]:  # noqa: N802
        """The class whose messages it prices."""
        ...

    def counts_people(self, name: str, given: Parameters) -> bool:
        """Whether other people's flips are counted on."""
        ...

    def record_fields(
        self, name: str, counted: CountedParameters
    ) -> tuple[ObservedMessage, int, str]:
        """One message of protocol ``name``, how many a record takes, and what that rests on."""
        ...

    def delta(
        self, message: ObservedMessage, epsilon: float, memo: Memo, *, lower_only: bool = False
    ) -> ProvedDelta:
        """Both bounds of delta(epsilon), the larger of both directions.

        With ``lower_alone`` the upper bound may be one: it is not what is asked.
        """
        ...

    def upper(
        self, message: ObservedMessage, epsilons: Sequence[float], bound: Bound, memo: Memo
    ) -> Sequence[float]:
        """Upper bounds at several epsilons; of none it raises EffortError where many would take
        too long.
        """
        ...

    def choose_bound(self, message: ObservedMessage, bound: Bound) -> Bound:
        """The closest bound that costs no more than ``bound``."""
        ...

    def directional_upper(
        self, message: ObservedMessage, epsilons: Sequence[float], memo: Memo
    ) -> tuple[Sequence[float], Sequence[float]] | None:
        """Upper bounds of either direction at several epsilons; None where both are one curve."""
        ...

    def observed_unit(self, message: ObservedMessage) -> tuple[ObservedMessage, int]:
        """The message that an observer of ``message`` sees so many times, each on its own."""
        ...

    def handles_repeats(self, message: ObservedMessage) -> bool:
        """Whether ``delta`` holds for a record that is sent several times."""
        ...

    def lower_of(self, message: ObservedMessage, epsilon: float, rounds: int) -> float:
        """A lower bound for so many rounds, from counting one kind of message."""
        ...

    def start(self, message: ObservedMessage, parameter: Parameter, goal: CalibrationTarget) -> int:
        """Roughly the value of ``parameter`` that reaches ``goal``: where a search begins."""
        ...


def separation_note(given: Parameters) -> str:
    """What a record rests on whose one message is a bit of several."""
    if given.split and given.messages_per_record() == 1:
        return "; every bit is a message of its own and the mixes keep them apart"
    return ""
