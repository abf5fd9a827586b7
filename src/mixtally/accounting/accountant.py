"""The privacy accountant: delta(epsilon) of a mechanism, single or composed.

All planning, certificates and attacks obtain their numbers here. A record is sent as ``pieces``
messages of one mechanism, each sent ``repeats`` times. The messages are randomized independently,
so together they are a composition (``composition``), and mixing several rounds is post-processing.
The divergence of one message is a lower bound of the divergence of all messages. So is the
divergence of the number of messages of one kind.
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
from mixtally.accounting.numerics.bracket import join_ends
from mixtally.accounting.numerics.composed_estimates import approximate_composed_delta
from mixtally.errors import AccountingError
from mixtally.model.certificate import Certificate, Status
from mixtally.model.guarantee import MOST_EPSILON, Observer, check_epsilon
from mixtally.model.mechanism import Parameter, Shuffled
from mixtally.primitives.memo import Memo

Found = TypeVar("Found")
_MOST_BYTES = 32_000_000
_INITIAL_TARGET_SHARE, _TARGET_EXCESS = 0.01, 2.0
"""Share of the Gaussian estimate of delta that is the first target; largest target per bound.

The target decides how closely losses are composed.

Messages may have a smaller delta than the Gaussian estimate, so the first target is far below it.
If a bound is much smaller than its target, it is computed again with a smaller target.
"""


@dataclass(frozen=True, slots=True)
class Record:
    """All messages of a person: ``pieces`` messages of one mechanism, each observed separately.

    Attributes
    ----------
    message
        One of the messages. Its ``others`` is None for a guarantee in any crowd.
    pieces
        Number of messages.
    note
        A further assumption, as a text that begins with "; "; empty if there is none.
    """

    message: ObservedMessage
    pieces: int = 1
    note: str = ""

    @classmethod
    def of(
        cls, mechanism: Shuffled, observer: Observer = Observer.MESSAGES, pieces: int = 1
    ) -> "Record":
        """Return the record that is sent as ``pieces`` messages of ``mechanism``."""
        return cls(ObservedMessage(mechanism, observer), pieces)

    def with_parameter(self, parameter: Parameter, value: int) -> "Record":
        """Return this record with another value of ``parameter`` in its mechanism."""
        made = self.message.mechanism.with_parameter(parameter, value)
        return Record(self.message._replace(mechanism=made), self.pieces, self.note)


@dataclass(frozen=True, slots=True)
class _ObservedRecord:
    """A record as its observer sees it.

    The observer sees ``pieces`` separate messages like ``message`` in each of ``rounds`` rounds.
    """

    message: ObservedMessage
    pieces: int
    rounds: int

    @property
    def times(self) -> int:
        return self.pieces * self.rounds


class Accountant:
    """An accountant that computes every number once, with a memo of limited size.

    Parameters
    ----------
    most_bytes : int
        Size limit of the memo.
    """

    def __init__(self, most_bytes: int = _MOST_BYTES) -> None:
        self.is_approximate = False
        """Whether estimates replace proofs; then no certificate can be obtained."""
        self._memo = Memo(most_bytes)
        self._messages = Messages(self._memo)

    def approximate_copy(self) -> "Accountant":
        """Return an accountant for cheap searches that prove nothing, with the same memo."""
        made = copy.copy(self)
        made.is_approximate = True
        return made

    def certificate(self, record: Record, epsilon: float, aim: float | None = None) -> Certificate:
        """Return the certificate of ``record`` at ``epsilon``.

        Parameters
        ----------
        record : Record
            All messages of a person.
        epsilon : float
            Privacy loss in nats, in [0.01, 20].
        aim : float, optional
            The delta for which the record was calibrated; None for an estimate of delta(epsilon).

        Raises
        ------
        ParameterError
            If ``epsilon`` is outside its range.
        AccountingError
            If a number cannot be right.
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
        """Return both bounds of delta(epsilon) with their source and assumption.

        ``aim`` is the delta to which the result is compared, as in ``upper``. If ``aim`` is None,
        an estimate of delta(epsilon) takes its place.
        """
        self._require_proofs()
        parts, repeats = _observe_record(record), record.message.mechanism.repeats
        every_round = ""
        if repeats > 1 and parts.message.mechanism.fakes_sent:
            every_round = "; every round brings its own fakes"
        if parts.times == 1:
            found = self._messages.delta(parts.message, epsilon)
            return found._replace(assumption=found.assumption + record.note + every_round)
        # For several rounds only the source and the assumption of this result are used. So it is
        # computed at the largest epsilon, which takes the least time.
        found = self._messages.delta(
            parts.message, epsilon if parts.rounds == 1 else MOST_EPSILON, lower_only=True
        )
        if aim is None:
            aim = _INITIAL_TARGET_SHARE * approximate_composed_delta(
                self.distance(record), parts.times, epsilon
            )
        bound = self.upper(record, epsilon, aim=aim)
        while aim > _TARGET_EXCESS * bound > 0.0:  # delta is below the Gaussian estimate
            aim = bound
            bound = self.upper(record, epsilon, aim=aim)
        lower = max(
            found.bounds.lower,
            self._messages.composed_lower(parts.message, parts.times, epsilon),
        )
        if parts.rounds > 1:
            lower = divergence_of(parts.message).lower_of(parts.message, epsilon, parts.rounds)
        if record.message.mechanism.fakes_sent and not parts.message.mechanism.fakes_sent:
            lower = 0.0  # the fakes are treated as people, but are not the worst dataset
        source, assumption = found.source, found.assumption + record.note
        if parts.pieces > 1:
            source += f"; {parts.pieces} messages composed"
        if parts.pieces > 1 and (
            record.pieces > 1 or record.message.mechanism.shaped_fakes is None
        ):
            assumption += "; the mixes keep the messages of a person apart"
        if parts.rounds > 1:
            source += f"; {parts.rounds} rounds composed, whose mixing is post-processing"
        return ProvedDelta(join_ends(lower, bound), source, assumption + every_round)

    def upper(
        self,
        record: Record,
        epsilon: float,
        collections: int = 1,
        aim: float = 0.0,
        *,
        proved: bool = True,
    ) -> float:
        """Return the upper bound of delta(epsilon) of a record in ``collections`` collections.

        Parameters
        ----------
        record : Record
            All messages of a person in one collection.
        epsilon : float
            Privacy loss in nats, at least 0.
        collections : int
            Number of collections.
        aim : float
            A delta to which the result is compared. The result may exceed the tightest bound by
            1 / 3000 of ``aim``.
        proved : bool
            Whether the bound is proved. If not, the result is an estimate of the proved bound, and
            may be slightly larger. It serves a search whose result is proved later.
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
        """Return a lower bound of delta(epsilon) of several collections.

        Each of the ``collections`` is mixed separately. The bound is that of a single collection,
        unless shaped fakes allow a larger one.
        """
        parts = _observe_record(record)
        one = self.delta(record, epsilon).bounds.lower
        times = parts.times * collections
        return max(one, self._messages.composed_lower(parts.message, times, epsilon))

    def one_message_upper(
        self, record: Record, epsilons: Sequence[float], bound: Bound
    ) -> Sequence[float]:
        """Return an upper bound of delta for one message of ``record``, at each of ``epsilons``.

        If the observer sees several messages, the bounds are those of all messages. ``bound`` is
        the purpose of the bounds, which decides how accurate they are.
        """
        parts = _observe_record(record)
        if parts.times > 1:
            proved = bound in (Bound.EXACT, Bound.NEAR)
            return [self.upper(record, epsilon, proved=proved) for epsilon in epsilons]
        return self._messages.upper(parts.message, epsilons, bound)

    def distance(self, record: Record) -> float:
        """Return an estimate of delta(0) of one message, for the start of a search."""
        return self._messages.upper_at(_observe_record(record).message, 0.0, Bound.ROUGH)

    def directional_upper(
        self, record: Record, epsilons: Sequence[float]
    ) -> tuple[Sequence[float], Sequence[float]] | None:
        """Return upper bounds of one message, separately for each order of the two neighbors.

        Return None if both orders have the same bounds, or if the observer sees several messages.
        """
        parts = _observe_record(record)
        return (
            None if parts.times > 1 else self._messages.directional_upper(parts.message, epsilons)
        )

    def expect_one_message(self, record: Record, epsilon: float) -> float:
        """Estimate delta of one message of ``record``.

        The delta of several messages is at least as large.
        """
        return self._messages.upper_at(_observe_record(record).message, epsilon, Bound.EXPECTED)

    def cache_search(self, search_key: Hashable, search: Callable[[], Found]) -> Found:
        """Return the result of ``search``, computed once for each ``search_key``.

        An approximate accountant uses a proved result if there is one.
        """
        known = ("search", search_key, False) in self._memo
        key = ("search", search_key, self.is_approximate and not known)
        found: Found = self._memo.get(key, search)
        return found

    def losses(self, record: Record, tightness: Tightness) -> tuple[LossDistribution, int]:
        """Return a distribution of losses that dominates one message, and the number of messages.

        The distribution is derived from proved upper bounds.
        """
        self._require_proofs()
        parts = _observe_record(record)
        return self._messages.losses(parts.message, tightness), parts.times

    @property
    def prices(self) -> int:
        """The number of computed deltas of one message at one epsilon, including estimates."""
        return self._messages.prices

    @contextmanager
    def at_most(self, prices: float) -> Iterator[None]:
        """Raise PricesSpentError in this context if more than ``prices`` deltas are computed."""
        before = self._messages.most_prices
        self._messages.most_prices = self.prices + prices
        try:
            yield
        finally:
            self._messages.most_prices = before

    @property
    def distributions(self) -> Memo:
        """The memo for intermediate results of divergences."""
        return self._messages.distributions

    def _require_proofs(self) -> None:
        if self.is_approximate:
            raise AccountingError("a sketch: expected a proof, got an accountant of estimates")


def local_epsilon(record: Record) -> float:
    """Return the epsilon that remains if all messages are traced to their senders.

    It is infinite if the messages are not randomized.
    """
    parts = _observe_record(record)
    return parts.times * parts.message.mechanism.local_epsilon


def count_messages(record: Record) -> int:
    """Return the number of messages that an observer of ``record`` sees separately."""
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
