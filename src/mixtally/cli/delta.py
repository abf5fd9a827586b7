"""``mixtally delta``: the exact delta of any parameters."""

from typing import TYPE_CHECKING, Any

import typer

from mixtally.cli import options as o
from mixtally.cli.law import Request, ask_of, takes_law
from mixtally.cli.output import print_json

if TYPE_CHECKING:
    from mixtally.records.certificate import Certificate

_ANY_BINS = 2
"""Shaped fakes cost the same for any number of bins."""


@takes_law
def delta(request: Request, epsilon: o.Epsilon, json: o.Json = False) -> None:
    """State the exact delta of any parameters.

    flip-blank takes --fakes and --flip (and --max-set, or --users with --count-crowd);
    clear-uniform --fakes and --bins; clear-shaped --shape-decay and --shape-shift; single-bit
    --users, --fakes and --flip (and --ones, --repeats); flip --users and --flip (and --bins with
    --observer or --max-set, or --bits with --background); flip-uniform --users, --fakes, --bins and
    --flip (and --observer).
    """
    shown, facts = _priced(request, epsilon)
    facts = {**certificate_facts(shown), "protocol": request.protocol, **facts}
    if json:
        print_json(facts)
        return
    print_certificate(shown)


def certificate_facts(shown: "Certificate") -> dict[str, Any]:
    """A certificate as the first fields of a JSON answer."""
    return {
        "delta": shown.upper,
        "delta_lower": shown.lower,
        "epsilon": shown.epsilon,
        "observer": shown.observer,
        "status": shown.status,
        "source": shown.source,
        "assumption": shown.assumption,
    }


def print_certificate(shown: "Certificate") -> None:
    """A certificate on the terminal, each number rounded to its own side."""
    from mixtally.report.words import at_least, at_most

    at = at_most(shown.epsilon, 9)
    typer.echo(f"delta <= {at_most(shown.upper, 9)} at epsilon {at} ({shown.status})")
    typer.echo(f"delta >= {at_least(shown.lower, 9)}, observer: {shown.observer}")
    typer.echo(f"source: {shown.source}")
    typer.echo(f"assumption: {shown.assumption}")


def _priced(request: Request, epsilon: float) -> tuple["Certificate", dict[str, Any]]:
    from mixtally.errors import ParameterError
    from mixtally.ground.fixed import SCALE
    from mixtally.privacy import laws

    facts = {"honest_fraction": request.honest_fraction, **request.flags()}
    if request.protocol == "clear-shaped":
        return _shaped(request, epsilon, facts)
    if request.protocol not in laws.LAWS:
        names = ", ".join([*laws.LAWS, "clear-shaped"])
        raise ParameterError(
            "protocol", wanted=f"one of {names}", got=repr(request.protocol), do="choose one"
        )
    ask = ask_of(request)
    if ask.threshold is not None:
        facts |= {"flip_probability": ask.threshold / SCALE, "flip_threshold": ask.threshold}
    facts["fakes_counted"] = ask.fakes
    return laws.price(request.protocol, ask, epsilon), facts


def _shaped(
    request: Request, epsilon: float, facts: dict[str, Any]
) -> tuple["Certificate", dict[str, Any]]:
    from mixtally.errors import ParameterError
    from mixtally.privacy.price import certify
    from mixtally.protocols.clear_shaped import ClearShaped, ratio_of

    came = {key for key, value in request.flags().items() if value != "messages"}
    if came != {"shape_decay", "shape_shift"}:
        raise ParameterError(
            "clear-shaped",
            wanted="--shape-decay and --shape-shift",
            got=", ".join("--" + key.replace("_", "-") for key in sorted(came)) or "neither",
            do="give exactly these parameters",
        )
    ratio = ratio_of(request.came["shape_decay"])
    built = ClearShaped.shaped(_ANY_BINS, ratio, request.came["shape_shift"])
    return certify(built, epsilon, request.honest_fraction), facts | built.facts()
