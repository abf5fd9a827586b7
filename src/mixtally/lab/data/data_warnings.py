"""Warnings about values that are probably not answers: missing-value marks, questions, totals.

The readers call these functions with the labels of a column, and pass the warnings on to people.
"""

import re
from collections.abc import Collection, Sequence

from mixtally.errors import DataError
from mixtally.lab.data.file import Origin
from mixtally.lab.data.label_merging import find_similar

_EMPTY = ("na", "n/a", "n.a.", "nan", "<na>", "null", "nil", "none", "missing")
_MARKS = ("-", "--", "?", ".", "-99", "-999")
_ERRORS = ("#n/a", "#div/0!", "#ref!", "#value!", "#name?", "#num!", "#null!")
"""Texts that a workbook shows in a cell that it could not compute."""
_LIKE_MISSING = frozenset(_EMPTY + _MARKS + _ERRORS)
_TOTAL = re.compile(
    r"((sub|grand |column |overall )?totals?|sum|overall|gesamt(summe)?|insgesamt|summe|somme|"
    r"totaal|totale|suma|soma|итого|всего|razem|celkem|合計|总计)(\s*\(.*\))?\s*:?",
    re.IGNORECASE,
)
"""Names of a totals row, in several languages, optionally with a number in parentheses."""
_IMPORT = '{"ImportId"'
_BRACKETS = ("()", "[]", "{}")


def warn_of_missing_marks(labels: Sequence[str]) -> str:
    """Return a warning if a label reads like a missing-value mark, otherwise an empty text."""
    found = [label for label in labels if label.strip().lower() in _LIKE_MISSING]
    if not found:
        return ""
    do = f"say --missing-values {found[0]}"
    return f"{found[0]!r} is counted as an answer; if it means missing, {do}"


def warn_of_similar_labels(labels: Collection[str]) -> str:
    """Return a warning if labels differ only in case or outer spaces, otherwise an empty text."""
    found = find_similar(labels)
    if not found:
        return ""
    names = " and ".join(map(repr, found[:3])) + (" and others" if len(found) > 3 else "")
    flags = "--strip" if len({name.strip() for name in found}) == 1 else "--ignore-case"
    if flags == "--ignore-case" and any(name != name.strip() for name in found):
        flags = "--ignore-case and --strip"
    return f"{names} are counted separately; to merge them, say {flags}"


def check_questions(origin: Origin, column: str, first_texts: Sequence[str | None]) -> None:
    """Raise DataError for rows that a survey tool writes between the header and the answers."""
    for row, text in enumerate(first_texts, start=1):
        # Qualtrics writes a row of JSON objects with the key ImportId below the header.
        if text is not None and text.startswith(_IMPORT):
            raise DataError(
                origin.column(column),
                expected="one row per person",
                got=f"the survey tool's own names of the questions in row {row}",
                do=origin.skip_advice(row),
            )


def is_like_question(column: str, text: str) -> bool:
    """Return whether ``text`` reads like the question of a column, or repeats its name."""
    asked = text.strip()
    return len(asked) > 1 and (asked.endswith("?") or asked.lower() == column.lower())


def is_total(text: str) -> bool:
    """Return whether ``text`` is a name of a totals row."""
    return _TOTAL.fullmatch(text.strip()) is not None


def warn_of_cut_labels(labels: Collection[str]) -> str:
    """Return a warning if a label has an unbalanced bracket, otherwise an empty text.

    In a set, such a label may be only a part of a label that contains the separator.
    """
    for label in labels:
        if any(label.count(pair[0]) != label.count(pair[1]) for pair in _BRACKETS):
            return (
                f"the label {label!r} has half a pair of brackets: if the separator stands inside "
                "options, give them unsplit and list these with --labels"
            )
    return ""
