"""Metrics of a role, served on a separate port (``running.METRICS_HOST`` explains why)."""

from collections.abc import Callable
from typing import Any

import msgspec

from mixtally.device.wire.problem import Problem
from mixtally.server.node.events import Log
from mixtally.server.node.health import Health, format_metrics
from mixtally.server.node.refusal import ProblemError
from mixtally.server.node.web.responses import App, role_application, send_response


def metrics_application(
    measure: Callable[[], Health], stop: Callable[[BaseException], None], log: Log
) -> App:
    """Return the application with ``/metrics`` as text, ``/status`` as JSON and health routes."""

    async def send_numbers(scope: Any, _: Any, send: Any) -> None:
        if scope["method"] != "GET" or scope["path"] not in ("/metrics", "/status"):
            raise ProblemError(Problem.UNKNOWN)
        if scope["path"] == "/metrics":
            text = format_metrics(measure()).encode()
            await send_response(send, 200, text, "text/plain; version=0.0.4")
        else:
            await send_response(send, 200, msgspec.json.encode(measure()), "application/json")

    return role_application(lambda _: None, send_numbers, stop, log)
