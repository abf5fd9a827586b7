"""Files of groups for ``--total``: a CSV that assigns each label to a group."""

import csv
import io
from pathlib import Path

from mixtally.app.analysis import Groups
from mixtally.errors import DataError
from mixtally.lab.data.label_merging import normalize_nfc
from mixtally.model.question import CONTROL_CHARACTERS
from mixtally.primitives.files import read_whole

_HEAD = ["label", "group"]


def read_groups(path: Path) -> Groups:
    """Return the groups of a file in the order in which they occur, each with its labels.

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
    if not rows or rows[0] != _HEAD:
        head = ascii(",".join(rows[0] if rows else []))[:80]
        raise DataError(
            subject, expected="the header label,group", got=head,
            do="write these two names in the first line",
        )  # fmt: skip
    found: dict[str, list[str]] = {}
    row_of: dict[str, int] = {}
    for number, row in enumerate(rows[1:], 2):
        label, group = _cells(subject, number, row)
        if label in row_of:
            raise _wrong(subject, number, "a label that occurs once",
                         f"{label!r}, which is also in row {row_of[label]:,}",
                         "remove one of the two rows")  # fmt: skip
        row_of[label] = number
        found.setdefault(group, []).append(label)
    if not found:
        raise DataError(subject, expected="a row for each label", got="the header only",
                        do="add rows with a label and its group")  # fmt: skip
    return tuple((group, tuple(labels)) for group, labels in found.items())


def _cells(subject: str, number: int, row: list[str]) -> tuple[str, str]:
    """Return the label and the group of a row; raise DataError for another row."""
    if len(row) != len(_HEAD) or not all(row):
        raise _wrong(subject, number, "a label and a group", ascii(",".join(row))[:80],
                     "write both, and quote a label that contains a comma")  # fmt: skip
    if any(CONTROL_CHARACTERS.search(cell) for cell in row):
        raise _wrong(subject, number, "printable text", ascii(",".join(row))[:80],
                     "remove the control character")  # fmt: skip
    return row[0], row[1]


def _wrong(subject: str, number: int, expected: str, got: str, do: str) -> DataError:
    return DataError(f"{subject}, row {number:,}", expected=expected, got=got, do=do)
