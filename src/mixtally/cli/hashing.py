"""Texts of an open domain: options, declared once."""

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
    """The key of the hash by which texts become points."""

    hash_seed: Annotated[
        str | None,
        o.option(
            "--hash-seed",
            "Key by which texts of an open domain are hashed, 32 hexadecimal digits; drawn if "
            "left out.",
            "HEX",
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
) -> tuple[str, ...] | None:
    """The words that are looked for, None where the data say which values there are.

    Raises ParameterError for a key without them, and for what does not go with them: ``beside`` has
    such flags.
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
    wrong = [*beside]
    wrong += ["--labels"] if reading.labels is not None else []
    wrong += [f"--as {reading.form}"] if reading.form not in ("one", "set") else []
    if wrong:
        raise ParameterError(
            "--candidates",
            wanted="one word a person or a set of them, their counts as they are",
            got=", ".join(wrong) + " beside it",
            do="leave these out",
        )
    return read_labels(path)
