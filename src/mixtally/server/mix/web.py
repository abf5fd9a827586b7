"""Route on which a mix receives bundles, without a web framework because most requests use it.

Requests are refused by their length, round and time, without any key. A response never contains
data from the request.
"""

import asyncio
from collections.abc import Callable
from typing import Any

from mixtally.device.wire.bundle import check_body
from mixtally.device.wire.problem import Problem
from mixtally.errors import RefusedError
from mixtally.server.mix.intake import Intake
from mixtally.server.mix.window import Window
from mixtally.server.node.events import Log
from mixtally.server.node.refusal import ProblemError
from mixtally.server.node.web.bodies import BodyBudget
from mixtally.server.node.web.responses import App, role_application, send_response

MOST_BODY_BYTES = 1 << 22
"""Maximum size of a request body, unless a single bundle is longer."""
MOST_BODIES_BYTES = 1 << 26
"""Memory for the bodies of all connections together: 16 of the longest, 160,000 of 400 bytes."""
_CLOCKS_DIFFER_SECONDS = 3600
"""Clients of a full round are asked to wait until this number of seconds after its close.

The clock of a client may be behind. Even so, a client that waits this long finds that the round is
over, and does not send again.
"""
Find = Callable[[str, int], Window]
"""Function of (contract, round) that returns the window; raises ProblemError if there is none."""


class BundleRoute:
    """The route of bundles, for one intake process or the mix itself."""

    def __init__(
        self, intake: Intake, find: Find, clock: Callable[[], int], body_budget: BodyBudget
    ) -> None:
        self._intake, self._find, self._clock, self._body_budget = intake, find, clock, body_budget

    def match_route(self, scope: Any) -> App | None:
        """Return the route if a request is for it, or None."""
        path: str = scope["path"]
        if path.startswith("/contracts/") and path.endswith("/bundles"):
            return self.take
        return None

    async def take(self, scope: Any, receive: Any, send: Any) -> None:
        """Store the bundles of one body, and answer once they are on disk."""
        if scope["method"] == "OPTIONS":  # a browser asks whether a page may send a code
            await send_response(send, 200)
            return
        window = self._window(scope)
        self._check_time(window)
        # Checked before any memory is used for a body.
        ticket = self._intake.find_ticket(window.round_id, _find_authorization(scope))
        self._check_quota(window)
        most = max(MOST_BODY_BYTES, window.bundle_bytes)
        body = await self._body_budget.read_body(scope, receive, most)
        try:
            try:
                check_body(body, window.shapes, single=bool(ticket))
            except RefusedError as error:
                raise ProblemError(Problem.BODY_LENGTH) from error
            # The body may have arrived slowly, and the window may have closed meanwhile.
            self._check_time(window)
            try:
                await self._intake.put(window.round_id, body, asyncio.get_running_loop(), ticket)
            except ProblemError as refusal:
                if refusal.problem is Problem.ROUND_FULL:
                    raise self._full_error(window) from None
                raise
        finally:
            self._body_budget.release(len(body))
        await send_response(send, 201)

    def _window(self, scope: Any) -> Window:
        parts = scope["path"].split("/")
        if len(parts) != 6 or parts[3] != "rounds" or not parts[4].isdecimal():
            raise ProblemError(Problem.UNKNOWN)
        if len(parts[4]) > 4 or not parts[4].isascii():
            raise ProblemError(Problem.UNKNOWN)
        window = self._find(parts[2], int(parts[4]))
        if scope["method"] != "POST":
            raise ProblemError(Problem.METHOD)
        return window

    def _check_quota(self, window: Window) -> None:
        """Raise ProblemError for a full round, before any memory is used for a body."""
        if self._intake.is_full(window.round_id):
            raise self._full_error(window)

    def _full_error(self, window: Window) -> ProblemError:
        after = window.closes - self._clock() + _CLOCKS_DIFFER_SECONDS
        detail = f"it has accepted all {window.most_bundles} bundles that its contract allows"
        return ProblemError(Problem.ROUND_FULL, detail, retry_seconds=after)

    def _check_time(self, window: Window) -> None:
        now = self._clock()
        if now < window.opens:
            raise ProblemError(Problem.TOO_EARLY, retry_seconds=window.opens - now)
        if now >= window.closes:
            raise ProblemError(Problem.ROUND_CLOSED)


def _find_authorization(scope: Any) -> bytes | None:
    """Return the header with a code; None if there is none or several."""
    found = [value for name, value in scope["headers"] if name == b"authorization"]
    return found[0] if len(found) == 1 else None


def bundle_application(
    bundles: BundleRoute, stop: Callable[[BaseException], None], log: Log | None = None
) -> App:
    """Return the ASGI application that has only this route and the health routes."""

    async def nothing_else(*_: Any) -> None:
        raise ProblemError(Problem.UNKNOWN)

    return role_application(bundles.match_route, nothing_else, stop, log)
