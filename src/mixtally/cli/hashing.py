"""Values that share bins by a hash: options, declared once."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from mixtally.app.options import flags
from mixtally.cli import options as o
from mixtally.cli.labels import read_labels
from mixtally.data.reading import Reading
from mixtally.errors import ParameterError
from mixtally.ground.chance import Chance, SecureChance
from mixtally.records.hashing import drawn_seed

Candidates = Annotated[
    Path | None, o.option("--candidates", "Words to look for, one a line.", "FILE")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class HashingOptions:
    """Bins that are shared, and the key of the hash."""

    hash_bins: Annotated[
        int | None,
        o.whole_option("--hash-bins", "Bins that values of an open domain share by a hash."),
    ] = None
    hash_seed: Annotated[
        str | None,
        o.option(
            "--hash-seed", "Key of that hash, 32 hexadecimal digits; drawn if left out.", "HEX"
        ),
    ] = None

    def seed(self, chance: Chance | None = None) -> str:
        """The seed given, or one drawn from ``chance``: the operating system's if left out."""
        given = self.hash_seed
        return given if given is not None else drawn_seed(chance or SecureChance())


def asked_words(
    path: Path | None,
    hashing: HashingOptions,
    reading: Reading,
    beside: list[str],
    *,
    planned: bool,
) -> tuple[str, ...] | None:
    """The candidates of a simulation, None when each bin is one value.

    Raises ParameterError when only one of --candidates and --hash-bins was given without a plan,
    or what does not go with them: ``beside`` has such flags.
    """
    if path is None:
        if used := flags(hashing):
            raise ParameterError(
                "--candidates",
                wanted=f"a file beside {' and '.join(used)}",
                got="none",
                do="list the words to look for, one a line",
            )
        return None
    if not planned and hashing.hash_bins is None:
        raise ParameterError(
            "--hash-bins",
            wanted="a number of bins beside --candidates",
            got="none",
            do="the more, the fewer words share one: 10000 or more for a thousand candidates",
        )
    wrong = [*beside]
    wrong += ["--labels"] if reading.labels is not None else []
    wrong += [f"--as {reading.form}"] if reading.form != "one" else []
    if wrong:
        raise ParameterError(
            "--candidates",
            wanted="one word a person, its counts as they are",
            got=", ".join(wrong) + " beside it",
            do="leave these out",
        )
    return read_labels(path)
