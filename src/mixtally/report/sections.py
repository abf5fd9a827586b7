"""Sections that several kinds of documents have: the guarantee, its limits, and the plan.

The documents of ``app`` and ``lab.simulation`` call these functions.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from mixtally.report.document import Bullets, FactTable, Section, Text

_READ = (
    "protocol", "cover", "hops", "epsilon", "delta", "local_epsilon", "users", "minimum_crowd",
    "standard_error", "messages_per_user",
)  # fmt: skip
"""The facts of a plan that a page shows; the others are folded."""


def promise_sections(
    promised: Iterable[str], not_promised: Iterable[str]
) -> tuple[Section, Section]:
    """Return the section of what is promised, and the section of what is not.

    Parameters
    ----------
    promised : iterable of str
        Sentences about what is promised.
    not_promised : iterable of str
        Sentences about what is not promised.
    """
    return (
        Section("What is promised", tuple(map(Text, promised))),
        Section("What is not promised", (Bullets.of(not_promised),)),
    )


def plan_section(reason: str, *plans: Mapping[str, Any], note: str = "") -> Section:
    """Return the section with the facts of plans in columns.

    Parameters
    ----------
    reason : str
        The reason why the plans were chosen. A published page omits it.
    note : str
        A remark below the table; empty for none.
    *plans : mapping of str to object
        The facts of each plan.
    """
    said = [Text(reason, for_user=True)] * bool(reason) + [Text(note, note=True)] * bool(note)
    return Section("The plan", (*said, *plan_facts(*plans)))


def plan_facts(*plans: Mapping[str, Any], read: Collection[str] = _READ) -> tuple[FactTable, ...]:
    """Return two tables with the facts of plans in columns.

    The first has the facts in ``read``. The second has all others, and a page shows it folded.
    """
    shown = tuple({name: p[name] for name in read if name in p} for p in plans)
    others = tuple({name: fact for name, fact in p.items() if name not in read} for p in plans)
    if not any(others):
        return (FactTable(shown),)
    if len(plans) > 1:  # the name of the protocol is the heading of a column
        others = tuple(
            {"protocol": whole["protocol"], **facts}
            for facts, whole in zip(others, plans, strict=True)
        )
    return FactTable(shown), FactTable(others, "All other numbers of the plan")
