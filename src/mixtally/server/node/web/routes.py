"""HTTP routes that mixes and collectors share, and the dispatch to their own routes."""

import asyncio
import json
import re
from collections.abc import Callable
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, Router

from mixtally.device.contract.fields import MOST_NOTE_BYTES
from mixtally.device.wire.problem import PATH, Problem, problem_of_path
from mixtally.server.node.events import Log
from mixtally.server.node.node import Node
from mixtally.server.node.peers import format_listing
from mixtally.server.node.refusal import ProblemError
from mixtally.server.node.web.bodies import BodyBudget
from mixtally.server.node.web.long_responses import LongResponse, ResponseCache
from mixtally.server.node.web.responses import App, role_application

MOST_HELD_BYTES = 1 << 26
"""Memory for the bodies of all requests together."""
_JSON, _NOTE, _BYTES = "application/json", "text/plain; charset=utf-8", "application/octet-stream"
_PUBLIC_FIELDS = ("contract", "round", "opens", "closes", "expires", "state", "ended")
"""Fields of a round that are public."""
_NUMBER = re.compile("[1-9][0-9]{0,3}")
Clock = Callable[[], int]


def parse_round_number(request: Request) -> int:
    """Return the round number in a path; raises ProblemError if no sheet can have it."""
    text: str = request.path_params["number"]
    if not _NUMBER.fullmatch(text):
        raise ProblemError(Problem.UNKNOWN)
    return int(text)


