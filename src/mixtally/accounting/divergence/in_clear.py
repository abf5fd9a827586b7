"""Records in clear among uniform fakes of people or mixes, or among shaped fakes of mixes.

A record *in clear* is sent without flipped bits. *Shaped* fakes are drawn by a mix from a table,
independently for each bin. The observers of sums and of messages see the same: the number of
messages in every bin. The records of other people do not protect in the worst case, in which nobody
else holds the same bin.

*Paired* fakes are those of two bins with a fixed total (``clear_paired``).

If messages name planes of Z_p^t, the divergence of every pair of values is at most that of two bins
among p bins (``clear_uniform``). For a small p, ``planes`` has a tighter bound. The divergence of
every pair of sets is at most that of sets of cells, where a fake is slightly less likely to be in a
given cell than in one of p bins (``set_in_clear``).
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
    clear_paired,
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
from mixtally.accounting.numerics.bracket import Bracket, join_ends
from mixtally.errors import AccountingError
from mixtally.model.mechanism import InClear, Parameter, ShapedFakes, Shuffled, UniformFakes
from mixtally.model.mechanism.in_clear import check_slots
from mixtally.model.mechanism.parameters import Parameters
from mixtally.model.question import MOST_BINS
from mixtally.model.shape import (
    AnyShape,
    GaussianShape,
    LaplaceShape,
    PairedGaussianShape,
    PairedLaplaceShape,
    ratio_of,
)
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
SLOTS_SOURCE = (
    "exact distribution of the cells of two disjoint records, one cell of which is drawn and sent, "
    "among uniform fakes: that of one value in D/k bins; records that share cells only help "
    "(Marshall and Proschan 1965)"
)
SOME_SLOTS_SOURCE = (
    f"{set_in_clear.SOURCE}; an upper bound that grants the observer which slots were drawn"
)
SHAPED_ASSUMPTION = (
    "the mix that draws the fakes follows the protocol, keeps their numbers secret and does not "
    "collude with the collector; at least one mix shuffles"
)
SHAPED_BY_MANY_ASSUMPTION = (
    "at least one of the mixes that add fakes follows the protocol, keeps their numbers secret and "
    "does not collude with the collector; at least one mix shuffles"
)


_TARGET_SHARE = 0.995
"""Share of delta at which a search for several messages begins; it ends within a hundredth."""
_EMPTY_BIN_SHARE = 0.1
"""Share of delta that a Gaussian shape uses for bins without fakes; less hardly saves variance."""
_EPSILON_SHARE = 1.0 - 2e-9
"""Share of epsilon for the losses of several messages; a loss just above epsilon would add 1e-9."""
_CLEAR_ANSWERS_NOTE = "; other people's answers in clear hide nobody at worst"


def counts_people(name: str, given: Parameters) -> bool:  # noqa: ARG001
    """Return False, because answers of other people in clear do not protect."""
    return False


def record_fields(name: str, counted: CountedParameters) -> tuple[ObservedMessage, int, str]:
    """Return a message of protocol ``name``, the number of messages that a record has, and a note.

    The message stands for a value, for a whole set, or for one attribute if the record is split.
    The note is a further assumption; it is empty if there is none.
    """
    given = counted.given
    pieces, repeats = given.messages_per_record(), given.repeats or 1
    most = 1 if given.split else given.max_set or 1
    if given.slots is not None:
        check_slots(given.slots, most)
    fakes: UniformFakes | ShapedFakes = UniformFakes(counted.fakes)
    if name == "clear-shaped":
        shape = _shape(given, counted.for_epsilon or 0.0)
        fakes = ShapedFakes(shape, 1 if given.mixes is None else given.mixes)
    bins = given.bins or (2 if given.paired else MOST_BINS)
    mechanism = InClear(bins=bins, fakes=fakes, max_set=most, slots=given.slots, repeats=repeats)
    return (
        ObservedMessage(mechanism),
        pieces,
        separation_note(given) + _CLEAR_ANSWERS_NOTE * given.count_crowd,
    )


def _shape(given: Parameters, epsilon: float) -> AnyShape:
    """Return the given shape, with a decay that suits ``epsilon`` if no decay is given."""
    shift = 1 if given.shape_shift is None else given.shape_shift
    if given.shape_variance is not None:
        bell = PairedGaussianShape if given.paired else GaussianShape
        return bell(given.shape_variance, shift)
    laplace = PairedLaplaceShape if given.paired else LaplaceShape
    if given.shape_decay is not None:
        return laplace(ratio_of(given.shape_decay), shift)
    messages = given.messages_per_record() * (given.repeats or 1)
    return laplace(usual_ratio(epsilon, messages, paired=laplace.paired), shift)


def usual_ratio(epsilon: float, messages: int, *, paired: bool = False) -> int:
    """Return the decay ratio, times 2^64, of a discrete Laplace distribution.

    The privacy loss of a message is two decays, one for each of its two bins. If the bins are
    paired, the loss is one decay. The ratio is rounded up beyond the error of exp, as a slower
    decay never violates the limit. Several messages share epsilon evenly, as in basic composition.
    Each message then gets slightly less than its share.

    Parameters
    ----------
    epsilon : float
        The privacy loss of all messages in nats.
    messages : int
        The number of messages.
    paired : bool
        Whether the fakes of two bins have a fixed sum.
    """
    share = epsilon if messages == 1 else epsilon * _EPSILON_SHARE
    counts = messages if paired else 2.0 * messages
    return math.ceil(math.exp(-share / counts) * SCALE) + (1 << 12)


def delta(
    message: ObservedMessage, epsilon: float, memo: Memo, *, lower_only: bool = False
) -> ProvedDelta:
    """Return both bounds of delta(epsilon), for the worse order of the neighbors."""
    del lower_only  # both come from one sum
    mechanism = _require_in_clear(message)
    match mechanism.fakes:
        case UniformFakes(count):
            bounds, source = _uniform_fakes_bounds(mechanism, count, epsilon, memo)
            if mechanism.planes is not None and mechanism.max_set == 1:
                most = _tighten_upper(mechanism, count, epsilon, bounds.upper)
                source = OVER_FEW_PLANES_SOURCE if has_few_planes(mechanism) else OVER_PLANES_SOURCE
                bounds = join_ends(planes.lower(count, mechanism.planes, epsilon), most)
            assumption = f"{count:,} fakes come from honest parties; at least one mix shuffles"
            return ProvedDelta(bounds, source, assumption)
        case ShapedFakes(mixes=mixes) as shaped:
            if mechanism.max_set > 1:
                raise AccountingError("a set among shaped fakes: price its messages separately")
            paired, weights = shaped.shape.paired, shaped.shape.weights
            return ProvedDelta(
                clear_paired.delta(weights, epsilon)
                if paired
                else clear_shaped.delta(weights, epsilon, memo),
                clear_paired.SOURCE if paired else clear_shaped.SOURCE,
                SHAPED_ASSUMPTION if mixes == 1 else SHAPED_BY_MANY_ASSUMPTION,
            )


def _uniform_fakes_bounds(
    mechanism: InClear, count: int, epsilon: float, memo: Memo
) -> tuple[Bracket, str]:
    if mechanism.set_messages > 1:
        source = set_in_clear.SOURCE if mechanism.planes is None else SETS_OVER_PLANES_SOURCE
        source = source if mechanism.slots is None else SOME_SLOTS_SOURCE
        return set_in_clear.delta(hide_set(mechanism, count), epsilon, memo), source
    source = SOURCE if mechanism.slots is None else SLOTS_SOURCE
    return clear_uniform.delta(count, mechanism.hiding_cells, epsilon, memo), source


def _tighten_upper(mechanism: InClear, count: int, epsilon: float, upper: float) -> float:
    """Return ``upper``, or the bound of ``planes`` if it is smaller.

    The bound of ``planes`` is smaller because two values may be in one plane. It is computed only
    if there are few planes.
    """
    if mechanism.planes is None or not has_few_planes(mechanism):
        return upper
    return min(upper, planes.upper(count, mechanism.planes, epsilon))


def choose_bound(message: ObservedMessage, bound: Bound) -> Bound:
    """Return the near bound for points of a curve, if it is faster, and else the exact one."""
    mechanism, composed = _require_in_clear(message), bound in (Bound.NEAR, Bound.ROUGH)
    if mechanism.set_messages > 1:
        return Bound.NEAR if composed else Bound.EXACT
    match mechanism.fakes:
        case UniformFakes() if composed and has_few_planes(mechanism):
            return Bound.NEAR
        case UniformFakes(count) if composed and clear_uniform.is_near_faster(
            count, mechanism.hiding_cells
        ):
            return Bound.NEAR
    return Bound.EXACT


def has_few_planes(mechanism: Shuffled) -> bool:
    """Return whether single values name planes, so few that two values often share a plane."""
    over = mechanism.planes
    return over is not None and mechanism.max_set == 1 and over.prime <= planes.MOST_PRIME


def near_upper(
    mechanism: Shuffled, fakes: int, epsilon: float, people: int = 0, coin: float = 0.0
) -> float:
    """Return an upper bound of a single value's delta, too large by at most a small share.

    The value is among ``fakes`` uniform fakes. Each of ``people`` sends one more fake with
    probability ``coin``, and delta is averaged over these coins.
    """
    if mechanism.planes is not None and has_few_planes(mechanism):
        return planes.upper(fakes, mechanism.planes, epsilon, people, coin)
    return clear_uniform.near_upper(fakes, mechanism.hiding_cells, epsilon, people, coin)


def upper(
    message: ObservedMessage, epsilons: Sequence[float], bound: Bound, memo: Memo
) -> Sequence[float]:
    """Return upper bounds at several epsilons."""
    match _require_in_clear(message):
        case InClear(fakes=UniformFakes(count), set_messages=most) as mechanism if most > 1:
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
        case InClear(fakes=UniformFakes(count)) as one:  # needs no lower bound
            above = [
                _uniform_fakes_bounds(one, count, epsilon, memo)[0].upper for epsilon in epsilons
            ]
            pairs = zip(epsilons, above, strict=True)
            return [_tighten_upper(one, count, epsilon, most) for epsilon, most in pairs]
    return [delta(message, epsilon, memo).bounds.upper for epsilon in epsilons]


def observed_unit(message: ObservedMessage) -> tuple[ObservedMessage, int]:
    """Return the message that is seen separately, and the number of such messages.

    The message is ``message`` itself, seen once, except for a set among shaped fakes. Such a set is
    a composition of its messages, each in a separate bin (``clear_shaped``). The number of bins
    does not matter among shaped fakes.
    """
    mechanism = _require_in_clear(message)
    if not isinstance(mechanism.fakes, ShapedFakes):
        return message, 1
    one = replace(mechanism, bins=2, max_set=1)
    return message._replace(mechanism=one), mechanism.max_set


def lower_of(message: ObservedMessage, epsilon: float, rounds: int) -> float:
    """Return a lower bound from the number of messages in one bin."""
    mechanism = _require_in_clear(message)
    match mechanism.fakes:
        case UniformFakes(count):
            if mechanism.set_messages > 1:
                hidden = hide_set(mechanism, count)
                if hidden.slots or hidden.hashed:
                    return set_in_clear.lower_by_counting(hidden, epsilon, rounds)
            # For sets over planes take u on the line of v: then no message of v points at u.
            met = mechanism.collision_probability if mechanism.max_set == 1 else 0.0
            kinds = [repeats.MessageKind([(count, 1.0 / mechanism.hiding_cells)], 1.0, met)]
            return repeats.lower_bound(kinds, epsilon, rounds)
        case ShapedFakes() as shaped:
            return repeats.shaped_lower_bound(shaped.shape.weights, epsilon, rounds)


def start(message: ObservedMessage, parameter: Parameter, goal: CalibrationTarget) -> int:
    """Return a parameter at which a search for the least noise starts.

    For uniform fakes, it is the number of fakes that gives every bin the usual number of hiding
    messages. For shaped fakes, it is a shift at which F(0) is small enough, since every collection
    adds to delta the probability F(0) that a bin has no fakes.

    Parameters
    ----------
    message : ObservedMessage
        One message of the person, and what its observer knows.
    parameter : Parameter
        The parameter that is sought.
    goal : CalibrationTarget
        The guarantee of the composed messages.
    """
    mechanism = _require_in_clear(message)
    match mechanism.fakes:
        case UniformFakes() if parameter == Parameter.FAKES:
            growth = math.pow(mechanism.set_messages, set_in_clear.GROWTH)
            return round(goal.cover * growth * mechanism.hiding_cells)
        case ShapedFakes(shape=LaplaceShape(decay=decay)) if parameter == Parameter.SHIFT:
            aim = goal.delta * (_TARGET_SHARE if goal.times > 1 else 1.0)
            empty = math.log(goal.times * math.tanh(decay / 2.0) / aim) / decay
            return max(1, math.ceil(empty))
        case ShapedFakes(shape=GaussianShape(variance=variance)) if parameter == Parameter.SHIFT:
            return gaussian_shift(variance, goal.times, goal.delta)
    raise TypeError(f"{mechanism.name} has no {parameter}")


def gaussian_shift(variance: float, times: int, delta: float) -> int:
    """Return the shift of the discrete Gaussian at which bins without fakes use a tenth of delta.

    The number of fakes in a bin is the shift plus a discrete Gaussian, at least 0. Let F(0) be the
    probability of no fakes in a bin. Then ``times`` * F(0) is about ``delta`` / 10.

    Parameters
    ----------
    variance : float
        The variance of the discrete Gaussian.
    times : int
        The number of messages, each of which adds one F(0).
    delta : float
        The required delta, in (0, 1).
    """
    share = times / (_EMPTY_BIN_SHARE * delta * math.sqrt(2.0 * math.pi * variance))
    return max(1, math.ceil(math.sqrt(2.0 * variance * math.log(max(share, math.e)))))


def _require_in_clear(message: ObservedMessage) -> InClear:
    if not isinstance(message.mechanism, InClear):
        raise TypeError(f"{message.mechanism.name} is not sent in clear")
    return message.mechanism
