"""Files of labels: one a line, in their order."""

from pathlib import Path

from mixtally.errors import DataError
from mixtally.lab.data.label_merging import check_spaces, normalize_nfc
from mixtally.model.question import CONTROL_CHARACTERS
from mixtally.primitives.files import read_whole


def read_labels(
    path: Path | None, least: int = 1, most: int | None = None
) -> tuple[str, ...] | None:
    """The labels in a file, one a line, from ``least`` to ``most`` of them; empty lines may follow.

    Raises DataError, which names the file, unless they are distinct text that can be printed.
    """
    if path is None:
        return None
    try:
        # Not splitlines: a label may hold other separators, which nobody sees as the end of a line.
        text = read_whole(path, piped=True).decode("utf-8-sig")
        text = normalize_nfc(text).replace("\r\n", "\n").replace("\r", "\n").rstrip("\n")
        labels = tuple(text.split("\n")) if text else ()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(
            str(path), expected="UTF-8 text, one label a line", got=str(error), do="check the file"
        ) from error
    _check_lines(str(path), labels)
    check_spaces(str(path), labels)
    if len(labels) < least or (most is not None and len(labels) > most):
        expected = f"{least:,} labels" if least == most else f"at least {least:,} labels"
        do = "name every bin once, a line each"
        raise DataError(str(path), expected=expected, got=f"{len(labels):,}", do=do)
    return labels


def _check_lines(subject: str, labels: tuple[str, ...]) -> None:
    """Raises DataError for a line that is empty, a repetition, or what a terminal would obey."""
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
        expected = "distinct labels that can be printed, one a line"
        do = "give every label one line of its own"
        raise DataError(subject, expected=expected, got=got, do=do)
