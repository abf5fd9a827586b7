"""Sets written in one cell: labels between separators."""

from mixtally.errors import DataError


def members(text: str, separator: str, most: int | None, subject: str) -> list[str]:
    """The distinct labels of a set in the order in which they stand, spaces around them dropped.

    A label that is named twice counts once. Raises DataError for an empty label between
    separators and for more than ``most`` labels (None: any number).
    """
    labels = list(dict.fromkeys(part.strip() for part in text.split(separator)))
    if "" in labels:
        raise DataError(
            subject,
            wanted=f"labels between {separator!r}",
            got=repr(text),
            do="remove the separator that stands alone",
        )
    if most is not None and len(labels) > most:
        raise DataError(
            subject,
            wanted=f"at most {most} labels, which is what the plan hides",
            got=f"{len(labels)}",
            do="choose which to keep, or plan with a larger --max-set",
        )
    return labels
