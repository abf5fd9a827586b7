"""HTTP routes that mixes and collectors share, and the dispatch to their own routes."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, Router

from mixtally.device.contract.fields import MOST_NOTE_BYTES
from mixtally.device.wire.manifest import MOST_PIECE_BYTES
from mixtally.device.wire.problem import PATH, Problem, problem_of_path
from mixtally.device.wire.rotation import write_rotations
from mixtally.server.node.claims import MOST_UNCLAIMED_BYTES, read_claim
from mixtally.server.node.events import Log
from mixtally.server.node.key_rotation import list_rotations
from mixtally.server.node.node import Node
from mixtally.server.node.peers import format_listing
from mixtally.server.node.refusal import ProblemError
from mixtally.server.node.web.bodies import BodyBudget, check_length
from mixtally.server.node.web.long_responses import LongFileResponse, LongResponse, ResponseCache
from mixtally.server.node.web.responses import App, role_application

MOST_HELD_BYTES = 1 << 25
"""Memory for all bodies without a claim together, in bytes: 512 bodies of the maximum length.

A claim is a signature by which a role reserves memory (``node.claims``).
"""
ROLE_ROOM_BYTES = MOST_NOTE_BYTES + MOST_PIECE_BYTES
"""Memory for the claimed bodies of one role, in bytes.

A role sends at most one note and one piece at a time. The memory for a role is never used for the
bodies of others. So a malicious role of another contract can only block its own bodies.
"""
MOST_CLAIMED_BYTES = 8 * ROLE_ROOM_BYTES
"""Memory for the claimed bodies of all roles together, in bytes.

It is limited, because the number of contracts is not. If it is full, incomplete bodies are refused,
beginning with the largest product of size and age.
"""
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
        self._rooms: dict[bytes, BodyBudget] = {}
        """Memory for claimed bodies, by the public key of the role."""
        self._claimed = BodyBudget(MOST_CLAIMED_BYTES)

    def routes(self) -> list[Route]:
        """Return the routes with their methods."""
        name = "/contracts/{contract}"
        number = name + "/rounds/{number}"
        return [
            Route("/status", self.status),
            Route(name, self.contract),
            Route(name + "/rotations", self.rotations),
            Route(number, self.sheet),
            Route(number + "/manifests", self.manifests),
            Route(number + "/manifests/{hop}", self.manifest),
            Route(number + "/key", self.key, methods=["POST"]),
            Route("/notes", self.take, methods=["POST"]),
            Route("/notes/{name:path}", self.notes_by),
            Route("/note/{sha256}", self.note),
            Route("/pieces/{sha256}", self.piece, methods=["GET", "HEAD", "PUT"]),
            Route(PATH + "{word}", self.problem),
        ]

    async def status(self, _: Request) -> Response:
        """Send the name of the role and the states of its rounds.

        The numbers of messages are omitted: only signed manifests disclose them.
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

    async def rotations(self, request: Request) -> Response:
        """Send the known rotations of the keys of a contract's roles, newest first."""
        contract = self._served_contract(request)

        def notes() -> bytes:
            found = list_rotations(self._node.notes, self._node.agreements[contract])
            return write_rotations(found)

        return await self._cached_response(_JSON, notes, "rotations", contract)

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
        async with self._body(request, MOST_NOTE_BYTES) as data:
            # In a thread, because signing waits for the disk, which would block all other requests.
            given = await asyncio.to_thread(self._node.take_note, data, self._clock())
        return Response(status_code=204) if given is None else _note_response(given)

    async def notes_by(self, request: Request) -> Response:
        """Send the number of known notes that a role has signed, and their hashes, newest first."""
        name = request.path_params["name"]
        self._node.mark_awake(name)

        return await self._cached_response(
            _NOTE, lambda: format_listing(self._node.notes.list_signed_by(name)), "notes", name
        )

    async def piece(self, request: Request) -> Response:
        """Report whether a piece of a batch is stored (HEAD), or accept it (PUT).

        GET sends a file of an arrival list, and never a piece.
        """
        node, name = self._node, request.path_params["sha256"]
        if request.method == "GET":
            found = node.lists.find(name)
            if found is None:
                raise ProblemError(Problem.UNKNOWN)
            return LongFileResponse(*found, media_type=_BYTES)
        if request.method == "HEAD":
            return Response(status_code=200 if node.pieces.has_piece(name) else 404)
        most = node.pieces.max_bytes(name)
        if most is None:
            raise ProblemError(Problem.NOT_NAMED)
        if node.pieces.has_piece(name):
            return Response(status_code=204)
        async with self._body(request, most) as data:
            await asyncio.to_thread(node.pieces.put, name, data)
        node.wake()
        return Response(status_code=201)

    async def problem(self, request: Request) -> Response:
        """Send the explanation of a kind of refusal."""
        problem = problem_of_path(PATH + request.path_params["word"])
        if problem is None:
            raise ProblemError(Problem.UNKNOWN)
        return PlainTextResponse(f"{problem.value.title}.\nWhat to do: {problem.value.do}.\n")

    @asynccontextmanager
    async def _body(self, request: Request, most: int) -> AsyncIterator[bytes]:
        """Receive a body, and reserve its memory until the end of the block.

        The names of pieces are public, and anybody can send bytes that look like a manifest. So a
        body without a claim is limited to ``MOST_UNCLAIMED_BYTES``. A body with a claim uses memory
        that is reserved for the role, because nobody but the role can sign the claim.
        """
        scope, budget = request.scope, self._body_budget
        most_here = min(most, MOST_UNCLAIMED_BYTES)
        if query := scope.get("query_string", b"").decode("ascii", "replace"):
            claim = read_claim(query, scope["path"], tuple(self._node.agreements.values()))
            if claim is None:
                raise ProblemError(
                    Problem.UNKNOWN, "this role has signed no contract with the role of this claim"
                )
            room = BodyBudget(ROLE_ROOM_BYTES, self._claimed)
            budget = self._rooms.setdefault(claim.key, room)
            most_here = min(most, claim.length)
        data = await budget.read_body(scope, request.receive, most_here)
        try:
            yield data
        finally:
            budget.release(len(data))

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
    clock: Clock | None = None,
) -> App:
    """Return the ASGI application of a role.

    ``first`` may return an application for a request; all other requests go to ``routes``. With
    ``clock``, responses have a date.
    """
    router = Router(routes, redirect_slashes=False)

    async def route_request(scope: Any, receive: Any, send: Any) -> None:
        if scope["method"] in ("GET", "HEAD"):
            # Otherwise the body would stay in memory while a client reads the response slowly.
            check_length(scope, 0)
        try:
            await router({**scope, "app": router}, receive, send)
        except HTTPException as error:
            known = {404: Problem.UNKNOWN, 405: Problem.METHOD}
            raise ProblemError(known.get(error.status_code, Problem.NO_NOTE)) from None

    return role_application(first, route_request, stop, log, clock)


def _to_json(value: object) -> bytes:
    return json.dumps(value).encode() + b"\n"


def _note_response(note: bytes) -> Response:
    if not note:
        raise ProblemError(Problem.UNKNOWN)
    return LongResponse(note, media_type=_NOTE)
