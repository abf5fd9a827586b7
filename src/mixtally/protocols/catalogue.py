"""Every protocol by name, and the way from a plan back to its protocol."""

from mixtally.errors import InputError, ParameterError, PlanError
from mixtally.protocols.base import Protocol
from mixtally.protocols.clear_shaped import ClearShaped
from mixtally.protocols.clear_uniform import ClearUniform
from mixtally.protocols.flip_blank import FlipBlank
from mixtally.protocols.flip_uniform import FlipUniform
from mixtally.protocols.flip_vector import FlipVector
from mixtally.protocols.single_bit import SingleBit
from mixtally.records.plan import Plan

PROTOCOLS: dict[str, type[Protocol]] = {
    kind.name: kind
    for kind in (FlipBlank, FlipUniform, ClearUniform, ClearShaped, FlipVector, SingleBit)
}


def protocol_class(name: str) -> type[Protocol]:
    """The protocol called ``name``; raises ParameterError for an unknown one."""
    if name not in PROTOCOLS:
        raise ParameterError(
            "protocol", wanted="one of " + ", ".join(PROTOCOLS), got=repr(name),
            do="use `mixtally simulate --memory`: a memory relies on no mix and has no plan"
            if name == "memory" else "choose one",
        )  # fmt: skip
    return PROTOCOLS[name]


def protocol_of(plan: Plan) -> Protocol:
    """The protocol of ``plan``; raises PlanError for unknown, missing or impossible integers."""
    try:
        protocol = protocol_class(plan.protocol)(bins=plan.question.bins, **plan.integers)
    except (TypeError, InputError) as error:
        raise PlanError(
            "plan integers",
            wanted=f"the parameters of {plan.protocol}, within their ranges",
            got=f"{plan.integers} ({error})",
            do="plan again with this version",
        ) from error
    if not protocol.holds(plan.question):
        raise PlanError(
            "plan",
            wanted=f"a protocol that hides records of kind {plan.question.kind}"
            f" with at most {plan.question.max_set} set",
            got=f"{plan.protocol} with {plan.integers}",
            do="plan again with this version",
        )
    return protocol
