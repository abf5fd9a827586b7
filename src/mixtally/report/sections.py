"""Sections that documents of several kinds have: what is promised, what is not, the plan."""

from collections.abc import Iterable, Mapping
from typing import Any

from mixtally.report.document import Bullets, FactTable, Section, Text


def promises(
    told: Iterable[str], not_told: Iterable[str], title: str = "What is promised"
) -> tuple[Section, Section]:
    """What is promised in sentences, and what nobody must take for granted."""
    return (
        Section(title, tuple(map(Text, told))),
        Section("What is not promised", (Bullets.of(not_told),)),
    )


def the_plan(
    reason: str, *plans: Mapping[str, Any], title: str = "The plan", note: str = ""
) -> Section:
    """What plans say, side by side; why they were chosen is for whoever ran the command."""
    said = [Text(reason, own=True)] * bool(reason) + [Text(note, note=True)] * bool(note)
    return Section(title, (*said, FactTable(plans)))
