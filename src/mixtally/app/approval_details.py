"""Statements of the controller that an approval page shows.

A plan cannot state why a collection takes place, on which legal basis, or who answers for it. The
controller writes these statements into a small TOML file, which ``plan``, ``contract new`` and
``contract show`` read.
"""

import datetime
import tomllib
from collections.abc import Mapping
from pathlib import Path

import msgspec

from mixtally.errors import PlanError
from mixtally.primitives.files import read_bytes
from mixtally.report.numbers import printable

_SEE = "see docs/how-to/plan.md for an example"


class ApprovalDetails(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Statements of a controller about a collection, in addition to its plan.

    Parameters
    ----------
    purpose : str or None
        Reason for the collection.
    legal_basis : str or None
        The law, consent or decision that allows the collection.
    retention : str or None
        How long the published counts and the tallies are kept.
    contact : str or None
        The person who answers questions about the collection.
    version, date : str or None, datetime.date or None
        Version and date of the document.
    sign_off : tuple of str
        The roles that sign the document, one line for each.

    Raises
    ------
    PlanError
        If a statement has no text.
    """

    purpose: str | None = None
    legal_basis: str | None = None
    retention: str | None = None
    contact: str | None = None
    version: str | None = None
    date: datetime.date | None = None
    sign_off: tuple[str, ...] = ("Controller", "Data protection officer")

    def __post_init__(self) -> None:
        texts = {name: (getattr(self, name),) for name in _TEXTS} | {"sign_off": self.sign_off}
        for name, given in texts.items():
            if not all(text is None or text.strip() for text in given):
                raise PlanError(
                    "approval details",
                    expected=f"text for {name}",
                    got="an empty text",
                    do="write a text, or leave the field out",
                )

    def statements(self) -> tuple[tuple[str, str], ...]:
        """Return a pair of name and text for every statement; a missing text is "not stated"."""
        given = {name: getattr(self, name) for name in _TEXTS} | {"date": self.date}
        return tuple(
            (name, "not stated" if given[field] is None else printable(str(given[field])))
            for name, field in _SHOWN
        )


_TEXTS = ("purpose", "legal_basis", "retention", "contact", "version")
_SHOWN = (
    ("purpose", "purpose"),
    ("legal basis", "legal_basis"),
    ("retention", "retention"),
    ("contact", "contact"),
    ("version of this document", "version"),
    ("date of this document", "date"),
)


def read_approval_details(given: str | Path | Mapping[str, object]) -> ApprovalDetails:
    """Return the details in a TOML file, or in a mapping with the fields of such a file.

    Raises
    ------
    DataError
        If the file cannot be read.
    PlanError
        If the file is not TOML, or a field has an unknown name or a value of another type.
    """
    subject = "approval" if isinstance(given, Mapping) else str(given)
    try:
        if isinstance(given, Mapping):
            fields = dict(given)
        else:
            data = read_bytes(Path(given), "the details of an approval page", _SEE)
            fields = tomllib.loads(data.decode())
        return msgspec.convert(fields, ApprovalDetails, strict=True)
    except (ValueError, RecursionError) as error:
        raise PlanError(
            subject,
            expected="TOML with purpose, legal_basis, retention, contact, version, date and "
            "sign_off, or some of them",
            got=f"something else ({error})",
            do=_SEE,
        ) from error
