"""Sets that are written in one cell of a table, as labels between separators.

The readers of ``lab.data`` call this module for questions about sets.
"""

from collections.abc import Iterable, Iterator, Sequence

from mixtally.errors import DataError


def parse_members(text: str, separator: str, subject: str, whole: Sequence[str] = ()) -> list[str]:
    """Return the distinct labels of a set in their order in the cell, without surrounding spaces.

    A label that occurs twice is returned once. A separator at the end is ignored.

    Parameters
    ----------
    text : str
        The cell of the table.
    separator : str
        The text between two labels.
    subject : str
        The place of the cell for the error message, such as a file and a line.
    whole : sequence of str
        Labels of the question that contain the separator themselves, longest first. They are not
        split.

    Raises
    ------
    DataError
        If a label between two separators is empty.
    """
    labels = list(dict.fromkeys(_split_labels(text.strip(), separator, whole)))
    if len(labels) > 1 and labels[-1] == "":
        labels.pop()
    if "" in labels:
        raise DataError(
            subject,
            expected=f"labels between {separator!r}",
            got=repr(text),
            do="remove the separator that stands alone",
        )
    return labels


def labels_with_separator(labels: Iterable[str], separator: str) -> list[str]:
    """Return the labels that contain the separator, longest first, for ``parse_members``.

    Parameters
    ----------
    labels : iterable of str
        The labels of the question.
    separator : str
        The text between the members of a set.
    """
    return sorted((label for label in labels if separator in label), key=len, reverse=True)


def _split_labels(text: str, separator: str, whole: Sequence[str]) -> Iterator[str]:
    """Yield the labels between separators.

    A label of ``whole`` is recognized only where a separator or the end of the text follows it.
    """
    while True:
        for label in whole:
            rest = text[len(label) :].lstrip()
            if text.startswith(label) and (not rest or rest.startswith(separator)):
                part, found = label, rest[: len(separator)]
                rest = rest[len(separator) :]
                break
        else:
            part, found, rest = text.partition(separator)
        yield part.strip()
        if not found:
            return
        text = rest.lstrip()
