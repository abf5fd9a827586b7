"""What an operator is told: one line an event on standard error, as text or as JSON.

    2027-01-10T08:00:00Z round closed contract=opinion round=1
    {"time": "2027-01-10T08:00:00Z", "event": "round closed", "contract": "opinion", "round": 1}

What happened once is told by ``node.log.tell("round refused", round=1, because=WORDS)`` or, of a
round, by ``node.tell(row, "round refused", because=WORDS)``.
What is so for a while is told when it begins and when it is over, however often it is looked at, by
``node.log.holds(Lasting.CLOCK, jumped, seconds=90)``; ``/readyz`` answers by it meanwhile.
Lines hold names of roles and contracts, numbers of rounds and times: nothing of whoever asks.

Source: logfmt, for the text.
"""

import json
import re
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from enum import Enum
from threading import Lock
from typing import Any, NamedTuple

_PLAIN = re.compile(r"[A-Za-z0-9._/:+-]{1,200}")
_MOST_WORDS = 200
_MAX_CONDITIONS = 1000
FieldValue = str | int | float
"""A field of a line: never anything that a request held."""


class ConditionKind(NamedTuple):
    """What lasts.

    where
      begins, ends   the words of its two lines
      by             fields that tell two of a kind apart
      waits          whether the role does not do all that it is for meanwhile
    """

    begins: str
    ends: str
    by: tuple[str, ...] = ()
    waits: bool = True


class Condition(Enum):
    """All that is told when it begins and when it is over."""

    WAITING = ConditionKind("waiting", "waiting no more", ("contract", "round", "role"))
    DISK = ConditionKind("disk low", "disk has room")
    CLOCK = ConditionKind("clock jumped", "clock agrees")
    SILENT = ConditionKind("peer unreachable", "peer back", ("role",), waits=False)


def print_line(line: str) -> None:
    """Print a line on standard error; nobody fails because it is closed."""
    with suppress(OSError, ValueError):
        print(line, file=sys.stderr, flush=True)


def discard_line(line: str) -> None:
    """Nothing: nobody wants to know."""


class Log:
    """Tells events; threads may share one.

    where
      write     takes a line
      as_json   whether lines are JSON
      clock     gives seconds since 1970
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
        self._lasting: dict[
            tuple[Condition, tuple[FieldValue | None, ...]], dict[str, FieldValue]
        ] = {}

    def tell(self, event: str, /, **said: FieldValue) -> None:
        """Something happened once; ``event`` is a few fixed words."""
        line: dict[str, Any] = {"time": format_time(self._clock()), "event": event, **said}
        if self._as_json:
            self._write(json.dumps(line))
        else:
            fields = "".join(f" {name}={_format_value(value)}" for name, value in said.items())
            self._write(f"{line['time']} {event}{fields}")

    def set_condition(self, what: Condition, is_so: bool, /, **said: FieldValue) -> None:
        """Something is so, or is not; told where that is new."""
        kind = what.value
        key = what, tuple(said.get(name) for name in kind.by)
        with self._turn:
            known = self._lasting.get(key)
            if is_so == (known is not None) or (is_so and len(self._lasting) >= _MAX_CONDITIONS):
                return
            if known is None:
                since = format_time(self._clock())
                self._lasting[key] = {"event": kind.begins, **said, "since": since}
            else:
                said = {**self._lasting.pop(key), **said}
                del said["event"]
        self.tell(kind.begins if is_so else kind.ends, **said)

    def list_awaited(self) -> list[dict[str, FieldValue]]:
        """What the role waits for by now, as it was told, with since when."""
        with self._turn:
            return [dict(said) for (what, _), said in self._lasting.items() if what.value.waits]


def format_time(seconds: float) -> str:
    """A moment as lines have it: UTC, to the second."""
    with suppress(OverflowError, OSError, ValueError):
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
    return str(seconds)


def _format_value(value: FieldValue) -> str:
    plain = str(value)
    return plain if _PLAIN.fullmatch(plain) else json.dumps(plain[:_MOST_WORDS])
