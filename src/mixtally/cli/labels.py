"""Files of labels, one label per line, and files that assign each label to a group."""

import csv
import io
from pathlib import Path

from mixtally.app.analysis import Groups
from mixtally.device.contract.question import CONTROL_CHARACTERS
from mixtally.errors import DataError
from mixtally.lab.data.label_merging import check_spaces, normalize_nfc
from mixtally.primitives.files import read_whole

_GROUPS_HEADER = ["label", "group"]


def read_labels(path: Path | None, least: int = 1) -> tuple[str, ...] | None:
    """Return the labels in a file, in order; None without a file.

    Parameters
    ----------
    path : Path or None
        The file: UTF-8, one label per line. Empty lines at the end are ignored.
    least : int
        The smallest accepted number of labels.

    Raises
    ------
    DataError
        If the file cannot be read, or the labels are not distinct printable texts. The message
        names the file.
    """
    if path is None:
        return None
    try:
        # The method splitlines is not used, because it also splits at characters that editors do
        # not show as the end of a line.
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
    if len(labels) < least:
        expected = f"at least {least:,} labels"
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


def read_groups(path: Path) -> Groups:
    """Return the groups in a CSV file, in the order in which they occur, each with its labels.

    Raises
    ------
    DataError
        If the header is not ``label,group``, a row does not have two nonempty cells, a cell
        contains a control character, or a label occurs twice. The message names the file and the
        row.
    """
    subject = str(path)
    try:
        text = normalize_nfc(read_whole(path, piped=True).decode("utf-8-sig"))
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(
            subject,
            expected="a CSV of labels and groups in UTF-8",
            got=error,
            do="check the file",
        ) from error
    if not rows or rows[0] != _GROUPS_HEADER:
        head = ascii(",".join(rows[0] if rows else []))[:80]
        raise DataError(
            subject, expected="the header label,group", got=head,
            do="write these two names in the first line",
        )  # fmt: skip
    found: dict[str, list[str]] = {}
    row_of: dict[str, int] = {}
    for number, row in enumerate(rows[1:], 2):
        label, group = _parse_group_row(subject, number, row)
        if label in row_of:
            raise _row_error(subject, number, "a label that occurs once",
                         f"{label!r}, which is also in row {row_of[label]:,}",
                         "remove one of the two rows")  # fmt: skip
        row_of[label] = number
        found.setdefault(group, []).append(label)
    if not found:
        raise DataError(subject, expected="a row for each label", got="the header only",
                        do="add rows with a label and its group")  # fmt: skip
    return tuple((group, tuple(labels)) for group, labels in found.items())


def _parse_group_row(subject: str, number: int, row: list[str]) -> tuple[str, str]:
    """Return the label and the group in a row; raise DataError if the row is not such a pair."""
    if len(row) != len(_GROUPS_HEADER) or not all(row):
        raise _row_error(subject, number, "a label and a group", ascii(",".join(row))[:80],
                     "write both, and quote a label that contains a comma")  # fmt: skip
    if any(CONTROL_CHARACTERS.search(cell) for cell in row):
        raise _row_error(subject, number, "printable text", ascii(",".join(row))[:80],
                     "remove the control character")  # fmt: skip
    return row[0], row[1]


def _row_error(subject: str, number: int, expected: str, got: str, do: str) -> DataError:
    return DataError(f"{subject}, row {number:,}", expected=expected, got=got, do=do)
