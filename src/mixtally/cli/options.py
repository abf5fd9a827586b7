"""Options that several commands share, each declared once."""

import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from fractions import Fraction

    from mixtally.ground.chance import Chance


def whole(text: str | int) -> int:
    """A whole number as people write it: 1000000, 1_000_000, 1,000,000 or 1e6."""
    if isinstance(text, int):  # a default
        return text
    grouped = re.fullmatch(r"\d{1,3}(,\d{3})+", text)
    plain = text.replace(",", "") if grouped else text
    try:
        return int(plain)
    except ValueError:
        try:
            value = float(plain)
        except ValueError:
            value = float("nan")
        if not value.is_integer():
            raise typer.BadParameter(f"{text!r} is not a whole number") from None
        return int(value)


def whole_option(name: str, text: str) -> object:
    """An option for a whole number, in any of the ways people write one."""
    return typer.Option(name, help=text, parser=whole, metavar="N")


def folder_option(text: str) -> Any:
    """The folder that a result goes to, looked at before the work and not after it."""
    return typer.Option("--out", help=text, callback=_free_folder)


def _free_folder(out: Path | None) -> Path | None:
    """``out`` itself; raises DataError when a file is where it, or a folder above it, must be."""
    from mixtally.errors import DataError

    there = next((place for place in (out, *out.parents) if place.exists()), None) if out else None
    if there is not None and not there.is_dir():
        raise DataError(
            str(out), wanted="a folder, new or there already", got=f"the file {there}",
            do="choose another name",
        )  # fmt: skip
    return out


Epsilon = Annotated[float, typer.Option("--epsilon", help="Privacy loss, 0.01 to 20.", metavar="E")]
Delta = Annotated[
    float, typer.Option("--delta", help="Chance left over, 1e-15 to 0.1.", metavar="D")
]
Users = Annotated[int, whole_option("--users", "People expected to take part, 2 to 10^10.")]
Bins = Annotated[int | None, whole_option("--bins", "Possible answers, 2 to 10^7.")]
FakesPerUser = Annotated[
    float | None,
    typer.Option(
        "--fakes-per-user", help="Most fakes a user sends on average, 0 to 999.", metavar="F"
    ),
]
MessagesPerUser = Annotated[
    float | None,
    typer.Option(
        "--messages-per-user",
        help="Most messages a user sends on average, the own report included, 1 to 1,000 "
        "(default 2).",
        metavar="M",
    ),
]
BytesPerUser = Annotated[
    float | None,
    typer.Option(
        "--bytes-per-user", help="Most bytes a user sends on average, at least 1.", metavar="B"
    ),
]
Collections = Annotated[
    int,
    whole_option(
        "--collections", "Times the question will be asked, 1 to 1,000; one guarantee for all."
    ),
]
Mixes = Annotated[
    int, whole_option("--mixes", "Mixes that draw fakes, 1 to 100, any one of them honest.")
]
MinimumCrowd = Annotated[
    int | None,
    whole_option(
        "--minimum-crowd",
        "Users sure to take part, 2 to --users; only their fakes and flips count.",
    ),
]
MixFakes = Annotated[
    bool, typer.Option("--mix-fakes", help="A mix may be trusted to draw the fakes.")
]
CountCrowd = Annotated[
    bool,
    typer.Option(
        "--count-crowd", help="Count other people's flips as fakes; flip and single-bit always do."
    ),
]
LocalEpsilon = Annotated[
    float | None,
    typer.Option(
        "--local-epsilon",
        help="Most epsilon that may be left when every mix colludes, 0.01 to 100.",
        metavar="E",
    ),
]
ProtocolName = Annotated[
    str | None,
    typer.Option(
        "--protocol",
        help="flip-blank, flip-uniform, clear-uniform, clear-shaped, single-bit or flip; chosen by "
        "error when left out.",
        metavar="NAME",
    ),
]
HonestFraction = Annotated[
    float,
    typer.Option(
        "--honest-fraction",
        help="Honest share of the promised fakes, and of the people who are counted on: above 0, "
        "up to 1.",
        metavar="H",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Seed = Annotated[
    int | None,
    typer.Option("--seed", help="Repeatable randomness for experiments.", metavar="N"),
]
Level = Annotated[
    float,
    typer.Option(
        "--level", help="Confidence level of the intervals, between 0 and 1.", metavar="L"
    ),
]
Labels = Annotated[
    Path | None,
    typer.Option("--labels", help="File with the answers in order, one a line.", metavar="FILE"),
]
Top = Annotated[int, typer.Option("--top", min=1, help="Bins in the printed table.", metavar="N")]


def messages_per_user(fakes: float | None, messages: float | None) -> "float | Fraction":
    """The budget in messages a user, out of either way to say it."""
    from mixtally.errors import ParameterError
    from mixtally.ground.fixed import decimal
    from mixtally.planner.request import DEFAULT_MESSAGES

    if fakes is None:
        return DEFAULT_MESSAGES if messages is None else messages
    if not fakes >= 0.0:
        raise ParameterError(
            "fakes per user", wanted="a number of at least 0", got=fakes, do="1 adds one fake each"
        )
    if messages is None:
        return 1 + decimal(fakes) if math.isfinite(fakes) else fakes
    raise ParameterError(
        "budget",
        wanted="--fakes-per-user or --messages-per-user",
        got="both",
        do="give one: M messages are the own report and M - 1 fakes",
    )


def read_labels(path: Path | None) -> tuple[str, ...] | None:
    """The labels in a file, one a line; raises DataError unless they are distinct text."""
    from mixtally.data.population import check_spaces
    from mixtally.errors import DataError
    from mixtally.store.files import read_whole

    if path is None:
        return None
    try:
        # Not splitlines: a label may hold other separators, which nobody sees as the end of a line.
        text = read_whole(path, piped=True).decode("utf-8-sig")
        text = text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n")
        labels = tuple(text.split("\n")) if text else ()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(
            str(path), wanted="UTF-8 text, one label a line", got=str(error), do="check the file"
        ) from error
    distinct = len(set(labels) - {""})
    if not labels or distinct < len(labels):
        raise DataError(
            str(path), wanted="distinct labels, one a line",
            got=f"{len(labels):,} lines, {distinct:,} distinct that are not empty",
            do="remove empty lines and repetitions",
        )  # fmt: skip
    check_spaces(str(path), labels)
    return labels


def chance(seed: int | None) -> "Chance":
    """The operating system's randomness, or a repeatable one for a seed."""
    from mixtally.ground.chance import SecureChance
    from mixtally.simulate.seeded import SeededChance

    return SecureChance() if seed is None else SeededChance(seed)
