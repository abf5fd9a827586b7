"""Routes that only a collector has: its page, and the result of a round as JSON."""

import asyncio
import json

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from mixtally.device.wire.problem import Problem
from mixtally.server.collector.collector import Collector
from mixtally.server.collector.core import ENDS
from mixtally.server.collector.export_index import INDEX, is_export_name
from mixtally.server.collector.page import Page
from mixtally.server.collector.results import format_utc
from mixtally.server.collector.stored import EXPORT
from mixtally.server.node.refusal import ProblemError
from mixtally.server.node.rounds import RoundRow
from mixtally.server.node.web.long_responses import LongFileResponse
from mixtally.server.node.web.routes import Clock, parse_round_number

_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
_LEAST_RETRY_SECONDS = 5
"""Least time in seconds after which a client may ask again."""


class CollectorRoutes:
    """Handlers of the collector's public routes."""

    def __init__(self, collector: Collector, page: Page, clock: Clock) -> None:
        self._collector, self._page, self._clock = collector, page, clock

    def routes(self) -> list[Route]:
        """Return the routes with their methods."""
        return [
            Route("/", self.page),
            Route("/contracts/{contract}/rounds/{number}/result", self.result),
            Route("/contracts/{contract}/rounds/{number}/export/{name}", self.export_file),
        ]

    async def page(self, request: Request) -> Response:
        """Send the web page; with ``?page=N``, the page with counts of earlier rounds."""
        named, pages = request.query_params.get("page", "1"), self._page.pages
        found = [body for number, body in enumerate(pages, 1) if named == str(number)]
        if not found:
            raise ProblemError(Problem.UNKNOWN)
        return Response(found[0], media_type="text/html; charset=utf-8", headers=_HEADERS)

    async def result(self, request: Request) -> Response:
        """Send the result of a round, or a refusal that says when to ask again."""
        contract, number = request.path_params["contract"], parse_round_number(request)
        row = self._collector.node.rounds.of(contract, number)
        if row is None or contract not in self._collector.node.agreements:
            raise ProblemError(Problem.UNKNOWN)
        said = await asyncio.to_thread(self._collector.results.read_result, row.folder)
        if said is None and row.state in ENDS:
            said = _result_without_batch(row)
        if said is None:
            raise self._too_early_problem(row)
        return Response(said, media_type="application/json", headers=_HEADERS)

    async def export_file(self, request: Request) -> Response:
        """Send a file of an exported round, which ``mixtally check round`` reads."""
        contract, number = request.path_params["contract"], parse_round_number(request)
        row, name = self._collector.node.rounds.of(contract, number), request.path_params["name"]
        if row is None or not (name == INDEX or is_export_name(name)):
            raise ProblemError(Problem.UNKNOWN)
        path = self._collector.results.folder_of(row.folder, EXPORT) / name
        try:
            length = (await asyncio.to_thread(path.stat)).st_size
        except FileNotFoundError:
            raise ProblemError(Problem.UNKNOWN) from None
        return LongFileResponse(path, length, "application/octet-stream", _HEADERS)

    def _too_early_problem(self, row: RoundRow) -> ProblemError:
        """Return the refusal for a round without a result, with the time at which to ask again."""
        words = (
            f"answers are taken until {format_utc(row.closes)} and mixed by "
            f"{format_utc(row.expires)}"
        )
        after = max(_LEAST_RETRY_SECONDS, row.closes - self._clock())
        return ProblemError(Problem.NO_RESULT, words, retry_seconds=after)


def _result_without_batch(row: RoundRow) -> bytes:
    said = {
        "contract": row.name,
        "fingerprint": row.contract,
        "round": row.round,
        "released": False,
        "refusal": f"the round is over without a batch: {row.ended}",
    }
    return json.dumps(said, indent=1).encode() + b"\n"
