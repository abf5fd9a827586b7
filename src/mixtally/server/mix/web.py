"""Route on which a mix receives bundles, without a web framework because most requests use it.

Requests are refused by their length, round and time, without any key. A response never contains
data from the request.
"""

import asyncio
from collections.abc import Callable
from typing import Any

from mixtally.device.wire.bundle import bundle_bytes, check_body
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
MOST_BODIES_BYTES = 1 << 27
"""Memory for the bodies of all connections together."""
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
        window = self._window(scope)
        self._check_time(window)
        most = max(MOST_BODY_BYTES, bundle_bytes(window.shapes))
        body = await self._body_budget.read_body(scope, receive, most)
        try:
            try:
                check_body(body, window.shapes)
            except RefusedError as error:
                raise ProblemError(Problem.BODY_LENGTH) from error
            # The body may have arrived slowly, and the window may have closed meanwhile.
            self._check_time(window)
            await self._intake.put(window.round_id, body, asyncio.get_running_loop())
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

    def _check_time(self, window: Window) -> None:
        now = self._clock()
        if now < window.opens:
            raise ProblemError(Problem.TOO_EARLY, retry_seconds=window.opens - now)
        if now >= window.closes:
            raise ProblemError(Problem.ROUND_CLOSED)


def bundle_application(
    bundles: BundleRoute, stop: Callable[[BaseException], None], log: Log | None = None
) -> App:
    """Return the ASGI application that has only this route and the health routes."""

    async def nothing_else(*_: Any) -> None:
        raise ProblemError(Problem.UNKNOWN)

    return role_application(bundles.match_route, nothing_else, stop, log)
