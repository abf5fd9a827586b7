"""Files of labels: one a line, in their order."""

from pathlib import Path

from mixtally.data.sameness import check_spaces, composed
from mixtally.errors import DataError
from mixtally.store.files import read_whole


def read_labels(path: Path | None) -> tuple[str, ...] | None:
    """The labels in a file, one a line; raises DataError unless they are distinct text."""
    if path is None:
        return None
    try:
        # Not splitlines: a label may hold other separators, which nobody sees as the end of a line.
        text = read_whole(path, piped=True).decode("utf-8-sig")
        text = composed(text).replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n")
        labels = tuple(text.split("\n")) if text else ()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(
            str(path), wanted="UTF-8 text, one label a line", got=str(error), do="check the file"
        ) from error
    distinct = len(set(labels) - {""})
    if not labels or distinct < len(labels):
        raise DataError(
            str(path),
            wanted="distinct labels, one a line",
            got=f"{len(labels):,} lines, {distinct:,} distinct that are not empty",
            do="remove empty lines and repetitions",
        )
    check_spaces(str(path), labels)
    return labels
