"""Laws of records that travel as several messages: repeated, or split into bits or attributes.

The messages of a person are randomized independently, so all of them together are a composition of
one with itself (``losses``, ``convolve``); mixing rounds together is post-processing. What one of
the messages tells, or the count of one kind of message, is a lower end.
"""

from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from mixtally.errors import ParameterError
from mixtally.ground.fixed import SCALE
from mixtally.privacy.composition.convolve import Sum
from mixtally.privacy.composition.pld import CLOSE, ROUGH, law_of
from mixtally.privacy.divergence import repeats
from mixtally.privacy.divergence.repeats import Kind, risen
from mixtally.privacy.laws.ask import Ask, whole
from mixtally.privacy.laws.law import Law, Quote
from mixtally.privacy.laws.single import LAWS
from mixtally.privacy.numerics.bracket import Bracket
from mixtally.privacy.numerics.worst_dataset import NEGLIGIBLE
from mixtally.protocols.clear_shaped import shape_weights
from mixtally.records.guarantee import Observer
from mixtally.records.question import MOST_SET

_BELOW = 1.0 - 1e-9


class Parts(NamedTuple):
    """A record as ``pieces`` messages of one law, each sent ``rounds`` times."""

    name: str
    ask: Ask
    pieces: int
    rounds: int

    @property
    def times(self) -> int:
        """How often the law is composed with itself."""
        return self.pieces * self.rounds


def parts(name: str, ask: Ask) -> Parts:
    """What ``ask`` comes to; raises ParameterError where one message cannot hold the record."""
    name, ask, pieces = _split(name, ask)
    if ask.observer is Observer.SUMS and pieces * (ask.repeats or 1) > 1:
        # Two bins differ in each part, and every bin is a sum of its own: so many single bits.
        people = whole(ask.users) + (ask.fakes or 0)
        name, pieces = "single-bit", 2 * pieces
        ask = Ask(users=people, fakes=0, threshold=ask.threshold, repeats=ask.repeats)
    if LAWS[name].repeated(ask):
        return Parts(name, ask, pieces, 1)
    return Parts(name, replace(ask, repeats=None), pieces, ask.repeats or 1)


def _split(name: str, ask: Ask) -> tuple[str, Ask, int]:
    """Bits that are seen one by one hide as bits that are sent one by one."""
    summed, most = ask.observer is Observer.SUMS, ask.max_set or 1
    one = replace(ask, split=False, max_set=None)
    if ask.bits is not None and (ask.split or summed):
        bit = Ask(
            users=ask.users, fakes=0, threshold=ask.threshold, repeats=ask.repeats,
            ones=0 if ask.background else None, count_crowd=ask.count_crowd,
        )  # fmt: skip
        return "single-bit", bit, ask.bits
    if most > 1 and (ask.split or (summed and name == "flip")):
        return name, one, most
    if most > 1 and name not in ("flip", "flip-blank"):
        raise ParameterError(
            name, wanted="one set bit a message", got=f"--max-set {most}",
            do="add --split: every attribute travels as a message of its own",
        )  # fmt: skip
    if ask.split and name in ("flip", "flip-uniform"):
        return name, replace(one, observer=Observer.SUMS), 1
    return name, replace(ask, split=False), 1


def upper(name: str, ask: Ask, epsilon: float, collections: int = 1) -> float:
    """The upper end of delta(epsilon) of ``collections`` of them together."""
    return _together(parts(name, ask), epsilon, collections, proved=True)


def expected(name: str, ask: Ask, epsilon: float, collections: int = 1) -> float:
    """What ``upper`` most likely is, or a little more, for a search whose end is proved."""
    return _together(parts(name, ask), epsilon, collections, proved=False)


def _together(record: Parts, epsilon: float, collections: int, *, proved: bool) -> float:
    """The smaller of the composed delta and of basic composition.

    A hair below the even share of epsilon, so that decimals add up.
    """
    times = record.times * collections
    if times == 1:
        return _priced(record.name, record.ask, epsilon, proved=proved)
    if proved:  # Where many hide a person well enough, no worst crowd needs to be looked for.
        quick = _quick(record.name, record.ask, times)
        if quick is not None and (bound := quick.delta(epsilon)) <= NEGLIGIBLE:
            return bound
    added = times * _priced(record.name, record.ask, epsilon * _BELOW / times, proved=proved)
    total = _composed(record.name, record.ask, times, proved=proved)
    return min(total.delta(epsilon), added, 1.0)


