"""From a mechanism to its privacy number: the only way.

A record travels as ``pieces`` messages of one mechanism, each sent as often as its ``repeats``; the
messages are randomized independently, so all together are a composition of one with itself
(``composition``), and mixing rounds together is post-processing. The divergence of one message, or
of the count of one kind of message, is a lower bound.
"""

import copy
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from msgspec.structs import replace

from mixtally.accounting.composition.losses import LossDistribution
from mixtally.accounting.composition.pld import CLOSE, ROUGH, Tightness
from mixtally.accounting.divergence import Bound, ObservedMessage, ProvedDelta
from mixtally.accounting.divergence.registry import divergence_of
from mixtally.accounting.messages import Messages
from mixtally.accounting.numerics.bracket import Bracket
from mixtally.accounting.numerics.gaussian_start import approximate_composed_delta
from mixtally.errors import AccountingError
from mixtally.model.certificate import Certificate, Status
from mixtally.model.guarantee import MOST_EPSILON, Observer, check_epsilon
from mixtally.model.mechanism import Parameter, Shuffled
from mixtally.primitives.memo import Memo

Found = TypeVar("Found")
_MOST_BYTES = 32_000_000
_INITIAL_TARGET_SHARE, _TARGET_EXCESS = 0.01, 2.0
"""A Gaussian may have more than the messages have: what it is taken for lies below that, and what
was proved in view of much more than was found is proved again.
"""


@dataclass(frozen=True, slots=True)
class Record:
    """All messages of a person: ``pieces`` of them, each in a collection of its own.

    where
      message   one of them; ``others`` of it None for a promise that holds for any crowd
      note      what its promise rests on besides, after "; "
    """

    message: ObservedMessage
    pieces: int = 1
    note: str = ""

    @classmethod
    def of(
        cls, mechanism: Shuffled, observer: Observer = Observer.MESSAGES, pieces: int = 1
    ) -> "Record":
        """The record that travels as so many messages of ``mechanism``."""
        return cls(ObservedMessage(mechanism, observer), pieces)

    def with_parameter(self, parameter: Parameter, value: int) -> "Record":
        """This record with another value of ``parameter`` in its mechanism."""
        made = self.message.mechanism.with_parameter(parameter, value)
        return Record(self.message._replace(mechanism=made), self.pieces, self.note)


@dataclass(frozen=True, slots=True)
class _ObservedRecord:
    """A record as an observer sees it: ``pieces`` of ``message``, each in so many ``rounds``."""

    message: ObservedMessage
    pieces: int
    rounds: int

    @property
    def times(self) -> int:
        return self.pieces * self.rounds


