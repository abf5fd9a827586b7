"""Values of planes that were worked out elsewhere, in fractions or to 40 digits."""

import json
from pathlib import Path

GOLDEN = json.loads(
    (Path(__file__).parents[1] / "accounting" / "planes_golden.json").read_text(encoding="utf-8")
)
"""Kind -> entries, each with its id, its inputs and its value."""


def golden(kind):
    """(inputs, value) of every entry of this kind."""
    return [(entry["inputs"], entry["value"]) for entry in GOLDEN[kind]]
