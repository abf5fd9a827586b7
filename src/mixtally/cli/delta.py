"""``mixtally delta``: the exact delta of any parameters."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from mixtally.cli import options as o
from mixtally.cli.output import print_json

if TYPE_CHECKING:
    from mixtally.protocols.base import Protocol

_TAKES = {
    "flip-blank": ("fakes", "flip"),
    "clear-uniform": ("fakes", "bins"),
    "clear-shaped": ("shape_decay", "shape_shift"),
}
_ANY_BINS = 2
"""Flips and shaped fakes cost the same for any number of bins."""


def delta(
    epsilon: o.Epsilon,
    protocol: Annotated[str, typer.Option("--protocol", help=", ".join(_TAKES), metavar="NAME")],
    fakes: Annotated[int | None, o._whole("--fakes", "Fakes in the whole collection.")] = None,
    flip: Annotated[
        float | None, typer.Option("--flip", help="Flip probability, 2^-40 to 1/2.", metavar="Q")
    ] = None,
    bins: o.Bins = None,
    shape_decay: Annotated[
        float | None, typer.Option("--shape-decay", help="Fall of the law in nats.", metavar="C")
    ] = None,
    shape_shift: Annotated[int | None, o._whole("--shape-shift", "Mean fakes a bin.")] = None,
    honest_fraction: o.HonestFraction = 1.0,
    json: o.Json = False,
) -> None:
    """State the exact delta of any parameters.

    flip-blank takes --fakes and --flip, clear-uniform --fakes and --bins, clear-shaped
    --shape-decay and --shape-shift.
    """
    from mixtally.privacy.price import certify

    given = {
        "fakes": fakes,
        "flip": flip,
        "bins": bins,
        "shape_decay": shape_decay,
        "shape_shift": shape_shift,
    }
    built = _protocol(protocol, given)
    shown = certify(built, epsilon, honest_fraction)
    facts = {
        "delta": shown.upper,
        "delta_lower": shown.lower,
        "epsilon": shown.epsilon,
        "observer": shown.observer,
        "status": shown.status,
        "source": shown.source,
        "assumption": shown.assumption,
        "protocol": protocol,
        "honest_fraction": honest_fraction,
        **{key: value for key, value in given.items() if value is not None},
        **built.facts(),
    }
    if json:
        print_json(facts)
    else:
        from mixtally.report.words import at_least, at_most

        at = at_most(shown.epsilon, 9)
        typer.echo(f"delta <= {at_most(shown.upper, 9)} at epsilon {at} ({shown.status})")
        typer.echo(f"delta >= {at_least(shown.lower, 9)}, observer: {shown.observer}")
        typer.echo(f"source: {shown.source}")
        typer.echo(f"assumption: {shown.assumption}")


def _protocol(name: str, given: dict[str, Any]) -> "Protocol":
    from mixtally.errors import ParameterError
    from mixtally.ground.fixed import threshold_of
    from mixtally.protocols.catalogue import protocol_class
    from mixtally.protocols.clear_shaped import ClearShaped, ratio_of
    from mixtally.protocols.clear_uniform import ClearUniform
    from mixtally.protocols.flip_blank import FlipBlank

    kind = protocol_class(name)
    came = {key for key, value in given.items() if value is not None}
    if came != set(_TAKES[name]):
        raise ParameterError(
            name,
            wanted=" and ".join(_flag(key) for key in _TAKES[name]),
            got=" and ".join(_flag(key) for key in given if key in came) or "neither",
            do="give exactly these parameters",
        )
    if kind is FlipBlank:
        threshold = threshold_of(given["flip"])
        return FlipBlank(bins=_ANY_BINS, fakes=given["fakes"], threshold=threshold)
    if kind is ClearUniform:
        return ClearUniform(bins=given["bins"], fakes=given["fakes"])
    return ClearShaped.shaped(_ANY_BINS, ratio_of(given["shape_decay"]), given["shape_shift"])


def _flag(key: str) -> str:
    return "--" + key.replace("_", "-")
