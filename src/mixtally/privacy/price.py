"""The price of every protocol: one line a protocol."""

from functools import lru_cache

from mixtally.errors import PlanError
from mixtally.privacy.laws import several
from mixtally.privacy.laws.ask import Ask
from mixtally.privacy.numerics.bracket import Bracket
from mixtally.protocols.base import Protocol
from mixtally.protocols.catalogue import protocol_of
from mixtally.protocols.clear_shaped import SHAPED_ASSUMPTION, SHAPED_BY_MANY, ClearShaped
from mixtally.protocols.clear_uniform import ClearUniform
from mixtally.protocols.flip_blank import FlipBlank
from mixtally.protocols.flip_uniform import FlipUniform
from mixtally.protocols.flip_vector import FlipVector
from mixtally.protocols.flips import Flips
from mixtally.protocols.single_bit import SingleBit
from mixtally.records.certificate import Certificate, Status
from mixtally.records.guarantee import Observer, checked_epsilon, checked_fraction
from mixtally.records.plan import Plan

_AGAIN = 1.0 + 1e-6
"""Another machine rounds otherwise, by far less."""


def certify(protocol: Protocol, epsilon: float, honest_fraction: float = 1.0) -> Certificate:
    """delta(epsilon) of one person's record under ``protocol``, from its final integers.

    Only the honest fraction of the fakes, rounded down, is counted on. Raises ParameterError for
    an epsilon outside [0.01, 20] or a fraction outside (0, 1], AccountingError when a number cannot
    be right.
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

    Raises PlanError when the plan states less than is proved of its integers, or what is not known.
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
    if true.upper > stated.upper * _AGAIN or stated.lower > true.upper * _AGAIN:
        # Where only the upper end is known, the lower one is 0 and would let any promise pass.
        raise PlanError(
            "plan certificate",
            wanted=f"ends around those proved of its integers, {true.lower:g} to {true.upper:g}",
            got=f"{stated.lower:g} to {stated.upper:g}", do="the file was altered: plan again",
        )  # fmt: skip
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
        case FlipBlank(fakes=0) if protocol.crowd:  # nothing but other people's flips
            ask = Ask(
                users=protocol.crowd,
                threshold=protocol.threshold,
                bins=protocol.bins,
                max_set=protocol.max_set if protocol.max_set > 1 else None,
            )
            return "flip", ask
        case FlipBlank():
            ask = Ask(
                fakes=protocol.fakes,
                threshold=protocol.threshold,
                bins=protocol.bins if protocol.max_set > 1 or protocol.crowd else None,
                max_set=protocol.max_set if protocol.max_set > 1 else None,
                users=protocol.crowd or None,
                count_crowd=protocol.crowd > 0,
            )
        case FlipUniform():
            ask = Ask(
                fakes=protocol.fakes,
                threshold=protocol.threshold,
                bins=protocol.bins,
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
        more = f" and at least {sure:,} fakes arrive" if protocol.fakes else ""
        return (
            f"{protocol.crowd:,} honest people flip their bits as told{more}; at least one mix "
            "shuffles and does not collude with the collector"
        )
    if sure == 0:
        return "none: without fakes the promise is what each report keeps by itself"
    return (
        f"at least {sure:,} fakes come from honest parties ({100 * honest_fraction:g} % of the "
        f"{protocol.fakes:,} promised); at least one mix shuffles and does not collude with the "
        "collector"
    )
