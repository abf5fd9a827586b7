"""``mixtally calibrate``: the least noise that keeps a guarantee."""

import typer

from mixtally.cli import options as o
from mixtally.cli.delta import certificate_facts, print_certificate, print_losses
from mixtally.cli.law import Request, ask_of, law_facts, takes_law
from mixtally.cli.output import print_json


@takes_law
def calibrate(request: Request, epsilon: o.Epsilon, delta: o.Delta, json: o.Json = False) -> None:
    """Find the least noise for a guarantee.

    Takes the parameters of `mixtally delta` without --flip, or without --fakes, and finds what was
    left out: the shape for clear-shaped, --permanent for memory. Without --users, flip-blank and
    clear-uniform count as many users as fakes.
    """
    from mixtally.ground.fixed import SCALE
    from mixtally.privacy import laws
    from mixtally.records.guarantee import Guarantee

    Guarantee(epsilon=epsilon, delta=delta)  # refuses what is out of range
    found = laws.calibrate(request.protocol, ask_of(request), epsilon, delta)
    shown = laws.price(request.protocol, found, epsilon)
    facts = {
        "flip_probability": None,
        "flip_threshold": None,
        **law_facts(request, found),
        "fakes": found.fakes,
        "standard_error": laws.standard_error(request.protocol, found),
        **certificate_facts(shown),
        "delta_target": delta,
    }
    if json:
        print_json(facts)
        return
    if found.threshold is not None:
        flip = found.threshold / SCALE
        typer.echo(f"flip probability {flip:.9g}, threshold {found.threshold} over 2^64")
    if found.ratio is not None:
        typer.echo(f"shape decay {facts['shape_decay']:.9g}, shift {found.shift}")
    if found.permanent is not None:
        typer.echo(f"permanent response {found.permanent:.9g}")
    if found.fakes is not None:
        typer.echo(f"fakes {found.fakes:,}")
    typer.echo(f"standard error {facts['standard_error']:.6g} counts")
    print_certificate(shown)
    print_losses(facts)
