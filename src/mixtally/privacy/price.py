"""The price of every protocol, and the least noise that pays it: one line a protocol."""

import math
from functools import cache, lru_cache

from mixtally.errors import InfeasibleError, PlanError
from mixtally.ground.fixed import LEAST_THRESHOLD, MOST_THRESHOLD, SCALE
from mixtally.privacy import clear_shaped, clear_uniform, flip_blank, one_hot
from mixtally.privacy.bracket import Bracket
from mixtally.privacy.laws import several
from mixtally.privacy.laws.ask import Ask
from mixtally.privacy.search import least_meeting, usual_cover
from mixtally.protocols.base import Protocol
from mixtally.protocols.catalogue import protocol_of
from mixtally.protocols.clear_shaped import (
    MOST_SHIFT,
    SHAPED_ASSUMPTION,
    SHAPED_BY_MANY,
    ClearShaped,
    shape_weights,
)
from mixtally.protocols.clear_uniform import ClearUniform
from mixtally.protocols.flip_blank import FlipBlank
from mixtally.protocols.flip_vector import FlipVector
from mixtally.protocols.flips import Flips
from mixtally.protocols.single_bit import SingleBit
from mixtally.records.certificate import Certificate, Status
from mixtally.records.guarantee import MOST_USERS, Observer, checked_epsilon, checked_fraction
from mixtally.records.plan import Plan

_THRESHOLD_TOLERANCE = 1e-12
_CROWD_TOLERANCE = 1e-6


def certify(protocol: Protocol, epsilon: float, honest_fraction: float = 1.0) -> Certificate:
    """delta(epsilon) of one person's record under ``protocol``, from its final integers.

    Only floor(honest_fraction * fakes) fakes are counted on. Raises ParameterError for an epsilon
    outside [0.01, 20] or a fraction outside (0, 1], AccountingError when a number cannot be right.
    """
    checked_epsilon(epsilon)
    checked_fraction(honest_fraction)
    ends, source = exact(protocol.surely(honest_fraction), epsilon)
    return Certificate(
        epsilon=epsilon,
        lower=ends.lower,
        upper=ends.upper,
        observer=Observer.MESSAGES,
        status=Status.PROVED,
        source=source,
        assumption=_assumption(protocol, honest_fraction),
    )


def verify(plan: Plan) -> Protocol:
    """The protocol of ``plan``, once its certificate is seen to hold for its integers.

    Raises PlanError when the plan states less than the divergence that its integers have.
    """
    protocol = protocol_of(plan)
    if protocol.gain == 0.0:
        raise PlanError(
            "flip probability", wanted="less than 1/2", got="1/2", do="plan again: nothing is told"
        )
    if isinstance(protocol, Flips) and protocol.crowd > plan.users:
        raise PlanError(
            "crowd counted", wanted=f"at most the {plan.users:,} users", got=f"{protocol.crowd:,}",
            do="plan again",
        )  # fmt: skip
    true = certify(protocol, plan.guarantee.epsilon, plan.honest_fraction)
    stated = plan.certificate
    if true.lower > stated.upper:
        raise PlanError(
            "plan certificate",
            wanted=f"delta of at least {true.lower:g}, which its integers have",
            got=f"{stated.upper:g}",
            do="do not use this plan: its promise is false",
        )
    for wanted, got in (
        (true.status, stated.status),
        (true.source, stated.source),
        (true.assumption, stated.assumption),
    ):
        if wanted != got:
            raise PlanError(
                "plan certificate", wanted=repr(str(wanted)), got=repr(str(got)),
                do="the file was altered: plan again",
            )  # fmt: skip
    return protocol


@lru_cache(maxsize=1024)
def exact(protocol: Protocol, epsilon: float) -> tuple[Bracket, str]:
    """Both ends of delta(epsilon) for any epsilon > 0 and all fakes counted, and their source."""
    quote = several.price(*law_of(protocol), epsilon)
    return quote.ends, quote.source


def upper(protocol: Protocol, epsilon: float) -> float:
    """The upper end alone, for any epsilon >= 0."""
    return several.upper(*law_of(protocol), epsilon)


def law_of(protocol: Protocol) -> tuple[str, Ask]:
    """The law that prices ``protocol``, and what to ask it."""
    match protocol:
        case FlipBlank():
            ask = Ask(
                fakes=protocol.fakes,
                threshold=protocol.threshold,
                bins=protocol.bins,
                max_set=protocol.max_set if protocol.max_set > 1 else None,
                users=protocol.crowd or None,
                count_crowd=protocol.crowd > 0,
            )
        case FlipVector():
            ask = Ask(
                users=protocol.crowd,
                bits=protocol.bins,
                threshold=protocol.threshold,
                repeats=protocol.repeats if protocol.repeats > 1 else None,
            )
        case SingleBit():
            ask = Ask(users=protocol.crowd, fakes=protocol.fakes, threshold=protocol.threshold)
        case ClearUniform():
            ask = Ask(fakes=protocol.fakes, bins=protocol.bins)
        case ClearShaped():
            ask = Ask(ratio=protocol.ratio, shift=protocol.shift)
        case _:
            raise TypeError(f"{protocol.name} has no price")
    return protocol.name, ask


