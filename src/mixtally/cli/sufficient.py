"""``mixtally sufficient``: the privacy ratio of bit vectors, beside the true delta."""

from typing import TYPE_CHECKING, Annotated

import typer

from mixtally.cli import options as o
from mixtally.cli.output import print_json, sign_of_life

if TYPE_CHECKING:
    from collections.abc import Mapping


def sufficient(
    users: o.Users,
    bits: Annotated[int, o.whole_option("--bits", "Bits of a vector, 1 to 64.")],
    epsilon: o.Epsilon,
    flip: Annotated[
        float | None, typer.Option("--flip", help="Flip probability, 2^-40 to 1/2.", metavar="Q")
    ] = None,
    eta: Annotated[
        float | None,
        typer.Option("--eta", help="Find the flips for this tail, 0 to 1.", metavar="X"),
    ] = None,
    sigmas: Annotated[
        float | None,
        typer.Option("--sigmas", help="Find the flips for mean + X sigma, up to 100.", metavar="X"),
    ] = None,
    json: o.Json = False,
) -> None:
    """Describe the privacy ratio of shuffled bit vectors.

    Takes one of --flip, --eta and --sigmas. The tail eta is no guarantee; delta stands beside it.
    """
    from mixtally.ground.fixed import SCALE
    from mixtally.literature.privacy_ratio import ratio
    from mixtally.report.words import at_most, between

    ways = {"--flip": flip, "--eta": eta, "--sigmas": sigmas}
    with sign_of_life("pricing"):
        threshold = _threshold(users, bits, epsilon, ways)
        found = ratio(users, bits, threshold, epsilon)
    if json:
        print_json(
            {
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
                "assumption": "everybody else holds zeros: neither number covers other crowds",
            }
        )
        return
    typer.echo(f"flip probability {at_most(threshold / SCALE, 9)}")
    typer.echo(f"R(S): mean {found.mean:.6g}, standard deviation {found.variance**0.5:.6g}")
    typer.echo(f"eta = P(R > e^epsilon) in {between(found.eta.lower, found.eta.upper)}")
    typer.echo(f"delta, both directions, in {between(found.delta.lower, found.delta.upper)}")
    typer.echo("for a crowd of zeros: neither number covers other crowds")


def _threshold(users: int, bits: int, epsilon: float, ways: "Mapping[str, float | None]") -> int:
    from mixtally.errors import ParameterError
    from mixtally.ground.fixed import threshold_of
    from mixtally.literature.privacy_ratio import eta_threshold, sigmas_threshold
    from mixtally.records.guarantee import checked_epsilon, checked_users

    checked_users(users)
    checked_epsilon(epsilon)
    if not 1 <= bits <= 64:
        raise ParameterError("bits", wanted="an integer in [1, 64]", got=bits, do="choose one")
    came = {flag: value for flag, value in ways.items() if value is not None}
    if len(came) != 1:
        raise ParameterError(
            "flips",
            wanted="one of " + ", ".join(ways),
            got=", ".join(came) or "none",
            do="say how the flip probability is to be found",
        )
    ((flag, value),) = came.items()
    if flag == "--flip":
        return threshold_of(value)
    if flag == "--eta":
        return eta_threshold(users, bits, epsilon, value)
    return sigmas_threshold(users, bits, epsilon, value)
