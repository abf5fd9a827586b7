"""Exact divergences, one mechanism a file, each with its derivation.

The divergence of a mechanism is in the file that has the name of its own in ``records/mechanism``;
its functions are those of ``Divergence``. Files of other names hold the cases of flips.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import NamedTuple, Protocol, cast

from mixtally.ground.memo import Memo
from mixtally.privacy.numerics.bracket import Bracket
from mixtally.privacy.numerics.search import usual_cover
from mixtally.records.guarantee import Observer
from mixtally.records.mechanism import Parameter, Shuffled
from mixtally.records.mechanism.parameters import Parameters

__all__ = [
    "CalibrationTarget",
    "CountedParameters",
    "Divergence",
    "ObservedMessage",
    "ProvedDelta",
    "Takes",
    "apart_note",
    "divergence_of",
    "of_kind",
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


class ParameterRules(NamedTuple):
    """Which parameters a protocol requires, which are optional, and which may be searched for."""

    required: frozenset[str]
    optional: frozenset[str]
    sought: tuple[tuple[str, Parameter], ...]


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


class Divergence(Protocol):
    """The functions of a mechanism's file; every epsilon is at least 0.

    What a call computes and a later one may need again is kept in ``memo``, which the caller owns.
    """

    PROTOCOLS: Mapping[str, ParameterRules]
    """Its protocols, by name."""

    def counts_people(self, name: str, given: Parameters) -> bool:
        """Whether other people's flips are counted on."""
        ...

    def record_fields(
        self, name: str, counted: CountedParameters
    ) -> tuple[ObservedMessage, int, str]:
        """One message of protocol ``name``, how many a record takes, and what that rests on."""
        ...

    def exact(self, message: ObservedMessage, epsilon: float, memo: Memo) -> ProvedDelta:
        """Both bounds of delta(epsilon), the larger of both directions."""
        ...

    def at_least(self, message: ObservedMessage, epsilon: float, memo: Memo) -> ProvedDelta:
        """``exact``, where the upper bound may be one: it is not what is asked."""
        ...

    def upper(self, message: ObservedMessage, epsilon: float, memo: Memo) -> float:
        """The upper bound alone, where that is cheaper."""
        ...

    def expected(self, message: ObservedMessage, epsilon: float, memo: Memo) -> float:
        """What the upper bound most likely is, not proved: for a search whose end is proved."""
        ...

    def rough(self, message: ObservedMessage, epsilon: float, memo: Memo) -> float | None:
        """``expected``, less closely, for compositions in a search; None where it is quick."""
        ...

    def near(self, message: ObservedMessage, epsilon: float, memo: Memo) -> float | None:
        """``upper`` to some parts in a thousand, for compositions; None where it is quick."""
        ...

    def quick(self, message: ObservedMessage, epsilon: float, memo: Memo) -> float | None:
        """A bound for all crowds at once, far above the exact one; None where there is none."""
        ...

    def together(
        self, message: ObservedMessage, epsilons: Sequence[float], memo: Memo
    ) -> Sequence[float] | None:
        """Upper bounds at several epsilons as a composition needs them: to a part in a thousand.

        None where ``upper``, one by one, is as cheap.
        """
        ...

    def each_way(
        self, message: ObservedMessage, epsilons: Sequence[float], memo: Memo
    ) -> tuple[Sequence[float], Sequence[float]] | None:
        """Upper bounds of either direction at several epsilons; None where both are one curve."""
        ...

    def apart(self, message: ObservedMessage) -> tuple[ObservedMessage, int]:
        """The message that an observer of ``message`` sees so many times, each on its own."""
        ...

    def knows_repeats(self, message: ObservedMessage) -> bool:
        """Whether ``exact`` holds for a record that is sent several times."""
        ...

    def lower_of(self, message: ObservedMessage, epsilon: float, rounds: int) -> float:
        """A lower bound for so many rounds, from counting one kind of message."""
        ...

    def start(self, message: ObservedMessage, parameter: Parameter, goal: CalibrationTarget) -> int:
        """Roughly the value of ``parameter`` that reaches ``goal``: where a search begins."""
        ...


def divergence_of(message: ObservedMessage) -> Divergence:
    """The file of the message's mechanism."""
    return of_kind(type(message.mechanism))


def of_kind(kind: type[Shuffled]) -> Divergence:
    """The file of a kind of mechanism: it has the same name as that of the mechanism itself."""
    name = kind.__module__.rpartition(".")[2]
    return cast("Divergence", import_module(f"{__name__}.{name}"))


def apart_note(given: Parameters) -> str:
    """What a record rests on whose one message is a bit of several."""
    if given.split and given.pieces() == 1:
        return "; every bit is a message of its own and the mixes keep them apart"
    return ""
