"""Texts of an open domain: options, declared once."""

from pathlib import Path
from typing import Annotated

from mixtally.app.options import flags
from mixtally.app.question import HashingOptions as HashingOptions
from mixtally.cli import options as o
from mixtally.cli.labels import read_labels
from mixtally.errors import ParameterError
from mixtally.lab.data.reading import Reading

Candidates = Annotated[
    Path | None, o.option("--candidates", "Words to look for, one a line.", "FILE")
]


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
