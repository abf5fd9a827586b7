"""Records in clear: among uniform fakes of people or mixes, or mixes' shaped ones.

Over planes of Z_p^t the distribution of p bins bounds that of every pair of values
(``clear_uniform``), more closely for a small p (``planes``), and that of hardly smaller cells
bounds every pair of sets (``set_in_clear``).

What the observer of sums sees is what the observer of messages sees: the number of messages in
every bin. Other people's records are no cover at worst, as nobody else may hold the same.
"""

import math
from collections.abc import Sequence

from msgspec.structs import replace

from mixtally.accounting.divergence import (
    Bound,
    CalibrationTarget,
    CountedParameters,
    ObservedMessage,
    ProvedDelta,
    clear_shaped,
    clear_uniform,
    planes,
    repeats,
    separation_note,
    set_in_clear,
)
from mixtally.accounting.divergence.one_message import directional_upper as directional_upper
from mixtally.accounting.divergence.one_message import handles_repeats as handles_repeats
from mixtally.accounting.divergence.set_in_clear import hide_set
from mixtally.accounting.numerics.bracket import Bracket
from mixtally.errors import AccountingError
from mixtally.model.mechanism import InClear, Parameter, ShapedFakes, Shuffled, UniformFakes
from mixtally.model.mechanism.parameters import Parameters
from mixtally.model.question import MOST_BINS
from mixtally.model.shape import AnyShape, GaussianShape, LaplaceShape, ratio_of
from mixtally.primitives.fixed_point import SCALE
from mixtally.primitives.memo import Memo

MECHANISM = InClear
SOURCE = clear_uniform.SOURCE
OVER_PLANES_SOURCE = f"{SOURCE}; over planes values that meet only help (Karamata)"
OVER_FEW_PLANES_SOURCE = (
    "distribution of the planes that hold either of two values, or both, among uniform fakes "
    "(proved in accounting/divergence/planes.py); any other records only help"
)
SETS_OVER_PLANES_SOURCE = (
    f"{set_in_clear.SOURCE}; over planes no member meets another, so that cells have "
    "(1 - (k-1) kappa)/p of all fakes, and sets that meet only help (Karamata)"
)
SHAPED_ASSUMPTION = (
    "the mix that draws the fakes draws them as told, keeps their numbers to itself and does not "
    "collude with the collector; at least one mix shuffles"
)
SHAPED_BY_MANY_ASSUMPTION = (
    "at least one of the mixes that add fakes draws them as told, keeps their numbers to itself "
    "and does not collude with the collector; at least one mix shuffles"
)


_TARGET_SHARE = 0.995
"""Of delta, where a search for several messages begins: it ends within a hundredth of it."""
_EMPTY_BIN_SHARE = 0.1
"""Of delta, what a Gaussian shape leaves to bins without fakes: less takes hardly more variance."""
_EPSILON_SHARE = 1.0 - 2e-9
"""Of epsilon, what several messages' losses come to: what passed it by a hair would weigh 1e-9."""
_CLEAR_ANSWERS_NOTE = "; other people's answers in clear hide nobody at worst"


def counts_people(name: str, given: Parameters) -> bool:  # noqa: ARG001
    """Never: another person's answer in clear is no cover."""
    return False


def record_fields(name: str, counted: CountedParameters) -> tuple[ObservedMessage, int, str]:
    """The messages of protocol ``name``: a value, a set in one stream, or, where a record is split,
    one of its attributes.
    """
    given = counted.given
    pieces, repeats = given.messages_per_record(), given.repeats or 1
    most = 1 if given.split else given.max_set or 1
    fakes: UniformFakes | ShapedFakes = UniformFakes(counted.fakes)
    if name == "clear-shaped":
        shape = _shape(given, counted.for_epsilon or 0.0)
        fakes = ShapedFakes(shape, 1 if given.mixes is None else given.mixes)
    bins = given.bins or MOST_BINS
    mechanism = InClear(bins=bins, fakes=fakes, max_set=most, repeats=repeats)
    return (
        ObservedMessage(mechanism),
        pieces,
        separation_note(given) + _CLEAR_ANSWERS_NOTE * given.count_crowd,
    )


