"""The device's own limits on a contract, checked before it answers."""

from typing import NamedTuple

from mixtally.device.client.shaped import delta, paired_delta
from mixtally.device.contract.plan import ContractPlan
from mixtally.device.contract.shape import PAIRED, SHAPES
from mixtally.errors import RefusedError

PROTOCOLS = frozenset(
    {
        "clear-shaped",
        "clear-uniform",
        "kary-response",
        "flip-blank",
        "flip-uniform",
        "single-bit",
        "flip",
    }
)
COVERS = frozenset({"every mix", "people"})


class Limits(NamedTuple):
    """The maximum privacy cost that this device accepts, and whom it trusts.

    Attributes
    ----------
    epsilon, delta : float
        The largest epsilon and delta that are accepted.
    local_epsilon : float or None
        The largest epsilon that may remain if all hops (mixes) collude with the collector. None
        also accepts plans that have no guarantee in this case.
    hops : int
        The minimum number of hops.
    protocols : frozenset of str
        The accepted protocols.
    covers : frozenset of str
        Who may provide the fakes (dummy messages) or flips that protect a person: "every mix",
        "people", or both.
    """

    epsilon: float = 1.0
    delta: float = 1e-6
    local_epsilon: float | None = None
    hops: int = 2
    protocols: frozenset[str] = PROTOCOLS
    covers: frozenset[str] = COVERS


def check_plan(plan: ContractPlan, limits: Limits) -> ContractPlan:
    """Return the plan, or raise RefusedError if it exceeds a limit or its stated delta is false.

    The device derives delta again only for a plan with one collection and one part with shaped
    fakes: the number of fakes in a bin has a distribution of ``device.contract.shape``. For sets,
    the derived number is a lower bound of the true delta. All other certificates are trusted as
    signed by the operators.

    Parameters
    ----------
    plan : ContractPlan
        The plan in the contract.
    limits : Limits
        The limits that the owner of the device has set.
    """
    _check_limits(plan, limits)
    for part in plan.parts:
        if part.protocol not in limits.protocols:
            expected = f"one of {', '.join(sorted(limits.protocols))}"
            raise _limit_error("protocol-not-allowed", "protocol", expected, part.protocol)
    cover = "every mix" if plan.by_mixes else "people"
    if cover not in limits.covers:
        raise _limit_error(
            "cover-not-allowed", "cover", f"one of {', '.join(limits.covers)}", cover
        )
    _check_shaped(plan)
    return plan


def _check_limits(plan: ContractPlan, limits: Limits) -> None:
    local = plan.local_epsilon
    if limits.local_epsilon is not None and (local is None or local > limits.local_epsilon):
        got = "nothing" if local is None else f"{local:.4g}"
        expected = f"at most {limits.local_epsilon:g}"
        raise _limit_error("above-own-limit", "local epsilon", expected, got)
    for name, promised, most in (
        ("epsilon", plan.epsilon, limits.epsilon),
        ("delta", plan.delta, limits.delta),
    ):
        if promised > most:
            raise _limit_error("above-own-limit", name, f"at most {most:g}", f"{promised:g}")
    if plan.hops < limits.hops:
        raise _limit_error("too-few-hops", "hops", f"at least {limits.hops}", plan.hops)


def _check_shaped(plan: ContractPlan) -> None:
    """Raise RefusedError if the stated delta is below that of the shaped fakes.

    The device computes the delta of shaped fakes itself.
    """
    recipe = plan.parts[0].recipe
    if len(plan.parts) > 1 or plan.collections > 1 or recipe.kind not in SHAPES:
        return
    # Fractions of integers are compared exactly, so no rounding can hide a false certificate.
    table = SHAPES[recipe.kind](recipe.first, recipe.second)
    true, of = (paired_delta if recipe.kind in PAIRED else delta)(table, plan.epsilon)
    stated, in_all = plan.upper.as_integer_ratio()
    if true * in_all > stated * of:
        raise RefusedError(
            "promise-false",
            "certificate",
            expected=f"a delta of at least {true / of:.6g}, which follows from its recipe",
            got=f"{plan.upper:.6g}",
            do="do not take part: the stated privacy is false",
        )


def _limit_error(reason: str, subject: str, expected: str, got: object) -> RefusedError:
    do = "do not take part, or relax this limit of the device"
    return RefusedError(reason, subject, expected=expected, got=got, do=do)
