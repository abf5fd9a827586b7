"""``mixtally calibrate``: the least noise that keeps a guarantee."""

from typing import Any

import typer

from mixtally.cli import options as o
from mixtally.cli.delta import certificate_facts, print_certificate
from mixtally.cli.law import Request, ask_of, takes_law
from mixtally.cli.output import print_json


@takes_law
def calibrate(request: Request, epsilon: o.Epsilon, delta: o.Delta, json: o.Json = False) -> None:
    """Find the least noise for a guarantee.

    Takes the parameters of `mixtally delta` without --flip, or without --fakes, and finds what was
    left out. Without --users, flip-blank and clear-uniform count as many users as fakes.
    """
    from mixtally.errors import ParameterError
    from mixtally.ground.fixed import SCALE
    from mixtally.privacy import laws
    from mixtally.records.guarantee import Guarantee

    Guarantee(epsilon=epsilon, delta=delta)  # refuses what is out of range
    if request.protocol not in laws.LAWS:
        raise ParameterError(
            "protocol",
            wanted="one of " + ", ".join(laws.LAWS),
            got=repr(request.protocol),
            do="choose one; `mixtally plan --protocol clear-shaped` finds shapes",
        )
    found = laws.calibrate(request.protocol, ask_of(request), epsilon, delta)
    shown = laws.price(request.protocol, found, epsilon)
    threshold = found.threshold
    facts: dict[str, Any] = {
        "flip_probability": None if threshold is None else threshold / SCALE,
        "flip_threshold": threshold,
        "fakes": found.fakes,
        "standard_error": laws.standard_error(request.protocol, found),
        **certificate_facts(shown),
        "delta_target": delta,
        "protocol": request.protocol,
        **{key: value for key, value in request.flags().items() if key != "fakes"},
    }
    if json:
        print_json(facts)
        return
    if threshold is not None:
        typer.echo(f"flip probability {threshold / SCALE:.9g}, threshold {threshold} over 2^64")
    if found.fakes is not None:
        typer.echo(f"fakes {found.fakes:,}")
    typer.echo(f"standard error {facts['standard_error']:.6g} counts")
    print_certificate(shown)