def _shape(given: Parameters, epsilon: float) -> AnyShape:
    """The shape that is given; without a decay one that suits ``epsilon``."""
    shift = 1 if given.shape_shift is None else given.shape_shift
    if given.shape_variance is not None:
        return GaussianShape(given.shape_variance, shift)
    if given.shape_decay is not None:
        return LaplaceShape(ratio_of(given.shape_decay), shift)
    return LaplaceShape(
        usual_ratio(epsilon, given.messages_per_record() * (given.repeats or 1)), shift
    )


def usual_ratio(epsilon: float, messages: int) -> int:
    """The decay ratio, over 2^64, that suits so many messages: each of two bins reveals one decay.

    Upwards, past the error of exp: a slower fall is never broken at the limit itself. That of
    several messages is their basic composition's, which looks a hair below the even share.
    """
    share = epsilon if messages == 1 else epsilon * _EPSILON_SHARE
    return math.ceil(math.exp(-share / (2.0 * messages)) * SCALE) + (1 << 12)


def delta(
    message: ObservedMessage, epsilon: float, memo: Memo, *, lower_only: bool = False
) -> ProvedDelta:
    """Both bounds of delta(epsilon), the larger of both directions."""
    del lower_only  # both come from one sum
    mechanism = _require_in_clear(message)
    match mechanism.fakes:
        case UniformFakes(count):
            bounds, source = _uniform_fakes_bounds(mechanism, count, epsilon, memo)
            if mechanism.planes is not None and mechanism.max_set == 1:
                most = _tighten_upper(mechanism, count, epsilon, bounds.upper)
                source = OVER_FEW_PLANES_SOURCE if has_few_planes(mechanism) else OVER_PLANES_SOURCE
                least = min(planes.lower(count, mechanism.planes, epsilon), most)
                bounds = Bracket(min(least, bounds.lower), most)
            assumption = f"{count:,} fakes come from honest parties; at least one mix shuffles"
            return ProvedDelta(bounds, source, assumption)
        case ShapedFakes(mixes=mixes) as shaped:
            if mechanism.max_set > 1:
                raise AccountingError("a set among shaped fakes: its messages are priced apart")
            bounds = clear_shaped.delta(shaped.shape.weights, epsilon, memo)
            return ProvedDelta(
                bounds,
                clear_shaped.SOURCE,
                SHAPED_ASSUMPTION if mixes == 1 else SHAPED_BY_MANY_ASSUMPTION,
            )


def _uniform_fakes_bounds(
    mechanism: InClear, count: int, epsilon: float, memo: Memo
) -> tuple[Bracket, str]:
    if mechanism.max_set > 1:
        source = set_in_clear.SOURCE if mechanism.planes is None else SETS_OVER_PLANES_SOURCE
        return set_in_clear.delta(hide_set(mechanism, count), epsilon, memo), source
    return clear_uniform.delta(count, mechanism.cells, epsilon, memo), clear_uniform.SOURCE


def _tighten_upper(mechanism: InClear, count: int, epsilon: float, upper: float) -> float:
    """Return ``upper``, or the bound that counts on values that meet, where it is smaller."""
    if mechanism.planes is None or not has_few_planes(mechanism):
        return upper
    return min(upper, planes.upper(count, mechanism.planes, epsilon))


def choose_bound(message: ObservedMessage, bound: Bound) -> Bound:
    """A curve of sets or of many uniform fakes is quicker near; else what is exact is quick."""
    mechanism, composed = _require_in_clear(message), bound in (Bound.NEAR, Bound.ROUGH)
    if mechanism.max_set > 1:
        return Bound.NEAR if composed else Bound.EXACT
    match mechanism.fakes:
        case UniformFakes() if composed and has_few_planes(mechanism):
            return Bound.NEAR
        case UniformFakes(count) if composed and clear_uniform.is_near_faster(
            count, mechanism.cells
        ):
            return Bound.NEAR
    return Bound.EXACT


def has_few_planes(mechanism: Shuffled) -> bool:
    """Return whether single values name planes of so small a prime that values often meet."""
    over = mechanism.planes
    return over is not None and mechanism.max_set == 1 and over.prime <= planes.MOST_PRIME


def near_upper(
    mechanism: Shuffled, fakes: int, epsilon: float, people: int = 0, coin: float = 0.0
) -> float:
    """Return an upper bound of a single value's delta among uniform fakes, as ``planes.upper``."""
    if mechanism.planes is not None and has_few_planes(mechanism):
        return planes.upper(fakes, mechanism.planes, epsilon, people, coin)
    return clear_uniform.near_upper(fakes, mechanism.cells, epsilon, people, coin)


