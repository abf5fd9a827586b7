"""Event log of a role for its operator: one line per event on standard error, as text or JSON.

    2027-01-10T08:00:00Z round closed contract=opinion round=1
    {"time": "2027-01-10T08:00:00Z", "event": "round closed", "contract": "opinion", "round": 1}

An event is logged once by ``node.log.tell("round refused", round=1, because=WORDS)``, or for a
round by ``node.tell(row, "round refused", because=WORDS)``.
A lasting condition is logged only when it begins and when it ends, even if it is reported often, by
``node.log.set_condition(Condition.CLOCK, jumped, seconds=90)``. ``/readyz`` shows it meanwhile.
Lines contain names of roles and contracts, round numbers and times, and no data of clients.

Source: logfmt, for the text format.
"""

import json
import re
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from enum import Enum
from threading import Lock
from typing import Any, NamedTuple

_PLAIN = re.compile(r"[A-Za-z0-9._/:+-]{1,200}")
_MOST_WORDS = 200
_MAX_CONDITIONS = 1000
FieldValue = str | int | float
"""Value of a field in a line; never data from a request."""


class ConditionKind(NamedTuple):
    """Description of a lasting condition."""

    begins: str
    ends: str
    """The events that are logged when the condition begins and when it ends."""
    by: tuple[str, ...] = ()
    """The names of the fields by which several conditions of this kind differ."""
    waits: bool = True
    """Whether the role is not ready while the condition lasts."""


class Condition(Enum):
    """All lasting conditions, which are logged when they begin and when they end."""

    WAITING = ConditionKind("waiting", "waiting no more", ("contract", "serial", "role"))
    DISK = ConditionKind("disk low", "disk has room")
    INTAKE = ConditionKind("intake process hangs", "intake process released", ("number",))
    BUSY = ConditionKind("database locked", "database free", ("file",))
    CLOCK = ConditionKind("clock jumped", "clock agrees")
    RESTARTED = ConditionKind("machine restarted", "clock agrees", waits=False)
    CLOCK_LOST = ConditionKind("clock file lost", "clock agrees", waits=False)
    UNSIGNED = ConditionKind(
        "contract to sign again", "contract signed again", ("fingerprint",), waits=False
    )
    ROTATED_TWICE = ConditionKind(
        "second rotation of a key", "one rotation", ("role",), waits=False
    )
    SILENT = ConditionKind("peer unreachable", "peer back", ("role", "address"), waits=False)
    SKEW = ConditionKind(
        "clock differs", "clock agrees with role", ("role", "address"), waits=False
    )
    SCHEDULE = ConditionKind("schedule waits", "schedule goes on", ("contract",), waits=False)
    CODES = ConditionKind("codes missing", "codes loaded", ("contract", "serial"), waits=False)
    LOOP = ConditionKind("loop busy", "loop free")


def print_line(line: str) -> None:
    """Print a line on standard error; a closed standard error is ignored."""
    with suppress(OSError, ValueError):
        # One call, because the lines of two threads could be mixed if text and line end were
        # written separately.
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()


def discard_line(line: str) -> None:
    """Discard a line."""


class Log:
    """Writer of events and conditions, which several threads may share.

    ``write`` receives each line, which is JSON if ``as_json`` is true. ``clock`` returns the time
    in seconds since 1970.
    """

    def __init__(
        self,
        write: Callable[[str], None] = discard_line,
        *,
        as_json: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._write, self._as_json, self._clock = write, as_json, clock
        self._turn = Lock()
        self.refusals: Counter[str] = Counter()
        """The number of refused requests by kind; the HTTP server increases it."""
        self.changes = 0
        """Number of times that a condition has begun or ended."""
        self._lasting: dict[
            tuple[Condition, tuple[FieldValue | None, ...]], dict[str, FieldValue]
        ] = {}

    def tell(self, event: str, /, **said: FieldValue) -> None:
        """Log an event; ``event`` is a short fixed text and ``said`` are its fields."""
        line: dict[str, Any] = {"time": format_time(self._clock()), "event": event, **said}
        if self._as_json:
            self._write(json.dumps(line))
        else:
            fields = "".join(f" {name}={_format_value(value)}" for name, value in said.items())
            self._write(f"{line['time']} {event}{fields}")

    def set_condition(self, what: Condition, is_so: bool, /, **said: FieldValue) -> None:
        """Record whether a condition lasts, and log it if this has changed."""
        kind = what.value
        key = what, tuple(said.get(name) for name in kind.by)
        with self._turn:
            known = self._lasting.get(key)
            if is_so and known is not None:
                # Only the changes are logged, but ``/readyz`` shows the latest fields.
                known.update(said)
            # Above the limit a new condition is not recorded, which bounds the memory.
            if is_so == (known is not None) or (is_so and len(self._lasting) >= _MAX_CONDITIONS):
                return
            self.changes += 1
            if known is None:
                since = format_time(self._clock())
                self._lasting[key] = {"event": kind.begins, **said, "since": since}
            else:
                said = {**self._lasting.pop(key), **said}
                del said["event"]
        # Outside the lock, because writing a line may block.
        self.tell(kind.begins if is_so else kind.ends, **said)

    def list_awaited(self) -> list[dict[str, FieldValue]]:
        """Return the fields and start time of each condition that makes the role not ready."""
        with self._turn:
            return [dict(said) for (what, _), said in self._lasting.items() if what.value.waits]

    def list_warnings(self) -> list[dict[str, FieldValue]]:
        """Return the fields and start time of each condition that leaves the role ready."""
        with self._turn:
            return [dict(said) for (what, _), said in self._lasting.items() if not what.value.waits]


def format_time(seconds: float) -> str:
    """Return a time as UTC text, to the second."""
    with suppress(OverflowError, OSError, ValueError):
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
    # A signed time can be outside the range of the C library.
    return str(seconds)


def _format_value(value: FieldValue) -> str:
    plain = str(value)
    return plain if _PLAIN.fullmatch(plain) else json.dumps(plain[:_MOST_WORDS])
