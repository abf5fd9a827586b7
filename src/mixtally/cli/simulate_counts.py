"""``mixtally simulate --counts``: people who come counted, for any number of them."""

from mixtally.cli.progress import progress_bars
from mixtally.cli.screen import warn
from mixtally.errors import ParameterError
from mixtally.lab.data.file import DataFile
from mixtally.lab.data.readers import read_counts
from mixtally.lab.data.reading import As, Reading
from mixtally.lab.simulation.counts_only import Histogram, counted_before
from mixtally.model.question import Question


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