def upper(
    message: ObservedMessage, epsilons: Sequence[float], bound: Bound, memo: Memo
) -> Sequence[float]:
    """The upper bounds alone."""
    match _require_in_clear(message):
        case InClear(fakes=UniformFakes(count), max_set=most) as mechanism if most > 1:
            composed, hidden = (
                choose_bound(message, bound) is Bound.NEAR,
                hide_set(mechanism, count),
            )
            given = [(hidden, epsilon, memo) for epsilon in epsilons]
            return [set_in_clear.upper(*one, near=composed) for one in given]
        case InClear(fakes=UniformFakes(count)) as one if (
            choose_bound(message, bound) is Bound.NEAR
        ):
            return [near_upper(one, count, epsilon) for epsilon in epsilons]
        case InClear(fakes=UniformFakes(count)) as one:  # without the lower bound of planes
            above = [
                _uniform_fakes_bounds(one, count, epsilon, memo)[0].upper for epsilon in epsilons
            ]
            pairs = zip(epsilons, above, strict=True)
            return [_tighten_upper(one, count, epsilon, most) for epsilon, most in pairs]
    return [delta(message, epsilon, memo).bounds.upper for epsilon in epsilons]


def observed_unit(message: ObservedMessage) -> tuple[ObservedMessage, int]:
    """The message itself, or all of a set's. Among shaped fakes it is of no matter of how many, and
    a set is its messages, each in a bin of its own (``clear_shaped``).
    """
    mechanism = _require_in_clear(message)
    if not isinstance(mechanism.fakes, ShapedFakes):
        return message, 1
    one = replace(mechanism, bins=2, max_set=1)
    return message._replace(mechanism=one), mechanism.max_set


def lower_of(message: ObservedMessage, epsilon: float, rounds: int) -> float:
    """From counting the messages in one bin."""
    mechanism = _require_in_clear(message)
    match mechanism.fakes:
        case UniformFakes(count):
            # Of sets over planes u lies on the line of v, no message of which then points at it.
            met = mechanism.collision_probability if mechanism.max_set == 1 else 0.0
            kinds = [repeats.MessageKind([(count, 1.0 / mechanism.cells)], 1.0, met)]
            return repeats.lower_bound(kinds, epsilon, rounds)
        case ShapedFakes() as shaped:
            return repeats.shaped_lower_bound(shaped.shape.weights, epsilon, rounds)


def start(message: ObservedMessage, parameter: Parameter, goal: CalibrationTarget) -> int:
    """Of uniform fakes the usual cover of every bin; of shaped ones what F(0) may weigh.

    Each collection adds F(0) to delta, the chance that a bin has no fakes.
    """
    mechanism = _require_in_clear(message)
    match mechanism.fakes:
        case UniformFakes() if parameter == Parameter.FAKES:
            return round(
                goal.cover * math.pow(mechanism.max_set, set_in_clear.GROWTH) * mechanism.cells
            )
        case ShapedFakes(shape=LaplaceShape(decay=decay)) if parameter == Parameter.SHIFT:
            aim = goal.delta * (_TARGET_SHARE if goal.times > 1 else 1.0)
            empty = math.log(goal.times * math.tanh(decay / 2.0) / aim) / decay
            return max(1, math.ceil(empty))
        case ShapedFakes(shape=GaussianShape(variance=variance)) if parameter == Parameter.SHIFT:
            return gaussian_shift(variance, goal.times, goal.delta)
    raise TypeError(f"{mechanism.name} has no {parameter}")


def gaussian_shift(variance: float, times: int, delta: float) -> int:
    """About the shift of a Gaussian with which F(0), ``times`` times, is a tenth of ``delta``."""
    share = times / (_EMPTY_BIN_SHARE * delta * math.sqrt(2.0 * math.pi * variance))
    return max(1, math.ceil(math.sqrt(2.0 * variance * math.log(max(share, math.e)))))


def _require_in_clear(message: ObservedMessage) -> InClear:
    if not isinstance(message.mechanism, InClear):
        raise TypeError(f"{message.mechanism.name} is not sent in clear")
    return message.mechanism
