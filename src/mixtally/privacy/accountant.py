"""From a mechanism to its privacy number: the only way.

A record travels as ``pieces`` messages of one mechanism, each sent as often as its ``repeats``; the
messages are randomized independently, so all together are a composition of one with itself
(``composition``), and mixing rounds together is post-processing. The divergence of one message, or
of the count of one kind of message, is a lower bound.
"""

import copy
from bisect import bisect_left
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import NamedTuple

from msgspec.structs import replace

from mixtally.errors import AccountingError
from mixtally.ground.memo import Memo
from mixtally.privacy.composition.convolve import Sum
from mixtally.privacy.composition.pld import (
    CLOSE,
    ROUGH,
    LossDistribution,
    Tightness,
    loss_distribution,
)
from mixtally.privacy.divergence import ObservedMessage, ProvedDelta, divergence_of
from mixtally.privacy.numerics.bracket import Bracket
from mixtally.privacy.numerics.worst_dataset import NEGLIGIBLE
from mixtally.records.certificate import Certificate, Status
from mixtally.records.guarantee import Observer, checked_epsilon
from mixtally.records.mechanism import Parameter, Shuffled

_BELOW = 1.0 - 1e-9
_APART = 1.1
"""Bounds rise by less than this from one epsilon to the next."""
_MOST_BYTES = 32_000_000
_MOST_DISTRIBUTION_BYTES = 200_000_000
"""The crowds that prove the curve of single bits at one epsilon are those of the next: where they
do not fit, all of them are computed for every epsilon."""


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

    def having(self, parameter: Parameter, value: int) -> "Record":
        """This record with another value of ``parameter`` in its mechanism."""
        made = self.message.mechanism.having(parameter, value)
        return Record(self.message._replace(mechanism=made), self.pieces, self.note)


@dataclass(frozen=True, slots=True)
class _Parts:
    """A record as an observer sees it: ``pieces`` of ``message``, each in so many ``rounds``."""

    message: ObservedMessage
    pieces: int
    rounds: int

    @property
    def times(self) -> int:
        return self.pieces * self.rounds


class _Composed(NamedTuple):
    """The losses of several messages, and the points of the curve of one that they come from."""

    total: Sum
    points: list[tuple[float, float]]

    @property
    def nbytes(self) -> int:
        """What they take, nearly."""
        return self.total.nbytes + 128 * len(self.points)

    def least(self, epsilon: float) -> float:
        """What the curve of one is at least about at ``epsilon``: its value at the next point."""
        at = bisect_left(self.points, (epsilon, 0.0))
        return self.points[at][1] if at < len(self.points) else 0.0


