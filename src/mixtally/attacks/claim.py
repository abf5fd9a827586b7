"""A target from parameters and a claim, without a plan: whatever somebody says they guarantee."""

from typing import Any

from mixtally.attacks.memoized import MemoizedTarget, memoized_target
from mixtally.attacks.target import Target
from mixtally.errors import ParameterError
from mixtally.privacy.parameters import Parameters, parsed
from mixtally.records.guarantee import checked_fraction, checked_users
from mixtally.records.mechanism import Shuffled

NEEDS: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    name: (frozenset(needs.split()), frozenset(may.split()))
    for name, needs, may in (
        ("flip-blank", "users bins fakes flip", "max_set count_crowd"),
        ("flip-uniform", "users bins fakes flip", "count_crowd"),
        ("flip", "users flip", "bins bits max_set repeats"),
        ("single-bit", "users flip", "fakes"),
        ("clear-uniform", "users bins fakes", ""),
        ("clear-shaped", "users bins shape_decay shape_shift", "mixes"),
        ("memory", "permanent p q hashes reports", "bits"),
    )
}
"""By mechanism: the parameters that a claim must have, and those it may have."""


def claim(
    name: str,
    given_values: dict[str, Any],
    epsilon: float | None,
    delta: float | None,
    honest_fraction: float = 1.0,
) -> Target | MemoizedTarget:
    """What is claimed about protocol ``name`` with the parameters of ``came``, None for missing.

    Raises ParameterError for an unknown mechanism, and for parameters that are missing, not taken
    or out of range.
    """
    given = _given(name, given_values)
    if name == "memory":
        return memoized_target(**given)
    if epsilon is None or delta is None:
        raise ParameterError(
            "claim",
            wanted="--epsilon and --delta",
            got="neither" if epsilon is delta else "one",
            do="say what the parameters are claimed to guarantee",
        )
    checked_fraction(honest_fraction)
    users = checked_users(given["users"])
    mechanism = _mechanism(name, given)
    if mechanism.gain == 0.0:
        raise ParameterError(
            "flip probability", wanted="less than 1/2", got="1/2", do="nothing is told at all"
        )
    words = ", ".join(f"{key.replace('_', ' ')} {value:,.10g}" for key, value in given.items())
    return Target(
        mechanism, users, epsilon, delta, f"{name} with {words}", honest_fraction, certified=False
    )


def _given(name: str, given_values: dict[str, Any]) -> dict[str, Any]:
    """The parameters given, once they are all that is needed and no more."""
    if name not in NEEDS:
        raise ParameterError(
            "protocol", wanted="one of " + ", ".join(NEEDS), got=repr(name), do="choose one"
        )
    given = {
        key: value
        for key, value in given_values.items()
        if value is not None and value is not False
    }
    needs, may = NEEDS[name]
    if not needs <= set(given) or not set(given) <= needs | may:
        raise ParameterError(
            name,
            wanted=_flags(needs),
            got=_flags(given) or "neither",
            do="give exactly these" + (f"; it may take {_flags(may)}" if may else ""),
        )
    return given


def _mechanism(name: str, given: dict[str, Any]) -> Shuffled:
    if name == "flip" and ("bits" in given) == ("bins" in given):
        raise ParameterError(
            "flip",
            wanted="--bins for records of one value, or --bits for free vectors",
            got="both" if "bits" in given else "neither",
            do="give one",
        )
    if "repeats" in given and "bits" not in given:
        raise ParameterError(
            "repeats", wanted="--bits beside it", got="--bins", do="only vectors are repeated here"
        )
    fakes = {"fakes": 0} if name == "single-bit" else {}
    return parsed(name, Parameters(**{**fakes, **given})).sent.message.mechanism


def _flags(names: Any) -> str:
    return " and ".join("--" + name.replace("_", "-") for name in sorted(names))