class SharedRoutes:
    """Handlers of the shared routes of a node; ``clock`` returns seconds since 1970."""

    def __init__(self, node: Node, clock: Clock, body_budget: BodyBudget | None = None) -> None:
        self._node, self._clock = node, clock
        self._body_budget, self._lists = (
            body_budget or BodyBudget(MOST_HELD_BYTES),
            ResponseCache(node.database.version),
        )

    def routes(self) -> list[Route]:
        """Return the routes with their methods."""
        name = "/contracts/{contract}"
        number = name + "/rounds/{number}"
        return [
            Route("/status", self.status),
            Route(name, self.contract),
            Route(number, self.sheet),
            Route(number + "/manifests", self.manifests),
            Route(number + "/manifests/{hop}", self.manifest),
            Route(number + "/key", self.key, methods=["POST"]),
            Route("/notes", self.take, methods=["POST"]),
            Route("/notes/{name:path}", self.notes_by),
            Route("/note/{sha256}", self.note),
            Route("/pieces/{sha256}", self.piece, methods=["HEAD", "PUT"]),
            Route(PATH + "{word}", self.problem),
        ]

    async def status(self, _: Request) -> Response:
        """Send the name of the role and the states of its rounds.

        The numbers of messages are left out, because they appear only in signed manifests.
        """
        node = self._node
        waiting = sorted(set(node.agreements) - node.cleared)
        serves = sorted(node.cleared & set(node.agreements))

        def build_status() -> bytes:
            return _to_json(
                {
                    "name": node.signer.name,
                    "serves": serves,
                    "waits": waiting,
                    "rounds": [
                        {name: getattr(row, name) for name in _PUBLIC_FIELDS}
                        for row in node.rounds.all()
                    ],
                }
            )

        return await self._cached_response(
            _JSON, build_status, "status", *serves, "waits", *waiting
        )

    async def contract(self, request: Request) -> Response:
        """Send the note of a contract."""
        contract = self._served_contract(request)
        return await self._cached_response(
            _NOTE, lambda: self._node.notes.of(contract), "note", contract
        )

    async def sheet(self, request: Request) -> Response:
        """Send the sheet of a round."""
        contract, number = self._served_contract(request), parse_round_number(request)

        def note() -> bytes | None:
            row = self._node.rounds.of(contract, number)
            return None if row is None else self._node.sheet_note(row)

        return await self._cached_response(_NOTE, note, "sheet", contract, str(number))

    async def manifests(self, request: Request) -> Response:
        """Send the manifests and receipts of a round."""
        contract, number = self._served_contract(request), parse_round_number(request)

        def notes() -> bytes:
            found = self._node.notes.of_round(contract, number, "manifest", "receipt")
            return _to_json([note.decode() for note in found])

        return await self._cached_response(_JSON, notes, "manifests", contract, str(number))

    async def manifest(self, request: Request) -> Response:
        """Send the manifest of one hop."""
        contract, number = self._served_contract(request), parse_round_number(request)
        row, hop = self._node.rounds.of(contract, number), request.path_params["hop"]
        if row is None or hop not in ("1", "2", "3", "4", "5"):
            raise ProblemError(Problem.UNKNOWN)

        def note() -> bytes | None:
            digest = self._node.manifest_hash(row, int(hop))
            return None if digest is None else self._node.notes.of(digest)

        return await self._cached_response(_NOTE, note, "manifest", contract, str(number), hop)

    async def note(self, request: Request) -> Response:
        """Send the note whose text has the given SHA-256."""
        found = request.path_params["sha256"]
        return await self._cached_response(_NOTE, lambda: self._node.notes.of(found), "note", found)

    async def key(self, request: Request) -> Response:
        """Send the key configuration of this role for a round that may be signed."""
        contract, number = request.path_params["contract"], parse_round_number(request)
        made = await asyncio.to_thread(self._node.key, contract, number)
        return Response(made, media_type=_BYTES)

    async def take(self, request: Request) -> Response:
        """Accept a note, and send back the merged contract or sheet, or 204 for other notes."""
        data = await self._body_budget.read_body(request.scope, request.receive, MOST_NOTE_BYTES)
        try:
            # In a thread: signing waits for the disk, which would block all other requests.
            given = await asyncio.to_thread(self._node.take_note, data, self._clock())
        finally:
            self._body_budget.release(len(data))
        return Response(status_code=204) if given is None else _note_response(given)

    async def notes_by(self, request: Request) -> Response:
        """Send the number of known notes that a role has signed, and their hashes, newest first."""
        name = request.path_params["name"]
        self._node.mark_awake(name)

        return await self._cached_response(
            _NOTE, lambda: format_listing(self._node.notes.list_signed_by(name)), "notes", name
        )

    async def piece(self, request: Request) -> Response:
        """Report whether a piece of a batch is stored (HEAD), or accept it (PUT)."""
        node, name = self._node, request.path_params["sha256"]
        if request.method == "HEAD":
            return Response(status_code=200 if node.pieces.has_piece(name) else 404)
        most = node.pieces.max_bytes(name)
        if most is None:
            raise ProblemError(Problem.NOT_NAMED)
        if node.pieces.has_piece(name):
            return Response(status_code=204)
        data = await self._body_budget.read_body(request.scope, request.receive, most)
        try:
            await asyncio.to_thread(node.pieces.put, name, data)
        finally:
            self._body_budget.release(len(data))
        node.wake()
        return Response(status_code=201)

    async def problem(self, request: Request) -> Response:
        """Send the explanation of a kind of refusal."""
        problem = problem_of_path(PATH + request.path_params["word"])
        if problem is None:
            raise ProblemError(Problem.UNKNOWN)
        return PlainTextResponse(f"{problem.value.title}.\nWhat to do: {problem.value.do}.\n")

    async def _cached_response(
        self, kind: str, make: Callable[[], bytes | None], *key: str
    ) -> Response:
        """Send a cached response; raises ProblemError if there is no data."""
        data = await asyncio.to_thread(self._lists.get_or_make, key, make)
        if data is None:
            raise ProblemError(Problem.UNKNOWN)
        return LongResponse(data, media_type=kind)

    def _served_contract(self, request: Request) -> str:
        contract: str = request.path_params["contract"]
        if contract not in self._node.agreements:
            raise ProblemError(Problem.UNKNOWN)
        return contract


def application(
    routes: list[Route],
    stop: Callable[[BaseException], None],
    first: Callable[[Any], App | None] = lambda _: None,
    log: Log | None = None,
) -> App:
    """Return the ASGI application of a role.

    ``first`` may return an application for a request; all other requests go to ``routes``.
    """
    router = Router(routes, redirect_slashes=False)

    async def route_request(scope: Any, receive: Any, send: Any) -> None:
        try:
            await router({**scope, "app": router}, receive, send)
        except HTTPException as error:
            known = {404: Problem.UNKNOWN, 405: Problem.METHOD}
            raise ProblemError(known.get(error.status_code, Problem.NO_NOTE)) from None

    return role_application(first, route_request, stop, log)


def _to_json(value: object) -> bytes:
    return json.dumps(value).encode() + b"\n"


def _note_response(note: bytes) -> Response:
    if not note:
        raise ProblemError(Problem.UNKNOWN)
    return LongResponse(note, media_type=_NOTE)
