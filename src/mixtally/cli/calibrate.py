"""``mixtally calibrate``: the least noise that keeps a guarantee."""

import typer

from mixtally.cli import options as o
from mixtally.cli.delta import certificate_facts, print_certificate, print_losses
from mixtally.cli.law import Request, as_sent, ask_of, law_facts, takes_law
from mixtally.cli.output import print_json, sign_of_life


@takes_law
def calibrate(request: Request, epsilon: o.Epsilon, delta: o.Delta, json: o.Json = False) -> None:
    """Find the least noise for a guarantee.

    Takes the parameters of `mixtally delta` without --flip, or without --fakes, and finds what was
    left out: the shape for clear-shaped, --permanent for memory. Errors are for --users people, or
    for as many as there are fakes when it is left out.
    """
    from mixtally.ground.fixed import SCALE
    from mixtally.privacy import laws
    from mixtally.records.guarantee import Guarantee
    from mixtally.report.words import at_most

    Guarantee(epsilon=epsilon, delta=delta)  # refuses what is out of range
    ask = ask_of(request)
    with sign_of_life("calibrating"):
        found = laws.calibrate(request.protocol, ask, epsilon, delta)
        shown = laws.price(request.protocol, found, epsilon)
    sent = as_sent(request, found)
    nobody = not sent.users and sent.fakes == 0  # an error of how many people?
    facts = {
        "flip_probability": None,
        "flip_threshold": None,
        "fakes": None,
        **law_facts(request, found),
        "standard_error": None if nobody else laws.standard_error(request.protocol, sent),
        **certificate_facts(shown),
        "delta_target": delta,
    }
    if json:
        print_json(facts)
        return
    if found.threshold is not None:
        flip = at_most(found.threshold / SCALE, 9)  # who types it in again flips no less
        typer.echo(f"flip probability {flip}, threshold {found.threshold} over 2^64")
    if found.ratio is not None:
        typer.echo(f"shape decay {facts['shape_decay']:.9g}, shift {found.shift}")
    if found.permanent is not None:
        typer.echo(f"permanent response {at_most(found.permanent, 9)}")
    if found.fakes is not None:
        counted = f", {found.fakes:,} of them counted on" * (sent.fakes != found.fakes)
        typer.echo(f"fakes {sent.fakes:,}{counted}")
    if nobody:
        typer.echo("standard error unknown: say how many people with --users")
    else:
        typer.echo(f"standard error {facts['standard_error']:.6g} counts")
    print_certificate(shown)
    print_losses(facts)
