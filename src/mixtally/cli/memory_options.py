"""How answers are memoized, and how their values are hashed: options, declared once."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NamedTuple

from mixtally.cli import options as o
from mixtally.cli.hashing import Candidates


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What people answer: the column, and all that it may hold."""

    column: Annotated[str, o.option("--column", "The column to count.", "NAME")]
    labels: o.Labels = None


class Levels(NamedTuple):
    """What the options of the levels come to, with what is usual where nothing was given."""

    permanent: float
    p: float
    q: float
    reports: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelOptions:
    """The two levels of noise, the number of reports, and where memoized answers are kept."""

    permanent: Annotated[
        float | None,
        o.option("--permanent", "Chance that a kept bit is a coin (default 0.5).", "F"),
    ] = None
    p: Annotated[
        float | None, o.option("--p", "Chance that a kept 0 is shown as 1 (default 0.5).", "P")
    ] = None
    q: Annotated[
        float | None, o.option("--q", "Chance that a kept 1 is shown as 1 (default 0.75).", "Q")
    ] = None
    reports: Annotated[
        int | None,
        o.whole_option("--reports", "Reports of every person's memoized answer (default 1)."),
    ] = None
    state: Annotated[
        Path | None,
        o.option(
            "--state",
            "The key of the crowd's devices, made here by the first run: the same rows keep "
            "their memoized answers.",
            "FILE",
        ),
    ] = None

    def filled(self) -> Levels:
        """The levels, and how often they are shown."""
        return Levels(
            0.5 if self.permanent is None else self.permanent,
            0.5 if self.p is None else self.p,
            0.75 if self.q is None else self.q,
            1 if self.reports is None else self.reports,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class BloomOptions:
    """Values of an open domain, hashed into bits that cohorts share."""

    bloom_bits: Annotated[
        int | None, o.whole_option("--bloom-bits", "Hash values into this many bits, 8 to 65,536.")
    ] = None
    hashes: Annotated[
        int | None, o.whole_option("--hashes", "Bits a hashed value sets, 1 to 16 (default 2).")
    ] = None
    cohorts: Annotated[
        int | None,
        o.whole_option("--cohorts", "Groups of people who hash differently (default 8)."),
    ] = None
    candidates: Candidates = None