def distance(name: str, ask: Ask) -> float:
    """delta(0) of one message, which most likely bounds it."""
    return alone(name, ask, 0.0)


def alone(name: str, ask: Ask, epsilon: float) -> float:
    """``expected`` of one message of a record: all of them together never tell less."""
    record = parts(name, ask)
    return _priced(record.name, record.ask, epsilon, proved=False)


@lru_cache(maxsize=1 << 14)
def _priced(name: str, ask: Ask, epsilon: float, *, proved: bool) -> float:
    """One message's price: a proof and the plan's certificate ask at the same points."""
    return (LAWS[name].upper if proved else LAWS[name].expected)(ask, epsilon)


@lru_cache(maxsize=512)
def _composed(name: str, ask: Ask, times: int, *, proved: bool) -> Sum:
    law = law_of(
        lambda epsilon: _priced(name, ask, epsilon, proved=proved), _reach(LAWS[name], ask),
        CLOSE if proved else ROUGH,
    )  # fmt: skip
    return Sum([(law, times)])


@lru_cache(maxsize=64)
def _quick(name: str, ask: Ask, times: int) -> Sum | None:
    """A bound for all crowds at once, of the laws that have one."""
    curve = LAWS[name].quick
    if curve is None or ask.ones is not None:
        return None
    law = law_of(lambda epsilon: curve(ask, epsilon), _reach(LAWS[name], ask), ROUGH)
    return Sum([(law, times)])


def _reach(law: Law, ask: Ask) -> float:
    """The largest loss of one part, all repeats that its price knows of included."""
    return law.reach(ask) * (ask.repeats or 1)


def price(name: str, ask: Ask, epsilon: float) -> Quote:
    """Both ends of delta(epsilon) with their source and assumption."""
    record = parts(name, ask)
    quote = LAWS[record.name].price(record.ask, epsilon)
    if record.times == 1 and record.ask == replace(ask, split=False):
        return quote
    bound = upper(name, ask, epsilon)
    lower = _lower(record, epsilon) if record.rounds > 1 else quote.ends.lower
    if ask.fakes and record.name == "single-bit" and name != "single-bit":
        lower = 0.0  # they were taken for people, who may hold the worst: random fakes do not
    source, assumption = quote.source, quote.assumption
    if record.pieces > 1:
        source += f"; {record.pieces} messages composed"
        assumption += "; the mixes keep the messages of a person apart"
    elif ask.split:
        assumption += "; every bit is a message of its own and the mixes keep them apart"
    if record.rounds > 1:
        source += f"; {record.rounds} rounds composed, whose mixing is post-processing"
        assumption += "; every round brings its own fakes" if record.ask.fakes else ""
    return Quote(Bracket(min(lower, bound), bound), source, assumption)


def _lower(record: Parts, epsilon: float) -> float:
    ask, rounds = record.ask, record.rounds
    if record.name == "clear-shaped":
        weights = shape_weights(whole(ask.ratio), whole(ask.shift))
        return repeats.shaped_lower_end(weights, epsilon, rounds)
    return repeats.lower_end(_kinds(record.name, ask), epsilon, rounds)


def _kinds(name: str, ask: Ask) -> list[Kind]:
    """Kinds of messages whose count tells most in the crowds that are known to be bad."""
    fakes, bins = ask.fakes or 0, ask.bins
    if name == "clear-uniform":
        return [Kind([(fakes, 1.0 / whole(bins))], 1.0, 0.0)]
    q, p = whole(ask.threshold) / SCALE, (SCALE - whole(ask.threshold)) / SCALE
    crowd = [(whole(ask.users) - 1, q)] if name == "flip" or ask.count_crowd else []
    if ask.observer is Observer.SUMS:  # random fakes are no worst case
        return [] if fakes else [Kind([(whole(ask.users) - 1, q)], p, q)]
    if name == "flip-uniform":
        return [Kind([(fakes, q + (p - q) / whole(bins)), *crowd], p, q)]
    if ask.bits is not None:
        distances = [ask.bits] if ask.background else range(1, ask.bits + 1)
        return [kind for d in distances for kind in risen(d, q, crowd)]
    most = min(ask.max_set or 1, bins or MOST_SET)
    if not crowd:
        return risen(most, q, [(fakes, q)])
    if bins is not None and bins < 2 * most:
        return []
    # All others hold v: of its bits all are clear and of u's all are set.
    others = [(crowd[0][0], (q * q) ** most), (fakes, (p * q) ** most)]
    return [Kind(others, (p * p) ** most, (q * q) ** most)]
