"""What was played as JSON and CSV, all digits kept."""

import csv
import io
import json

from mixtally.lab.memories.prices import Facts


def json_text(facts: Facts) -> str:
    """All of it as JSON."""
    return json.dumps(facts, indent=1, allow_nan=False) + "\n"


def csv_text(facts: Facts) -> str:
    """The estimates, one line a bin or word, largest first."""
    out = io.StringIO()
    rows = ranked(facts)
    writer = csv.DictWriter(out, fieldnames=list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def ranked(facts: Facts) -> list[Facts]:
    """The estimates, largest first."""
    return sorted(facts["estimates"], key=lambda row: -row["estimate"])
