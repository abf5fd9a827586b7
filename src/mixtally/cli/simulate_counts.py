"""``mixtally simulate --counts-only``: tallies drawn from counts, for any number of people."""

from dataclasses import dataclass
from typing import Annotated

from mixtally.cli import options as o
from mixtally.cli.progress import progress_bars
from mixtally.cli.screen import warn
from mixtally.errors import ParameterError
from mixtally.lab.data.file import DataFile
from mixtally.lab.data.readers import read_counts
from mixtally.lab.data.reading import As, Reading
from mixtally.lab.simulation.counts_only import Histogram, counted_before
from mixtally.model.question import Question


@dataclass(frozen=True, slots=True, kw_only=True)
class CountsOptions:
    """Whether messages are drawn, or their tally alone."""

    counts_only: o.CountsOnly = False
    counts: Annotated[
        str | None,
        o.option("--counts", "A row a value: the column of how many people hold it.", "NAME"),
    ] = None

    @property
    def asked(self) -> bool:
        """Whether tallies alone are drawn."""
        return self.counts_only or self.counts is not None


def refuse(options: CountsOptions, other: list[str]) -> None:
    """Raises ParameterError for what needs whole messages, or people one by one."""
    if other:
        raise ParameterError(
            "--counts-only" if options.counts is None else "--counts",
            wanted="counts of bins",
            got="also " + ", ".join(other),
            do="leave these out, or play the whole simulation: a tally does not say who holds "
            "what together",
        )


def counted_crowd(
    file: DataFile, reading: Reading, counts: str, question: Question | None
) -> Histogram:
    """The crowd of a file that has been counted.

    Raises ParameterError for records that are more than one value, errors as ``read_counts``.
    """
    if reading.form is not As.ONE or reading.person is not None:
        raise ParameterError(
            "--counts",
            wanted="one value a person, in one column",
            got=f"records read as {reading.form}" + " of a person" * (reading.person is not None),
            do="leave the other columns out",
        )
    with progress_bars() as progress:
        found = read_counts(file, reading, counts, question, progress)
    warn(found.warning)
    return counted_before(found)
