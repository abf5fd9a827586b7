"""HTTP responses, which never contain data from the request.

Source: RFC 9457, problem details.
"""

import json
import sqlite3
import traceback
from collections.abc import Awaitable, Callable
from typing import Any

from mixtally.device.wire.problem import MEDIA_TYPE, Problem
from mixtally.errors import DataError
from mixtally.server.node.disk import is_busy, is_temporary
from mixtally.server.node.events import Log, print_line
from mixtally.server.node.refusal import OldStateError, ProblemError
from mixtally.server.node.skews import add_date

App = Callable[[Any, Any, Any], Awaitable[None]]
"""An ASGI application."""


async def send_response(
    send: Any, status: int, body: bytes = b"", kind: str = "", retry_seconds: int | None = None
) -> None:
    """Send a complete response."""
    headers = [(b"content-length", str(len(body)).encode())]
    if kind:
        headers.append((b"content-type", kind.encode()))
    if retry_seconds is not None:
        headers.append((b"retry-after", str(retry_seconds).encode()))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def send_problem(send: Any, refusal: ProblemError) -> None:
    """Send a refusal as problem details."""
    problem = refusal.problem
    after = refusal.after if refusal.after is not None or not problem.is_retryable else 5
    body = problem.body(refusal.detail)
    await send_response(send, problem.value.status, body, MEDIA_TYPE, after)


async def send_health(scope: Any, send: Any, log: Log) -> bool:
    """Respond to ``/healthz`` and ``/readyz``, and return whether the request was one of them.

    A role is ready if ``log`` has no condition that prevents it. The response to ``/readyz`` lists
    these conditions, and those that do not prevent the role from being ready.
    """
    if scope["method"] not in ("GET", "HEAD") or scope["path"] not in ("/healthz", "/readyz"):
        return False
    if scope["path"] == "/healthz":
        await send_response(send, 200, b"ok\n", "text/plain")
    else:
        awaited, warnings = log.list_awaited(), log.list_warnings()
        said = {"ready": not awaited, "waits": awaited, "warnings": warnings}
        body = json.dumps(said).encode() + b"\n"
        await send_response(send, 503 if awaited else 200, body, "application/json")
    return True


def role_application(
    first: Callable[[Any], App | None],
    rest: App,
    stop: Callable[[BaseException], None],
    log: Log | None = None,
    clock: Callable[[], int] | None = None,
) -> App:
    """Return the ASGI application of a role.

    A request goes to the application that ``first`` returns for it, else to the health routes, else
    to ``rest``. With ``clock``, responses of the health routes and of ``rest`` have a date, by
    which peers notice a clock that is wrong.
    """
    waits = log or Log()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        taken = first(scope)
        if taken is not None:
            await taken(scope, receive, send)
            return
        send = send if clock is None else add_date(send, clock)
        if not await send_health(scope, send, waits):
            await rest(scope, receive, send)

    return guard_application(app, stop, log)


def guard_application(
    app: App, stop: Callable[[BaseException], None], log: Log | None = None
) -> App:
    """Return an application that sends the refusals of ``app`` as responses, and logs its errors.

    If the disk is full or the database is locked, the response is a problem. Any other disk error
    ends the process through ``stop``, because after a failed sync it is unknown what is stored. An
    OldStateError also ends the process.
    """

    async def around(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        try:
            await app(scope, receive, send)
        except ProblemError as refusal:
            if log is not None:
                log.refusals[refusal.problem.name.lower()] += 1
            await send_problem(send, refusal)
        except OldStateError as error:
            stop(error)
            await send_problem(send, ProblemError(Problem.NOT_READY, retry_seconds=60))
        except ConnectionError:
            # The client has closed the connection. This is no disk error, so the role continues.
            return
        except (sqlite3.Error, OSError, DataError) as error:
            if not is_temporary(error):
                stop(error)
            if is_busy(error):
                await send_problem(send, ProblemError(Problem.BUSY, retry_seconds=5))
            else:
                await send_problem(send, ProblemError(Problem.NO_ROOM, retry_seconds=60))
        # Deliberately every exception: otherwise the server would print a traceback, which may
        # contain personal data.
        except Exception as error:
            log_failure_place(error, log or Log(print_line))
            await send_response(send, 500)

    return around


def log_failure_place(error: BaseException, log: Log) -> None:
    """Log the type and source line of an error, but not its text, which may be personal."""
    places = traceback.extract_tb(error.__traceback__)
    where = f"{places[-1].filename.rpartition('/')[2]}:{places[-1].lineno}" if places else "?"
    log.tell("failed", error=type(error).__name__, at=where)