class Accountant:
    """Computes every number once; its memo is bounded and ends with it."""

    def __init__(self, most_bytes: int = _MOST_BYTES) -> None:
        self.sketches = False
        """Whether what is expected stands for what is proved: then there is no certificate."""
        self._memo = Memo(most_bytes)
        self._distributions = Memo(_MOST_DISTRIBUTION_BYTES)
        """What divergences are computed from, apart: it crowds out no result."""

    def sketch(self) -> "Accountant":
        """One that sketches, with the same memo: its searches cost little and prove nothing."""
        made = copy.copy(self)
        made.sketches = True
        return made

    def certificate(self, record: Record, epsilon: float) -> Certificate:
        """What is proved of ``record`` at ``epsilon``.

        Raises ParameterError for an epsilon outside [0.01, 20], AccountingError when a number
        cannot be right.
        """
        proved = self.delta(record, checked_epsilon(epsilon))
        return Certificate(
            epsilon=epsilon,
            lower=proved.bounds.lower,
            upper=proved.bounds.upper,
            observer=record.message.observer,
            status=Status.PROVED,
            source=proved.source,
            assumption=proved.assumption,
        )

    def delta(self, record: Record, epsilon: float) -> ProvedDelta:
        """Both bounds of delta(epsilon) with their source and assumption."""
        self._check_proves()
        parts = _parts(record)
        key = ("delta", parts.message, epsilon)
        found: ProvedDelta = self._memo.get(
            key,
            lambda: divergence_of(parts.message).exact(parts.message, epsilon, self._distributions),
        )
        if parts.times == 1:
            return found._replace(assumption=found.assumption + record.note)
        bound = self.upper(record, epsilon)
        lower = found.bounds.lower
        if parts.rounds > 1:
            lower = divergence_of(parts.message).lower_of(parts.message, epsilon, parts.rounds)
        if record.message.mechanism.fakes_sent and not parts.message.mechanism.fakes_sent:
            lower = 0.0  # they were taken for people, who may hold the worst: random fakes do not
        source, assumption = found.source, found.assumption + record.note
        if parts.pieces > 1:
            source += f"; {parts.pieces} messages composed"
            assumption += "; the mixes keep the messages of a person apart"
        if parts.rounds > 1:
            source += f"; {parts.rounds} rounds composed, whose mixing is post-processing"
            if parts.message.mechanism.fakes_sent:
                assumption += "; every round brings its own fakes"
        return ProvedDelta(Bracket(min(lower, bound), bound), source, assumption)

    def upper(self, record: Record, epsilon: float, collections: int = 1) -> float:
        """The upper bound of delta(epsilon) of ``collections`` of them together."""
        proved = not self.sketches
        return self._together(_parts(record), epsilon, collections, proved=proved)

    def expected(self, record: Record, epsilon: float, collections: int = 1) -> float:
        """What ``upper`` most likely is, or a little more, for a search whose end is proved."""
        return self._together(_parts(record), epsilon, collections, proved=False)

    def distance(self, record: Record) -> float:
        """About delta(0) of one message, for where a search starts."""
        return self._rough(_parts(record).message, 0.0)

    def alone(self, record: Record, epsilon: float) -> float:
        """``expected`` of one message of ``record``: all of them together never reveal less."""
        return self._one(_parts(record).message, epsilon, proved=False)

    def remembered(self, wish: Hashable, search: Callable[[], int | None]) -> int | None:
        """What ``search`` found, once for all that have the same ``wish``."""
        found: int | None = self._memo.get(("search", wish, self.sketches), search)
        return found

    def losses(self, record: Record, tightness: Tightness) -> LossDistribution:
        """A privacy loss distribution that dominates ``record``, from its proved upper bounds."""
        self._check_proves()

        def made() -> LossDistribution:
            def curve(epsilon: float) -> float:
                return self.upper(record, epsilon)

            return loss_distribution(curve, local_epsilon(record), tightness)

        found: LossDistribution = self._memo.get(("record", record, tightness), made)
        return found

    def _check_proves(self) -> None:
        if self.sketches:
            raise AccountingError("a sketch: wanted a number that is proved, and nothing here is")

    def _together(self, parts: _Parts, epsilon: float, collections: int, *, proved: bool) -> float:
        """The smaller of the composed delta and of basic composition.

        A hair below the even share of epsilon, so that decimals add up.
        """
        times = parts.times * collections
        if times == 1:
            return self._one(parts.message, epsilon, proved=proved)
        key = ("together", parts.message, times, epsilon, proved)
        found: float = self._memo.get(
            key, lambda: self._added_up(parts.message, times, epsilon, proved=proved)
        )
        return found

    def _added_up(
        self, message: ObservedMessage, times: int, epsilon: float, *, proved: bool
    ) -> float:
        """``_together`` of several messages of a kind."""
        if proved:  # Where many hide a person well enough, no worst crowd needs to be looked for.
            quick = self._quick(message, times)
            if quick is not None and (bound := quick.delta(epsilon)) <= NEGLIGIBLE:
                return bound
        composed = self._composed(message, times, proved=proved)
        total = min(composed.total.delta(epsilon), 1.0)
        share = epsilon * _BELOW / times
        if times * composed.least(share) >= total * _APART:
            return total  # basic composition gives no less
        return min(total, times * self._one(message, share, proved=proved))

    def _one(self, message: ObservedMessage, epsilon: float, *, proved: bool) -> float:
        def made() -> float:
            own = divergence_of(message)
            return (own.upper if proved else own.expected)(message, epsilon, self._distributions)

        found: float = self._memo.get(("one", message, epsilon, proved), made)
        return found

    def _rough(self, message: ObservedMessage, epsilon: float) -> float:
        found: float | None = self._memo.get(
            ("rough", message, epsilon),
            lambda: divergence_of(message).rough(message, epsilon, self._distributions),
        )
        return self._one(message, epsilon, proved=False) if found is None else found

    def _composed(self, message: ObservedMessage, times: int, *, proved: bool) -> _Composed:
        def made() -> _Composed:
            seen: dict[float, float] = {}

            def curve(epsilon: float) -> float:
                seen[epsilon] = (
                    self._one(message, epsilon, proved=True)
                    if proved
                    else self._rough(message, epsilon)
                )
                return seen[epsilon]

            reach = message.mechanism.local_epsilon
            losses = loss_distribution(curve, reach, CLOSE if proved else ROUGH)
            return _Composed(Sum([(losses, times)]), sorted(seen.items()))

        found: _Composed = self._memo.get(("sum", message, times, proved), made)
        return found

    def _quick(self, message: ObservedMessage, times: int) -> Sum | None:
        """A bound for all crowds at once, of the messages that have one."""
        own = divergence_of(message)

        def curve(epsilon: float) -> float:
            bound = own.quick(message, epsilon, self._distributions)
            return 1.0 if bound is None else bound

        def made() -> Sum | None:
            if own.quick(message, 0.0, self._distributions) is None:
                return None
            return Sum([(loss_distribution(curve, message.mechanism.local_epsilon, ROUGH), times)])

        found: Sum | None = self._memo.get(("quick", message, times), made)
        return found


def local_epsilon(record: Record) -> float:
    """What is left when every message can be traced to its sender; infinite in clear."""
    parts = _parts(record)
    return parts.times * parts.message.mechanism.local_epsilon


def times(record: Record) -> int:
    """How many messages of one kind an observer of ``record`` sees, each on its own."""
    return _parts(record).times


def _parts(record: Record) -> _Parts:
    message, pieces = divergence_of(record.message).apart(record.message)
    pieces *= record.pieces
    mechanism, rounds = message.mechanism, message.mechanism.repeats
    if rounds == 1 or divergence_of(message).knows_repeats(message):
        return _Parts(message, pieces, 1)
    return _Parts(message._replace(mechanism=replace(mechanism, repeats=1)), pieces, rounds)
