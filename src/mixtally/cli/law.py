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

_PROTOCOLS = "flip-blank, clear-uniform, clear-shaped, single-bit, flip, flip-uniform or memory"
_FlipProbability = Annotated[
    float | None, typer.Option("--flip", help="Flip probability, 2^-40 to 1/2.", metavar="Q")
]
_Decay = Annotated[
    float | None,
    typer.Option(
        "--shape-decay",
        help="Fall of the shaped law from one number to the next, in nats, 1e-6 to 40.",
        metavar="C",
    ),
]
_Text = Annotated[
    str | None,
    typer.Option("--background", help="zero: all others are known to hold zeros; with --bits."),
]


def _number(name: str, text: str, metavar: str) -> object:
    return Annotated[float | None, typer.Option(name, help=text, metavar=metavar)]


_OPTIONS: dict[str, tuple[Any, Any]] = {
    "protocol": (
        Annotated[str, typer.Option("--protocol", help=_PROTOCOLS, metavar="NAME")],
        inspect.Parameter.empty,
    ),
    "users": (
        Annotated[int | None, o.whole_option("--users", "People who take part, 2 to 10^10.")],
        None,
    ),
    "fakes": (
        Annotated[
            int | None,
            o.whole_option("--fakes", "Fakes promised in the whole collection, 0 to 10^13."),
        ],
        None,
    ),
    "flip": (_FlipProbability, None),
    "bins": (o.Bins, None),
    "bits": (
        Annotated[int | None, o.whole_option("--bits", "Bits of a free vector, 1 to 64.")],
        None,
    ),
    "ones": (
        Annotated[
            int | None, o.whole_option("--ones", "Others known to hold a one, 0 to --users - 1.")
        ],
        None,
    ),
    "max_set": (
        Annotated[
            int | None, o.whole_option("--max-set", "Most bits that one record sets, 1 to 16.")
        ],
        None,
    ),
    "repeats": (
        Annotated[
            int | None, o.whole_option("--repeats", "Times every record is sent, 1 to 1,000.")
        ],
        None,
    ),
    "shape_decay": (_Decay, None),
    "shape_shift": (
        Annotated[
            int | None, o.whole_option("--shape-shift", "Mean shaped fakes a bin, 1 to 10^5.")
        ],
        None,
    ),
    "observer": (
        Annotated[
            str, typer.Option("--observer", help="Who looks: messages or sums.", metavar="WHO")
        ],
        "messages",
    ),
    "background": (_Text, None),
    "split": (
        Annotated[
            bool, typer.Option("--split", help="Every bit or attribute is a message of its own.")
        ],
        False,
    ),
    "permanent": (
        _number("--permanent", "Chance that a kept bit is a fair coin, 2^-40 to 1.", "F"),
        None,
    ),
    "p": (_number("--p", "Chance that a kept 0 is shown as 1, below --q.", "P"), None),
    "q": (_number("--q", "Chance that a kept 1 is shown as 1, up to 1.", "Q"), None),
    "hashes": (
        Annotated[int | None, o.whole_option("--hashes", "Bits that a value sets, 1 to 64.")],
        None,
    ),
    "reports": (
        Annotated[int | None, o.whole_option("--reports", "Reports from one memory, 1 to 10^6.")],
        None,
    ),
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
    """The law's parameters, the flip probability as an integer; only honest fakes and people count.

    Raises ParameterError for an unknown protocol and for what no law can take.
    """
    from mixtally.errors import ParameterError
    from mixtally.ground.fixed import threshold_of
    from mixtally.privacy.laws import LAWS, Ask
    from mixtally.records.guarantee import Observer, arriving, checked_fraction
    from mixtally.records.mechanism.fakes import ratio_of

    _one_of("protocol", request.protocol, list(LAWS))
    came = dict(request.came)
    flip, fakes, decay = came.pop("flip"), came.pop("fakes"), came.pop("shape_decay")
    fraction = checked_fraction(request.honest_fraction)
    if fraction < 1.0 and request.protocol in ("memory", "clear-shaped"):
        raise ParameterError(
            "--honest-fraction", wanted="a protocol that counts on people's fakes or flips",
            got=request.protocol, do="leave it out: its noise is no other person's",
        )  # fmt: skip
    if fakes is not None:
        fakes = arriving(fakes, fraction)
    if came["users"] is not None and _counts_people(request):
        came["users"] = arriving(came["users"], fraction)
    observer = _one_of("observer", came.pop("observer"), ["messages", "sums"])
    if came["background"] not in (None, "zero"):
        raise ParameterError(
            "background", wanted="zero", got=repr(came["background"]), do="leave it out for any"
        )
    return Ask(
        threshold=None if flip is None else threshold_of(flip),
        ratio=None if decay is None else ratio_of(decay),
        shift=came.pop("shape_shift"),
        fakes=fakes,
        observer=Observer(observer),
        **came,
    )


def _counts_people(request: Request) -> bool:
    """Whether other people's flips are what hides a person."""
    came = request.came
    always = request.protocol in ("flip", "single-bit")
    # A split record's bits are seen one by one, as sums are: there everybody's flips hide them.
    summed = came["split"] and request.protocol == "flip-uniform"
    return always or summed or came["count_crowd"] or came["observer"] == "sums"


def as_sent(request: Request, ask: "Ask") -> "Ask":
    """``ask`` with everybody who takes part and every fake that is promised, honest or not.

    Errors are those of all messages; where fakes were to be found, so many must be promised that
    enough of them arrive.
    """
    from dataclasses import replace

    from mixtally.records.guarantee import promised

    fakes = request.came["fakes"]
    if fakes is None and ask.fakes is not None:
        fakes = promised(ask.fakes, request.honest_fraction)
    return replace(ask, users=request.came["users"], fakes=fakes)


def _one_of(subject: str, got: str, names: list[str]) -> str:
    from mixtally.errors import ParameterError

    if got not in names:
        raise ParameterError(
            subject, wanted="one of " + ", ".join(names), got=repr(got), do="choose one"
        )
    return got


def law_facts(request: Request, ask: "Ask") -> dict[str, Any]:
    """The law's parameters as they were counted, and what is left when mixes collude."""
    import math

    from mixtally.ground.fixed import SCALE
    from mixtally.privacy import laws
    from mixtally.privacy.divergence import memoized as remembered
    from mixtally.privacy.laws.single import kept

    facts: dict[str, Any] = {
        "protocol": request.protocol,
        "honest_fraction": request.honest_fraction,
    }
    facts |= {name: value for name, value in request.flags().items() if name != "observer"}
    if ask.threshold is not None:
        facts |= {"flip_probability": ask.threshold / SCALE, "flip_threshold": ask.threshold}
    if ask.ratio is not None:
        facts |= {
            "shape_decay": math.log(SCALE / ask.ratio),
            "shape_shift": ask.shift,
            "shape_ratio": ask.ratio,
        }
    if request.protocol == "memory":
        loss = remembered.loss(kept(ask))
        facts |= {"eps_inf": loss.eps_inf, "eps_1": loss.eps_1, "eps_T": loss.eps_T}
        facts["permanent"] = ask.permanent
        return facts
    local = laws.local_epsilon(request.protocol, ask)
    facts["fakes"] = as_sent(request, ask).fakes
    facts["fakes_counted"] = ask.fakes
    facts["users_counted"] = ask.users if _counts_people(request) else None
    return facts | {"local_epsilon": local if math.isfinite(local) else None}
