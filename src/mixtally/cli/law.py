"""The parameters of a law on the command line, declared once for every command that takes one."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mixtally.cli import options as o
from mixtally.cli.grouped import takes

if TYPE_CHECKING:
    from mixtally.privacy.laws import Ask

_PROTOCOLS = "flip-blank, clear-uniform, clear-shaped, single-bit, flip or flip-uniform"
_FlipProbability = Annotated[
    float | None, typer.Option("--flip", help="Flip probability, 2^-40 to 1/2.", metavar="Q")
]
_Decay = Annotated[
    float | None, typer.Option("--shape-decay", help="Fall of the shaped law in nats.", metavar="C")
]
_Text = Annotated[str | None, typer.Option("--background", help="zero: others hold zeros.")]
_OPTIONS: dict[str, tuple[Any, Any]] = {
    "protocol": (
        Annotated[str, typer.Option("--protocol", help=_PROTOCOLS, metavar="NAME")],
        inspect.Parameter.empty,
    ),
    "users": (Annotated[int | None, o.whole_option("--users", "People who take part.")], None),
    "fakes": (Annotated[int | None, o.whole_option("--fakes", "Fakes in the collection.")], None),
    "flip": (_FlipProbability, None),
    "bins": (o.Bins, None),
    "bits": (Annotated[int | None, o.whole_option("--bits", "Bits of a free vector.")], None),
    "ones": (Annotated[int | None, o.whole_option("--ones", "Others who hold a one.")], None),
    "max_set": (Annotated[int | None, o.whole_option("--max-set", "Most set bits.")], None),
    "repeats": (Annotated[int | None, o.whole_option("--repeats", "Times sent.")], None),
    "shape_decay": (_Decay, None),
    "shape_shift": (
        Annotated[int | None, o.whole_option("--shape-shift", "Mean shaped fakes a bin.")],
        None,
    ),
    "observer": (
        Annotated[
            str, typer.Option("--observer", help="Who looks: messages or sums.", metavar="WHO")
        ],
        "messages",
    ),
    "background": (_Text, None),
    "count_crowd": (o.CountCrowd, False),
    "honest_fraction": (o.HonestFraction, 1.0),
}


@dataclass(frozen=True, slots=True)
class Request:
    """A law by name and the parameters that came, under the names of their options."""

    protocol: str
    came: dict[str, Any]
    honest_fraction: float

    def flags(self) -> dict[str, Any]:
        """The parameters that came, for the answer."""
        return {k: v for k, v in self.came.items() if not (v is None or v is False)}


def takes_law(command: Callable[..., None]) -> Callable[..., None]:
    """Give ``command``, which takes a Request first, an option for every parameter of a law."""

    @takes(_OPTIONS)
    @wraps(command)
    def called(group: dict[str, Any], **values: Any) -> None:
        protocol, fraction = group.pop("protocol"), group.pop("honest_fraction")
        command(Request(protocol, group, fraction), **values)

    return called


def ask_of(request: Request) -> "Ask":
    """The law's parameters, the flip probability as an integer and only honest fakes counted."""
    import math

    from mixtally.errors import ParameterError
    from mixtally.ground.fixed import threshold_of
    from mixtally.privacy.laws import Ask
    from mixtally.records.guarantee import Observer, checked_fraction

    came = dict(request.came)
    shapes = [name for name in ("shape_decay", "shape_shift") if came.pop(name) is not None]
    if shapes:
        raise ParameterError(
            request.protocol, wanted="no shape", got=", ".join(shapes), do="leave it out"
        )
    flip, fakes = came.pop("flip"), came.pop("fakes")
    if fakes is not None:
        fakes = math.floor(checked_fraction(request.honest_fraction) * fakes)
    observer = came.pop("observer")
    if observer not in tuple(Observer):
        raise ParameterError(
            "observer", wanted="messages or sums", got=repr(observer), do="choose one"
        )
    if came["background"] not in (None, "zero"):
        raise ParameterError(
            "background", wanted="zero", got=repr(came["background"]), do="leave it out for any"
        )
    threshold = None if flip is None else threshold_of(flip)
    return Ask(threshold=threshold, fakes=fakes, observer=Observer(observer), **came)
