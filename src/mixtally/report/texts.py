"""What a document leaves as files: the page, facts as JSON, rows as CSV, all digits kept."""

import csv
import io
import json
from collections.abc import Iterable, Mapping
from typing import Any

from mixtally.records.results import Row
from mixtally.report.document import HOLDS_RAW, REHEARSAL, Document, Facts
from mixtally.report.page import page


def json_text(facts: Mapping[str, Any]) -> str:
    """``facts`` as a JSON file; raises ValueError for NaN and infinities, which JSON lacks."""
    return json.dumps(facts, indent=1, allow_nan=False) + "\n"


def csv_text(rows: Iterable[Mapping[str, Any]], names: Iterable[str] | None = None) -> str:
    """A line a row under ``names``, those of the first row when left out; None is left empty.

    Empty without rows and names.
    """
    table = list(rows)
    heading = list(table[0] if names is None and table else names or ())
    if not heading:
        return ""
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=heading)  # RFC 4180 line ends, so \r is quoted
    writer.writeheader()
    writer.writerows(table)
    return out.getvalue()


_MARK = f"# {REHEARSAL}: {HOLDS_RAW}\r\n"


def whole_facts(document: Document) -> Facts:
    """The document as one JSON object: first whether it holds raw counts, then its promise."""
    mark = {REHEARSAL: HOLDS_RAW} if document.rehearsal else {}
    return {**mark, "promise": list(document.promise), **document.facts()}


def files(document: Document) -> dict[str, str]:
    """The text of every file that a document leaves, by name; a rehearsal's say so first."""
    mark = _MARK if document.rehearsal else ""
    return {
        "report.html": page(document),
        "result.json": json_text(whole_facts(document)),
        **{
            name: mark + csv_text(table.rows, table.names)
            for name, table in document.tables().items()
        },
    }


def row_facts(row: Row) -> Facts:
    """One estimated number, flat; the same names everywhere."""
    return {
        "label": row.label,
        "estimate": row.estimate,
        "standard_error": row.standard_error,
        "lower": row.lower,
        "upper": row.upper,
        "lower_simultaneous": row.lower_simultaneous,
        "upper_simultaneous": row.upper_simultaneous,
    }
