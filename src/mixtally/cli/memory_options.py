"""How answers are memoized, and how their values are hashed: options, declared once."""

from pathlib import Path
from typing import Annotated, Any

import typer

from mixtally.cli import options as o
from mixtally.cli.hashing import Candidates

LEVELS: dict[str, tuple[Any, Any]] = {
    "permanent": (
        Annotated[
            float | None,
            typer.Option(
                "--permanent", help="Chance that a kept bit is a coin (default 0.5).", metavar="F"
            ),
        ],
        None,
    ),
    "p": (
        Annotated[
            float | None,
            typer.Option(
                "--p", help="Chance that a kept 0 is shown as 1 (default 0.5).", metavar="P"
            ),
        ],
        None,
    ),
    "q": (
        Annotated[
            float | None,
            typer.Option(
                "--q", help="Chance that a kept 1 is shown as 1 (default 0.75).", metavar="Q"
            ),
        ],
        None,
    ),
    "reports": (
        Annotated[
            int | None,
            o.whole_option("--reports", "Reports of every person's memoized answer (default 1)."),
        ],
        None,
    ),
    "state": (
        Annotated[
            Path | None,
            typer.Option(
                "--state",
                "--memory-file",
                help="Keep memoized answers here, and use those kept before; the key lies beside, "
                "in FILE.key.",
                metavar="FILE",
            ),
        ],
        None,
    ),
}
"""The two levels of noise, the number of reports, and where memoized answers are kept."""
USUAL: dict[str, Any] = {"permanent": 0.5, "p": 0.5, "q": 0.75, "reports": 1}

BLOOM: dict[str, tuple[Any, Any]] = {
    "bloom_bits": (
        Annotated[
            int | None,
            o.whole_option("--bloom-bits", "Hash values into this many bits, 8 to 65,536."),
        ],
        None,
    ),
    "hashes": (
        Annotated[
            int | None, o.whole_option("--hashes", "Bits a hashed value sets, 1 to 16 (default 2).")
        ],
        None,
    ),
    "cohorts": (
        Annotated[
            int | None,
            o.whole_option("--cohorts", "Groups of people who hash differently (default 8)."),
        ],
        None,
    ),
    "candidates": (Candidates, None),
}  # fmt: skip
"""Values of an open domain, hashed into bits that cohorts share."""


def filled(levels: dict[str, Any]) -> dict[str, Any]:
    """``levels`` with what is usual where nothing was given."""
    return {name: USUAL.get(name) if value is None else value for name, value in levels.items()}
