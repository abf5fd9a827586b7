"""Divergences of mechanisms, one mechanism per file, each with its derivation.

``registry`` maps each mechanism to the file with its ``Divergence`` functions. The other files
derive special cases of flipped bits or contain shared steps. A *fake* is a dummy message that
carries no answer. *Others* are all people except the person whose answer is to be protected. Fakes
and people *count* if the proof relies on them. The *orders* of two neighbors u and v are the
divergence of P_u from P_v and that of P_v from P_u.

*The identity.* Most files use this formula, which ``docs/explanation/accounting.md`` proves. One of
N shuffled messages is the person's, drawn from R_u or R_v. The other N - 1 are independent draws
from one distribution b, such as that of a fake. Let y_1, .., y_N be independent draws from b. With
the weights w_u(y) = R_u(y) / b(y), and X_u the sum of all w_u(y_j),

    delta_{u,v} = (1/N) E[(X_u - e^eps X_v)_+] = (1/N) E[(W_1 + .. + W_N)_+],

where W_1, .., W_N are independent copies of W = w_u(y) - e^eps w_v(y).
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

    Attributes
    ----------
    mechanism
        The mechanism that randomized the message; it is sent ``repeats`` times.
    observer
        ``messages`` or ``sums``.
    others
        The number of other people who are known to hold a one. If a record may have any number of
        set bits, 0 means that all other people hold zeros. None means that nothing is assumed about
        other people; only then is delta a guarantee.
    """

    mechanism: Shuffled
    observer: Observer = Observer.MESSAGES
    others: int | None = None


class ProvedDelta(NamedTuple):
    """Proved bounds of delta, with their source and the assumptions they rely on."""

    bounds: Bracket
    source: str
    assumption: str


class CountedParameters(NamedTuple):
    """Parameters of a protocol, and the numbers of fakes and people that count.

    Either all fakes and people count, or only the honest ones. ``given`` has the parameters that
    the user gave. ``fakes`` is the number of fakes in one round; 0 if there are none or their
    number is sought. ``crowd`` is the number of people whose own flips count. ``for_epsilon`` is
    the epsilon for which a parameter is sought; None if no parameter is sought.
    """

    given: Parameters
    fakes: int
    crowd: int
    for_epsilon: float | None


class CalibrationTarget(NamedTuple):
    """The target of a search: ``times`` messages whose composition is (epsilon, delta)-private."""

    epsilon: float
    delta: float
    times: int

    @property
    def cover(self) -> float:
        """The estimated number of other messages that must show a bin to hide a message there.

        It grows with the number of messages that are composed.
        """
        return usual_cover(self.epsilon, self.delta) * float(self.times**0.9)


class Bound(Enum):
    """The purpose of an upper bound of delta, and therefore its accuracy."""

    EXACT = "exact"
    """Proved, and as tight as possible."""
    NEAR = "near"
    """Proved, some thousandths larger: for the points of a curve that is composed."""
    EXPECTED = "expected"
    """The probable value of ``EXACT``, not proved: for a search whose result is proved."""
    ROUGH = "rough"
    """The probable value within some hundredths: for curves that are composed in a search."""


class Divergence(Protocol):
    """The functions in the file of a mechanism. Every epsilon is at least 0.

    Intermediate results that later calls may need are stored in ``memo``, which the caller owns.
    """

    @property
    def MECHANISM(self) -> type[Shuffled]:  # noqa: N802
        """The class of the messages that the file handles."""
        ...

    def counts_people(self, name: str, given: Parameters) -> bool:
        """Return whether the flips or replacements of other people count as protection."""
        ...

    def record_fields(
        self, name: str, counted: CountedParameters
    ) -> tuple[ObservedMessage, int, str]:
        """Return a message of protocol ``name``, the number of messages a record has, and a note.

        The note is a further assumption; it is empty if there is none.
        """
        ...

    def delta(
        self, message: ObservedMessage, epsilon: float, memo: Memo, *, lower_only: bool = False
    ) -> ProvedDelta:
        """Return both bounds of delta(epsilon), for the worse order of the neighbors.

        With ``lower_only`` the upper bound may be 1, because it is not needed.
        """
        ...

    def upper(
        self, message: ObservedMessage, epsilons: Sequence[float], bound: Bound, memo: Memo
    ) -> Sequence[float]:
        """Return upper bounds at several epsilons.

        With an empty list, compute nothing, but raise EffortError if many epsilons would take too
        long.
        """
        ...

    def choose_bound(self, message: ObservedMessage, bound: Bound) -> Bound:
        """Return the tightest kind of bound that costs no more than ``bound``."""
        ...

    def directional_upper(
        self, message: ObservedMessage, epsilons: Sequence[float], memo: Memo
    ) -> tuple[Sequence[float], Sequence[float]] | None:
        """Return upper bounds for each order of the neighbors; None if both orders agree."""
        ...

    def observed_unit(self, message: ObservedMessage) -> tuple[ObservedMessage, int]:
        """Return the message that the observer sees separately, and the number of such messages."""
        ...

    def handles_repeats(self, message: ObservedMessage) -> bool:
        """Return whether ``delta`` covers a record that is sent several times."""
        ...

    def lower_of(self, message: ObservedMessage, epsilon: float, rounds: int) -> float:
        """Return a lower bound for several rounds, from the count of one kind of message."""
        ...

    def start(self, message: ObservedMessage, parameter: Parameter, goal: CalibrationTarget) -> int:
        """Return an estimate of the ``parameter`` that reaches ``goal``, where a search begins."""
        ...


def separation_note(given: Parameters) -> str:
    """Return the assumption that a record relies on if each bit is sent as a separate message.

    Return an empty text for other records.
    """
    if given.split and given.messages_per_record() == 1:
        return "; every bit is a message of its own and the mixes keep them apart"
    return ""
