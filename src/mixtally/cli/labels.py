"""Files of labels, one label per line."""

from pathlib import Path

from mixtally.errors import DataError
from mixtally.lab.data.label_merging import check_spaces, normalize_nfc
from mixtally.model.question import CONTROL_CHARACTERS
from mixtally.primitives.files import read_whole


def read_labels(
    path: Path | None, least: int = 1, most: int | None = None
) -> tuple[str, ...] | None:
    """Return the labels in a file, in order; None without a file.

    Parameters
    ----------
    path : Path or None
        The file: UTF-8, one label per line. Empty lines at the end are ignored.
    least, most : int, int or None
        Smallest and largest accepted number of labels.

    Raises
    ------
    DataError
        If the file cannot be read, or the labels are not distinct printable texts. The message
        names the file.
    """
    if path is None:
        return None
    try:
        # Not splitlines: it also splits at separators that do not look like the end of a line.
        text = read_whole(path, piped=True).decode("utf-8-sig")
        text = normalize_nfc(text).replace("\r\n", "\n").replace("\r", "\n").rstrip("\n")
        labels = tuple(text.split("\n")) if text else ()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(
            str(path),
            expected="UTF-8 text, one label per line",
            got=error,
            do="check the file",
        ) from error
    _check_lines(str(path), labels)
    check_spaces(str(path), labels)
    if len(labels) < least or (most is not None and len(labels) > most):
        expected = f"{least:,} labels" if least == most else f"at least {least:,} labels"
        do = "write each label once, on a line of its own"
        raise DataError(str(path), expected=expected, got=f"{len(labels):,}", do=do)
    return labels


def _check_lines(subject: str, labels: tuple[str, ...]) -> None:
    """Raise DataError for an empty line, a repeated label or a control character."""
    met: dict[str, int] = {}
    got = "" if labels else "an empty file"
    for line, label in enumerate(labels, 1):
        first = met.setdefault(label, line)
        if not label:
            got = f"line {line:,} empty"
        elif CONTROL_CHARACTERS.search(label):
            got = f"a control character in line {line:,}: {ascii(label)[:80]}"
        elif first != line:
            got = f"{ascii(label)[:80]} in lines {first:,} and {line:,}"
        if got:
            break
    if got:
        expected = "distinct printable labels, one per line"
        do = "write each label once, on a line of its own"
        raise DataError(subject, expected=expected, got=got, do=do)