class Accountant:
    """Computes every number once; its memo is bounded and ends with it."""

    def __init__(self, most_bytes: int = _MOST_BYTES) -> None:
        self.is_approximate = False
        """Whether what is expected stands for what is proved: then there is no certificate."""
        self._memo = Memo(most_bytes)
        self._messages = Messages(self._memo)

    def approximate_copy(self) -> "Accountant":
        """One that sketches, with the same memo: its searches cost little and prove nothing."""
        made = copy.copy(self)
        made.is_approximate = True
        return made

    def certificate(self, record: Record, epsilon: float, aim: float | None = None) -> Certificate:
        """What is proved of ``record`` at ``epsilon``; ``aim`` is the delta it was made for.

        Raises ParameterError for an epsilon outside [0.01, 20], AccountingError when a number
        cannot be right.
        """
        proved = self.delta(record, check_epsilon(epsilon), aim)
        return Certificate(
            epsilon=epsilon,
            lower=proved.bounds.lower,
            upper=proved.bounds.upper,
            observer=record.message.observer,
            status=Status.PROVED,
            source=proved.source,
            assumption=proved.assumption,
        )

    def delta(self, record: Record, epsilon: float, aim: float | None = None) -> ProvedDelta:
        """Both bounds of delta(epsilon) with their source and assumption.

        ``aim`` as ``upper`` has it; None for about what it will be.
        """
        self._require_proofs()
        parts = _observe_record(record)
        if parts.times == 1:
            found = self._messages.delta(parts.message, epsilon)
            return found._replace(assumption=found.assumption + record.note)
        # Of rounds only the source is that of one; its bounds are quick where nothing is left.
        found = self._messages.delta(
            parts.message, epsilon if parts.rounds == 1 else MOST_EPSILON, lower_only=True
        )
        if aim is None:
            aim = _INITIAL_TARGET_SHARE * approximate_composed_delta(
                self.distance(record), parts.times, epsilon
            )
        bound = self.upper(record, epsilon, aim=aim)
        while (
            aim > _TARGET_EXCESS * bound > 0.0
        ):  # rare heavy losses hide better than a Gaussian says
            aim = bound
            bound = self.upper(record, epsilon, aim=aim)
        lower = max(
            found.bounds.lower,
            self._messages.composed_lower(parts.message, parts.times, epsilon),
        )
        if parts.rounds > 1:
            lower = divergence_of(parts.message).lower_of(parts.message, epsilon, parts.rounds)
        if record.message.mechanism.fakes_sent and not parts.message.mechanism.fakes_sent:
            lower = 0.0  # they were taken for people, who may hold the worst: random fakes do not
        source, assumption = found.source, found.assumption + record.note
        if parts.pieces > 1:
            source += f"; {parts.pieces} messages composed"
        if parts.pieces > 1 and (
            record.pieces > 1 or record.message.mechanism.shaped_fakes is None
        ):
            assumption += "; the mixes keep the messages of a person apart"
        if parts.rounds > 1:
            source += f"; {parts.rounds} rounds composed, whose mixing is post-processing"
            if parts.message.mechanism.fakes_sent:
                assumption += "; every round brings its own fakes"
        return ProvedDelta(Bracket(min(lower, bound), bound), source, assumption)

    def upper(
        self,
        record: Record,
        epsilon: float,
        collections: int = 1,
        aim: float = 0.0,
        *,
        proved: bool = True,
    ) -> float:
        """The upper bound of delta(epsilon) of ``collections`` of them together.

        It may lie above what it would be by 1 / 3000 of ``aim``, a delta to compare it with. Where
        it is not ``proved`` it is what it most likely is, or a little more, for a search whose end
        is proved.
        """
        proved = proved and not self.is_approximate
        parts = _observe_record(record)
        times = parts.times * collections
        if times == 1:
            bound = Bound.EXACT if proved else Bound.EXPECTED
            return self._messages.upper_at(parts.message, epsilon, bound)
        tightness = (CLOSE if proved else ROUGH).adapt_to_delta(aim, times)
        return self._messages.composed_upper(
            parts.message, times, epsilon, tightness, proved=proved
        )

    def lower(self, record: Record, epsilon: float, collections: int) -> float:
        """A lower bound of delta(epsilon) of so many collections, none of them mixed with another:
        of one of them, unless shaped fakes say more.
        """
        parts = _observe_record(record)
        one = self.delta(record, epsilon).bounds.lower
        times = parts.times * collections
        return max(one, self._messages.composed_lower(parts.message, times, epsilon))

    def one_message_upper(
        self, record: Record, epsilons: Sequence[float], bound: Bound
    ) -> Sequence[float]:
        """Upper bounds of one message of ``record``, at several epsilons of a curve."""
        parts = _observe_record(record)
        if parts.times > 1:
            proved = bound in (Bound.EXACT, Bound.NEAR)
            return [self.upper(record, epsilon, proved=proved) for epsilon in epsilons]
        return self._messages.upper(parts.message, epsilons, bound)

    def distance(self, record: Record) -> float:
        """About delta(0) of one message, for where a search starts."""
        return self._messages.upper_at(_observe_record(record).message, 0.0, Bound.ROUGH)

    def directional_upper(
        self, record: Record, epsilons: Sequence[float]
    ) -> tuple[Sequence[float], Sequence[float]] | None:
        """Upper bounds of either direction of one message; None where both have one curve."""
        parts = _observe_record(record)
        return (
            None if parts.times > 1 else self._messages.directional_upper(parts.message, epsilons)
        )

    def expect_one_message(self, record: Record, epsilon: float) -> float:
        """What one message of ``record`` most likely reveals: all together never reveal less."""
        return self._messages.upper_at(_observe_record(record).message, epsilon, Bound.EXPECTED)

    def cache_search(self, search_key: Hashable, search: Callable[[], Found]) -> Found:
        """What ``search`` found, once for all that have the same ``wish``; a sketch takes what was
        proved.
        """
        known = ("search", search_key, False) in self._memo
        key = ("search", search_key, self.is_approximate and not known)
        found: Found = self._memo.get(key, search)
        return found

    def losses(self, record: Record, tightness: Tightness) -> tuple[LossDistribution, int]:
        """A privacy loss distribution that dominates one message of ``record``, from its proved
        upper bounds, and how many of them a record is.
        """
        self._require_proofs()
        parts = _observe_record(record)
        return self._messages.losses(parts.message, tightness), parts.times

    @property
    def prices(self) -> int:
        """How many prices of one message at one epsilon were computed, those of sketches too."""
        return self._messages.prices

    @contextmanager
    def at_most(self, prices: float) -> Iterator[None]:
        """Raise PricesSpentError within this context for more new prices than ``prices``."""
        before = self._messages.most_prices
        self._messages.most_prices = self.prices + prices
        try:
            yield
        finally:
            self._messages.most_prices = before

    @property
    def distributions(self) -> Memo:
        """What divergences are computed from."""
        return self._messages.distributions

    def _require_proofs(self) -> None:
        if self.is_approximate:
            raise AccountingError("a sketch: expected a number that is proved, and nothing here is")


def local_epsilon(record: Record) -> float:
    """What is left when every message can be traced to its sender; infinite in clear."""
    parts = _observe_record(record)
    return parts.times * parts.message.mechanism.local_epsilon


def count_messages(record: Record) -> int:
    """How many messages of one kind an observer of ``record`` sees, each on its own."""
    return _observe_record(record).times


def _observe_record(record: Record) -> _ObservedRecord:
    message, pieces = divergence_of(record.message).observed_unit(record.message)
    pieces *= record.pieces
    mechanism, rounds = message.mechanism, message.mechanism.repeats
    if rounds == 1 or divergence_of(message).handles_repeats(message):
        return _ObservedRecord(message, pieces, 1)
    return _ObservedRecord(
        message._replace(mechanism=replace(mechanism, repeats=1)), pieces, rounds
    )
