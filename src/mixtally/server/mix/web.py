"""The route by which people's bundles come, without a framework around it: most requests are these.

What is refused is seen without a key: length, round, time. An answer contains nothing of a request.
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
MOST_BODIES_BYTES = 1 << 27
"""Of all connections together."""
Find = Callable[[str, int], Window]
"""(contract, round) -> its window; raises ProblemError for one that takes nothing."""


class BundleRoute:
    """The route, for one process of intake."""

    def __init__(
        self, intake: Intake, find: Find, clock: Callable[[], int], body_budget: BodyBudget
    ) -> None:
        self._intake, self._find, self._clock, self._body_budget = intake, find, clock, body_budget

    def match_route(self, scope: Any) -> App | None:
        """The route itself where a request is for it."""
        path: str = scope["path"]
        if path.startswith("/contracts/") and path.endswith("/bundles"):
            return self.take
        return None

    async def take(self, scope: Any, receive: Any, send: Any) -> None:
        """Take the bundles of one body; it is answered once they are on the disk."""
        window = self._window(scope)
        self._check_time(window)
        most = max(MOST_BODY_BYTES, bundle_bytes(window.shapes))
        body = await self._body_budget.read_body(scope, receive, most)
        try:
            try:
                check_body(body, window.shapes)
            except RefusedError as error:
                raise ProblemError(Problem.BODY_LENGTH) from error
            self._check_time(window)  # it may have come slowly
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
            raise ProblemError(Problem.TOO_EARLY, after=window.opens - now)
        if now >= window.closes:
            raise ProblemError(Problem.ROUND_CLOSED)


def bundle_application(
    bundles: BundleRoute, stop: Callable[[BaseException], None], log: Log | None = None
) -> App:
    """The ASGI application that has this route and those of health, and no other."""

    async def nothing_else(*_: Any) -> None:
        raise ProblemError(Problem.UNKNOWN)

    return role_application(bundles.match_route, nothing_else, stop, log)
