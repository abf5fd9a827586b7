"""Values that share bins by a hash: options, declared once."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mixtally.cli import options as o

if TYPE_CHECKING:
    from mixtally.data.reading import Reading
    from mixtally.ground.chance import Chance
    from mixtally.records.question import Question

HASHING: dict[str, tuple[Any, Any]] = {
    "hash_bins": (
        Annotated[
            int | None,
            o.whole_option("--hash-bins", "Bins that values of an open domain share by a hash."),
        ],
        None,
    ),
    "hash_seed": (
        Annotated[
            str | None,
            typer.Option(
                "--hash-seed", help="Key of that hash, 32 hexadecimal digits; drawn if left out.",
                metavar="HEX",
            ),
        ],
        None,
    ),
}  # fmt: skip
Candidates = Annotated[
    Path | None,
    typer.Option("--candidates", help="Words to look for, one a line.", metavar="FILE"),
]


def seed_of(came: str | None, chance: "Chance | None" = None) -> str:
    """The seed given, or one drawn from ``chance``: the operating system's if left out."""
    from mixtally.ground.chance import SecureChance
    from mixtally.records.hashing import drawn_seed

    return came if came is not None else drawn_seed(chance or SecureChance())


def asked_words(
    path: Path | None,
    came: dict[str, Any],
    reading: "Reading",
    beside: dict[str, Any],
    *,
    planned: bool,
) -> tuple[str, ...] | None:
    """The candidates of a simulation, None when each bin is one value.

    Raises ParameterError when only one of --candidates and --hash-bins was given without a plan,
    or what does not go with them: ``beside`` has such options by flag, None where left out.
    """
    from mixtally.errors import ParameterError

    used = [f"--{name.replace('_', '-')}" for name in HASHING if came[name] is not None]
    if path is None:
        if used:
            raise ParameterError(
                "--candidates", wanted=f"a file beside {' and '.join(used)}", got="none",
                do="list the words to look for, one a line",
            )  # fmt: skip
        return None
    if not planned and came["hash_bins"] is None:
        raise ParameterError(
            "--hash-bins", wanted="a number of bins beside --candidates", got="none",
            do="the more, the fewer words share one: 10000 or more for a thousand candidates",
        )  # fmt: skip
    wrong = [flag for flag, value in beside.items() if value is not None]
    wrong += ["--labels"] if reading.labels is not None else []
    wrong += [f"--as {reading.form}"] if reading.form != "one" else []
    if wrong:
        raise ParameterError(
            "--candidates", wanted="one word a person, its counts as they are",
            got=", ".join(wrong) + " beside it", do="leave these out",
        )  # fmt: skip
    return o.read_labels(path)


def hashed_question(came: dict[str, Any], name: str, chance: "Chance") -> "Question":
    """The question whose bins words share, by a hash given or drawn from ``chance``."""
    from mixtally.records.hashing import Hashing
    from mixtally.records.question import Question

    seed = seed_of(came["hash_seed"], chance)
    return Question(name=name, bins=came["hash_bins"], hashed=Hashing(seed=seed))
