"""Display of a device's diary: lines for people, facts for programs."""

import math
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from mixtally.device.client.net import BundleState, DiaryCharge, Entry
from mixtally.device.wire.arrivals import TAG_BYTES
from mixtally.report.numbers import at_most

_ENDS = {
    BundleState.TAKEN: "taken",
    BundleState.REFUSED: "refused, not to be sent again",
    BundleState.OVER: "no answer before the end of the round",
}

_REFUSALS = {
    409: "refused, because another bundle was accepted with this code in this round",
    410: "refused, because the round has closed, or was ended by its operators",
    429: "refused, because the round accepts no more bundles",
}
"""Reasons for which a role refuses a bundle, by the HTTP status of its response."""


def utc(seconds: int) -> str:
    """Return a time in UTC as text."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def entry_line(entry: Entry) -> str:
    """Return a line about a round: its state, times, number of attempts and size."""
    said = "" if entry.status is None else f" ({entry.status})"
    if entry.is_pending:
        state = f"pending{said}, due {utc(entry.due)}"
    else:
        ended = _ENDS[entry.state]
        if entry.state is BundleState.REFUSED and entry.status is not None:
            ended = _REFUSALS.get(entry.status, ended)
        state = f"{ended}{said}, {utc(entry.ended or entry.made)}"
    sending = "nothing sent" if entry.left is None else f"sent {utc(entry.left)}"
    tries = "1 try" if entry.tries == 1 else f"{entry.tries} tries"
    return f"{entry.name} round {entry.round}: {state}; {sending}, {tries}, {entry.size:,} bytes"


def entry_facts(entry: Entry) -> dict[str, Any]:
    """Return all facts about a round by name, except the tags of its messages."""
    more = {"tags": [entry.tags[:TAG_BYTES].hex()], "watched": entry.is_watched}
    return {**entry._asdict(), "state": entry.state.value, **more}


def log_lines(entries: Sequence[Entry], charges: Sequence[DiaryCharge]) -> list[str]:
    """Return the lines of a whole diary."""
    if not entries:
        return ["Nothing was charged, and nothing was sent."]
    epsilon, delta = _total(charges)
    return [
        *map(entry_line, entries),
        *(
            f"charged {utc(one.made)}: {one.name}, epsilon {at_most(one.epsilon, 6)}, delta "
            f"{at_most(one.delta, 6)} for {one.collections:,} rounds or fewer"
            for one in charges
        ),
        f"in total: epsilon {at_most(epsilon, 6)}, delta {at_most(delta, 6)}",
    ]


def log_facts(entries: Sequence[Entry], charges: Sequence[DiaryCharge]) -> dict[str, Any]:
    """Return the facts of a whole diary."""
    epsilon, delta = _total(charges)
    return {
        "epsilon": epsilon,
        "delta": delta,
        "charges": [one._asdict() for one in charges],
        "rounds": list(map(entry_facts, entries)),
    }


def _total(charges: Sequence[DiaryCharge]) -> tuple[float, float]:
    """Return the total epsilon and delta of the charges, rounded up."""
    # A single charge is reported exactly, without rounding.
    if len(charges) < 2:
        return (charges[0].epsilon, charges[0].delta) if charges else (0.0, 0.0)
    # fsum rounds to the nearest number, so the next larger number is an upper bound of the sum.
    epsilon, delta = (
        math.nextafter(math.fsum(costs), math.inf)
        for costs in zip(*((one.epsilon, one.delta) for one in charges), strict=True)
    )
    return epsilon, delta