def _assumption(protocol: Protocol, honest_fraction: float) -> str:
    if isinstance(protocol, ClearShaped):
        return SHAPED_ASSUMPTION if protocol.mixes == 1 else SHAPED_BY_MANY
    sure = protocol.surely(honest_fraction).fakes
    if isinstance(protocol, Flips) and protocol.crowd:
        return (
            f"{protocol.crowd:,} honest people flip their bits as told and at least {sure:,} fakes "
            "arrive; at least one mix shuffles and does not collude with the collector"
        )
    if sure == 0:
        return "none: without fakes the promise is what each report keeps by itself"
    return (
        f"at least {sure:,} fakes come from honest parties ({100 * honest_fraction:g} % of the "
        f"{protocol.fakes:,} promised); at least one mix shuffles and does not collude with the "
        "collector"
    )


def least_threshold(fakes: int, epsilon: float, delta: float, crowd: int = 0) -> int:
    """The least flip probability, times 2^64, with which ``fakes`` flipped blanks suffice.

    With ``crowd`` honest people counted, their flips are fakes of their own.

    Above the least one by at most one part in 10^12, never below. Always exists: at q = 1/2 nothing
    is told at all.
    """

    def upper(threshold: int) -> float:
        if crowd:
            return one_hot.free_blanks(crowd, fakes, threshold, epsilon)
        return flip_blank.delta(fakes, threshold, epsilon).upper

    cover = usual_cover(epsilon, delta)
    start = round(min(0.25, cover / (fakes + 1), math.sqrt(cover / max(crowd, 1))) * SCALE)
    found = least_meeting(
        upper,
        delta,
        LEAST_THRESHOLD,
        MOST_THRESHOLD,
        start=start,
        tolerance=_CROWD_TOLERANCE if crowd else _THRESHOLD_TOLERANCE,
    )
    return MOST_THRESHOLD if found is None else found


def least_blank_fakes(threshold: int, epsilon: float, delta: float) -> int:
    """The least number of flipped blanks that suffices at a given flip probability.

    Raises InfeasibleError when more than 10^10 would be needed.
    """

    def upper(fakes: int) -> float:
        return flip_blank.delta(fakes, threshold, epsilon).upper

    start = round(usual_cover(epsilon, delta) * SCALE / threshold)
    found = least_meeting(upper, delta, 0, MOST_USERS, start=start)
    return _or_infeasible(found, "flip probability", threshold / SCALE)


def least_uniform_fakes(bins: int, epsilon: float, delta: float) -> int:
    """The least number of uniform fakes that suffices over ``bins`` bins.

    Raises InfeasibleError when more than 10^13 would be needed.
    """

    def upper(fakes: int) -> float:
        return clear_uniform.delta(fakes, bins, epsilon).upper

    start = round(usual_cover(epsilon, delta) * bins)
    found = least_meeting(upper, delta, 0, 1000 * MOST_USERS, start=start)
    return _or_infeasible(found, "bins", bins)


def _or_infeasible(found: int | None, subject: str, got: object) -> int:
    if found is None:
        raise InfeasibleError(
            subject, wanted="parameters that some number of fakes can protect", got=got,
            do="raise the flip probability, epsilon or delta",
        )  # fmt: skip
    return found


def least_shape(epsilon: float, delta: float) -> tuple[int, int]:
    """(ratio, shift) of the shaped law with the least spread, then the fewest fakes.

    The decay is epsilon / 2: two neighbouring bins each tell one decay, so a faster one is broken
    at half of all outcomes; a slower one is wider. What is left is the ends of the law,
    delta = 2 F(0) - F(0)^2, which gives the start of the search; integers decide its end.
    Raises InfeasibleError when no shift up to 10^5 keeps so small a delta.
    """
    decay = epsilon / 2.0
    ratio = math.ceil(math.exp(-decay) * SCALE) + (1 << 12)  # upwards, past the error of exp

    @cache
    def height(candidate: int) -> float:
        return math.log(clear_shaped.delta(shape_weights(ratio, candidate), epsilon).upper / delta)

    shift = max(1, math.ceil(math.log(2.0 * math.tanh(decay / 2.0) / delta) / decay))
    at, slope = height(shift), decay
    while at > 0.0:  # the integers' rounding flattens the fall: the last slope is too steep
        if shift >= MOST_SHIFT:
            raise InfeasibleError(
                "shape", wanted=f"a shift of at most {MOST_SHIFT:,}", got="more",
                do="raise epsilon or delta",
            )  # fmt: skip
        stride = min(max(1, math.ceil(at / slope)), shift)
        ahead = min(shift + stride, MOST_SHIFT)
        fallen = (at - height(ahead)) / (ahead - shift)
        shift, at, slope = ahead, height(ahead), min(decay, max(fallen, decay / 64.0))
    while shift > 1 and height(shift - 1) <= 0.0:
        shift -= 1
    return ratio, shift
