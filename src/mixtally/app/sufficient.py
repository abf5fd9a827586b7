"""The privacy ratio R(S) of shuffled bit vectors S, with the exact delta.

The command line calls ``describe_ratio``, and prints what it returns. R(S) is the likelihood of S
if one person holds a vector of ones and all others hold zeros, divided by the likelihood of S if
all people hold zeros (``lab.formulas.privacy_ratio``).
"""

from dataclasses import dataclass
from typing import Annotated, Any

from mixtally.app import options as o
from mixtally.errors import ParameterError, in_range
from mixtally.lab.formulas.privacy_ratio import Ratio, eta_threshold, ratio, sigmas_threshold
from mixtally.model.guarantee import Observer, check_epsilon, check_users
from mixtally.model.mechanism.presets import flip_bits
from mixtally.primitives.fixed_point import SCALE, threshold_of
from mixtally.report.document import Promise
from mixtally.report.numbers import at_most, bracket_text
from mixtally.report.promise import error_line, protection_line


@dataclass(frozen=True, slots=True, kw_only=True)
class FlipOptions:
    """The flip probability, which exactly one of three options determines."""

    flip: o.Flip = None
    eta: Annotated[
        float | None, o.option("--eta", "Find the flip probability for this tail, 0 to 1.", "X")
    ] = None
    sigmas: Annotated[
        float | None,
        o.option("--sigmas", "Find the flip probability for mean + X sigma, up to 100.", "X"),
    ] = None


def describe_ratio(
    users: int, bits: int, epsilon: float, flips: FlipOptions
) -> tuple[Promise, dict[str, Any], list[str]]:
    """Return the promise, the JSON facts and the lines of text about the privacy ratio.

    Parameters
    ----------
    users : int
        The number of people, 2 to 10^10.
    bits : int
        The number of bits of a vector, 1 to 64.
    epsilon : float
        The privacy loss in nats.
    flips : FlipOptions
        The flip probability, or the condition that determines it.

    Raises
    ------
    ParameterError
        If a number is out of range, or if not exactly one option for the flip probability is set.
    """
    threshold = _threshold(users, bits, epsilon, flips)
    found = ratio(users, bits, threshold, epsilon)
    facts = {
        "mean": found.mean,
        "variance": found.variance,
        "eta": found.eta.upper,
        "eta_lower": found.eta.lower,
        "delta": found.delta.upper,
        "delta_lower": found.delta.lower,
        "flip_probability": threshold / SCALE,
        "flip_threshold": threshold,
        "epsilon": epsilon,
        "users": users,
        "bits": bits,
        "assumption": "all other people have zeros: neither number covers other crowds",
    }
    lines = [
        f"flip probability {at_most(threshold / SCALE, 9)}",
        f"R(S): mean {found.mean:.6g}, standard deviation {found.variance**0.5:.6g}",
        f"eta = P(R > e^epsilon) in {bracket_text(found.eta.lower, found.eta.upper)}",
        f"delta, both directions, in {bracket_text(found.delta.lower, found.delta.upper)}",
        "for a crowd of zeros; neither number covers other crowds",
    ]
    return _promise(users, bits, threshold, epsilon, found), facts, lines


def _promise(users: int, bits: int, threshold: int, epsilon: float, found: Ratio) -> Promise:
    """Return the promise for a crowd in which all other people hold zeros."""
    sent = flip_bits(bins=bits, threshold=threshold, crowd=users)
    return (
        protection_line(
            Observer.MESSAGES, f"each person's {bits} bits, if all other people have zeros"
        ),
        f"epsilon = {at_most(epsilon, 6)}, delta <= {at_most(found.delta.upper, 6)} (proved upper "
        "bound). Assumes: all other people have zeros and follow the protocol; one mix is honest.",
        error_line(sent.standard_error(users)),
    )


def _threshold(users: int, bits: int, epsilon: float, flips: FlipOptions) -> int:
    check_users(users)
    check_epsilon(epsilon)
    in_range("bits", bits, 1, 64, "choose one")
    given = o.list_used_flags(flips)
    if len(given) == 1:
        if flips.flip is not None:
            return threshold_of(flips.flip)
        if flips.eta is not None:
            return eta_threshold(users, bits, epsilon, flips.eta)
        if flips.sigmas is not None:
            return sigmas_threshold(users, bits, epsilon, flips.sigmas)
    raise ParameterError(
        "flips",
        expected="one of --flip, --eta, --sigmas",
        got=", ".join(given) or "none",
        do="choose how to find the flip probability",
    )
