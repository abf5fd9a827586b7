"""``mixtally sufficient``: the privacy ratio of bit vectors, beside the true delta."""

from typing import TYPE_CHECKING, Annotated

import typer

from mixtally.cli import options as o
from mixtally.cli.output import print_json

if TYPE_CHECKING:
    from collections.abc import Mapping


def sufficient(
    users: o.Users,
    bits: Annotated[int, o.whole_option("--bits", "Bits of a vector, 1 to 64.")],
    epsilon: o.Epsilon,
    flip: Annotated[
        float | None, typer.Option("--flip", help="Flip probability.", metavar="Q")
    ] = None,
    eta: Annotated[
        float | None, typer.Option("--eta", help="Find the flips for this tail.", metavar="X")
    ] = None,
    sigmas: Annotated[
        float | None,
        typer.Option("--sigmas", help="Find the flips for mean + X sigma.", metavar="X"),
    ] = None,
    json: o.Json = False,
) -> None:
    """Describe the privacy ratio of shuffled bit vectors.

    Takes one of --flip, --eta and --sigmas. The tail eta is no guarantee; delta stands beside it.
    """
    from mixtally.ground.fixed import SCALE
    from mixtally.privacy.ratio import ratio

    threshold = _threshold(users, bits, epsilon, {"--flip": flip, "--eta": eta, "--sigmas": sigmas})
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
    typer.echo(f"flip probability {threshold / SCALE:.9g}")
    typer.echo(f"R(S): mean {found.mean:.6g}, standard deviation {found.variance**0.5:.6g}")
    typer.echo(f"eta = P(R > e^epsilon) in [{found.eta.lower:.4g}, {found.eta.upper:.4g}]")
    typer.echo(f"delta, both directions, in [{found.delta.lower:.4g}, {found.delta.upper:.4g}]")
    typer.echo("for a crowd of zeros: neither number covers other crowds")


def _threshold(users: int, bits: int, epsilon: float, ways: "Mapping[str, float | None]") -> int:
    from mixtally.errors import ParameterError
    from mixtally.ground.fixed import threshold_of
    from mixtally.privacy.ratio import eta_threshold, sigmas_threshold
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
