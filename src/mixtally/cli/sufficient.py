"""``mixtally check sufficient``: the privacy ratio of bit vectors and the exact delta."""

from dataclasses import dataclass
from typing import Annotated

from mixtally.app.options import Flip, list_used_flags
from mixtally.cli import options as o
from mixtally.cli.option_groups import with_option_groups
from mixtally.cli.output import print_outcome, show_elapsed_time
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
    """The flip probability, given in one of three ways."""

    flip: Flip = None
    eta: Annotated[
        float | None, o.option("--eta", "Find the flip probability for this tail, 0 to 1.", "X")
    ] = None
    sigmas: Annotated[
        float | None,
        o.option("--sigmas", "Find the flip probability for mean + X sigma, up to 100.", "X"),
    ] = None


@with_option_groups
def sufficient(
    users: Annotated[int, o.whole_option("--users", "People expected to take part, 2 to 10^10.")],
    bits: Annotated[int, o.whole_option("--bits", "Bits of a vector, 1 to 64.")],
    epsilon: o.Epsilon,
    flips: FlipOptions,
    json: o.Json = False,
) -> None:
    """Describe the privacy ratio of shuffled bit vectors.

    Takes one of --flip, --eta and --sigmas. The tail probability eta is not a guarantee, so delta
    is printed as well.
    """
    with show_elapsed_time("pricing"):
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
    print_outcome(_promise(users, bits, threshold, epsilon, found), facts, lines, json=json)


def _promise(users: int, bits: int, threshold: int, epsilon: float, found: Ratio) -> Promise:
    """Return the promise if all other people have zeros, with the error of a count."""
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
    given = list_used_flags(flips)
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
