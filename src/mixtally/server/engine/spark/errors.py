"""What went wrong on a cluster, in one sentence out of Spark's many."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from mixtally.errors import DataError, MixtallyError

_OURS = "mixtally.errors."
_RAISED = re.compile(r"(?!pyspark|py4j)[A-Za-z_][\w.]*(Error|Exception|Lost|Failure)\b.*: ")
_MOST = 300


@contextmanager
def errors_of_spark() -> Iterator[None]:
    """Whatever Spark raises is a DataError that says what a task said, where one did."""
    try:
        yield
    except MixtallyError:
        raise
    except Exception as error:  # Spark's and Java's errors have no one parent
        raise DataError(
            "engine",
            wanted="a job whose tasks all end",
            got=_said(error),
            do="mend that and begin again: the same bytes leave",
        ) from error


def _said(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    raised = [line for line in lines if _RAISED.match(line)]
    if not raised:
        return lines[0][:_MOST] if lines else type(error).__name__
    last = raised[-1]
    return last.removeprefix(_OURS).partition(": ")[2] if last.startswith(_OURS) else last[:_MOST]
