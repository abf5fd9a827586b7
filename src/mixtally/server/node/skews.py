"""Differences between the clocks of roles, from the header Date of the answers of peers.

A peer can send any date. So a difference is only reported, and nothing else depends on it.

Source: RFC 9110, section 6.6.1, Date.
"""

import calendar
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from mixtally.server.node.calls import Answer, Call
from mixtally.server.node.clock import TOLERANCE
from mixtally.server.node.events import Condition, Log

_FORMAT = "%a, %d %b %Y %H:%M:%S GMT"


def measure_skew(date: str, sent: int, received: int) -> int | None:
    """Return how many seconds the clock of a peer is at least ahead; negative if it is behind.

    The peer wrote ``date`` between the times ``sent`` and ``received`` of this role. All times are
    rounded down to whole seconds. The result is 0 if the clocks may agree, and None if the date is
    malformed.
    """
    with suppress(ValueError, OverflowError):
        there = calendar.timegm(time.strptime(date, _FORMAT))
        return max(0, there - received - 1) or min(0, there + 1 - sent)
    return None


def with_skews(
    call: Call,
    list_names: Callable[[str], list[str]],
    clock: Callable[[], int],
    skews: dict[str, float],
    log: Log,
) -> Call:
    """Return a variant of ``call`` that records in ``skews`` how the clocks of peers differ.

    ``list_names`` returns the names of the peers at an address. A difference of more than
    ``TOLERANCE`` seconds is reported as a condition in ``log``.
    """

    def call_and_measure(address: str, method: str, path: str, body: bytes = b"") -> Answer:
        sent = clock()
        answer = call(address, method, path, body)
        skew = measure_skew(answer.date, sent, clock())
        if skew is None:
            return answer
        for name in list_names(address):
            skews[name] = skew
            differs, peer = abs(skew) > TOLERANCE, {"role": name, "address": address}
            log.set_condition(Condition.SKEW, differs, **peer, seconds=skew)
        return answer

    return call_and_measure


def add_date(send: Any, clock: Callable[[], int]) -> Any:
    """Return a variant of an ASGI function ``send`` that adds the date to a response."""

    async def send_dated(message: Any) -> None:
        if message["type"] == "http.response.start":
            date = time.strftime(_FORMAT, time.gmtime(clock())).encode()
            message = {**message, "headers": [*message["headers"], (b"date", date)]}
        await send(message)

    return send_dated
