"""Room is taken by bytes that have come; whoever idles, drips or holds much keeps nobody out."""

import asyncio

import pytest

from mixtally.device.wire.problem import Problem
from mixtally.server.node.refusal import ProblemError
from mixtally.server.node.web import bodies
from mixtally.server.node.web.bodies import BodyBudget

MOST = 100


class Body:
    """A body of which parts come when a test lets them; what became of it."""

    def __init__(self, room, *, stated=None, most=MOST):
        self.parts = asyncio.Queue()
        headers = [] if stated is None else [(b"content-length", str(stated).encode())]
        self.task = asyncio.create_task(room.read_body({"headers": headers}, self.parts.get, most))

    async def comes(self, data, *, more=True):
        self.parts.put_nowait({"type": "http.request", "body": data, "more_body": more})
        await asyncio.sleep(0.002)

    async def end(self):
        """The body, or why it was refused."""
        try:
            return await self.task
        except ProblemError as refusal:
            return refusal.problem


def test_a_length_that_is_stated_takes_no_room():
    async def act():
        room = BodyBudget(MOST)
        idle = [Body(room, stated=MOST) for _ in range(32)]
        await asyncio.sleep(0)
        good = Body(room)
        await good.comes(bytes(MOST), more=False)
        assert await good.end() == bytes(MOST)
        assert room.used == MOST  # until it is given back
        for one in idle:
            one.task.cancel()

    asyncio.run(act())


def test_who_holds_most_for_longest_makes_room():
    async def act():
        room = BodyBudget(MOST)
        large = [Body(room) for _ in range(3)]
        for one in large:
            await one.comes(bytes(30))
        small = Body(room)
        await small.comes(bytes(20), more=False)
        assert await small.end() == bytes(20)
        assert await large[0].end() is Problem.BUSY
        assert [one.task.done() for one in large] == [True, False, False]
        for one in large[1:]:
            await one.comes(b"x", more=False)
            assert await one.end() == bytes(30) + b"x"
        assert room.used == 20 + 2 * 31

    asyncio.run(act())


def test_who_holds_most_gives_itself_up():
    async def act():
        room = BodyBudget(MOST)
        small, large = Body(room), Body(room)
        await small.comes(bytes(20))
        await large.comes(bytes(70))
        await asyncio.sleep(0.01)
        await large.comes(bytes(20))
        assert await large.end() is Problem.BUSY
        await small.comes(b"", more=False)
        assert await small.end() == bytes(20)
        room.release(20)
        assert room.used == 0

    asyncio.run(act())


def test_slow_bodies_of_many_rooms_keep_no_other_room_out():
    """Rooms of 50 bytes within one of 100: whoever comes fast finds room, and all is given back."""

    async def act():
        total = BodyBudget(MOST)
        rooms = [BodyBudget(50, total) for _ in range(3)]
        slow = [Body(room) for room in rooms[:2]]
        for one in slow:
            await one.comes(bytes(50))
        assert [total.used, *(room.used for room in rooms)] == [100, 50, 50, 0]
        fast = Body(rooms[2])
        await fast.comes(bytes(30), more=False)
        assert await fast.end() == bytes(30)
        assert await slow[0].end() is Problem.BUSY
        assert [one.task.done() for one in slow] == [True, False]
        assert [total.used, *(room.used for room in rooms)] == [80, 0, 50, 30]
        rooms[2].release(30)
        over = Body(rooms[2])
        await over.comes(bytes(51))
        assert await over.end() is Problem.BUSY  # a room is as large as before
        await slow[1].comes(b"", more=False)
        assert await slow[1].end() == bytes(50)
        rooms[1].release(50)
        assert [total.used, *(room.used for room in rooms)] == [0, 0, 0, 0]

    asyncio.run(act())


def test_a_body_that_is_whole_is_not_given_up():
    async def act():
        room = BodyBudget(MOST)
        first, second = Body(room), Body(room)
        await first.comes(bytes(90), more=False)
        assert await first.end() == bytes(90)
        await second.comes(bytes(20), more=False)
        assert await second.end() is Problem.BUSY
        assert room.used == 90

    asyncio.run(act())


@pytest.mark.parametrize(("rate", "ends"), [(1 << 10, Problem.TOO_SLOW), (0.01, 40 * b"x")])
def test_the_least_rate(monkeypatch, rate, ends):
    """Forty bytes in 80 ms, after a grace of 20 ms: 500 bytes a second."""
    monkeypatch.setattr(bodies, "GRACE_SECONDS", 0.02)
    monkeypatch.setattr(bodies, "LEAST_RATE", rate)

    async def act():
        room = BodyBudget(MOST)
        slow = Body(room)
        for number in range(40):
            await slow.comes(b"x", more=number < 39)
        assert await slow.end() == ends
        assert room.used == (0 if ends is Problem.TOO_SLOW else 40)

    asyncio.run(act())


@pytest.mark.parametrize(
    ("parts", "why"),
    [
        ([bytes(60), bytes(60)], Problem.TOO_LARGE),
        ([None], Problem.BODY_LENGTH),
        ([bytes(60), None], Problem.BODY_LENGTH),
    ],
)
def test_what_is_refused_leaves_no_room_taken(parts, why):
    async def act():
        room = BodyBudget(10 * MOST)
        one = Body(room)
        for part in parts:
            if part is None:
                one.parts.put_nowait({"type": "http.disconnect"})
            else:
                await one.comes(part)
        assert await one.end() is why
        assert room.used == 0

    asyncio.run(act())
