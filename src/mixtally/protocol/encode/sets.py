"""Sets written in one cell: labels between separators."""

from collections.abc import Iterable, Iterator, Sequence

from mixtally.errors import DataError


def parse_members(text: str, separator: str, subject: str, whole: Sequence[str] = ()) -> list[str]:
    """The distinct labels of a set in the order in which they stand, spaces around them dropped.

    A label that is named twice counts once; a separator at the end ends the last one. Those that
    hold a separator themselves are found if they are among ``whole``, the longest first.

    Raises DataError for an empty label between separators.
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
    """The ``labels`` that hold the separator, the longest first: what ``members`` finds whole."""
    return sorted((label for label in labels if separator in label), key=len, reverse=True)


def _split_labels(text: str, separator: str, whole: Sequence[str]) -> Iterator[str]:
    """The labels one after the other; ``whole`` ones count where a separator or the end follows."""
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
