"""The core alone: whatever happens in whatever order, rounds move as the table says and end."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixtally.server.mix.core import (
    ENDS,
    TRANSITIONS,
    Event,
    Facts,
    State,
    Work,
    event,
    work,
)
from mixtally.server.node.batch import Batch
from mixtally.server.node.rounds import SIGNED

CLOSES, EXPIRES = 100, 200


def facts(state, **changes):
    fields = {"closes": CLOSES, "expires": EXPIRES, "first": True}
    return Facts(state, **fields | changes)


def test_the_first_state_is_that_of_a_signed_sheet():
    assert State.SIGNED == SIGNED


def test_every_way_ends_in_nothing_left():
    reached = {State.SIGNED}
    for _ in State:
        reached |= {to for (state, _), to in TRANSITIONS.items() if state in reached}
    assert reached == set(State)
    assert not [state for state, _ in TRANSITIONS if state is State.SHREDDED]
    for state in ENDS:
        assert {to for (one, _), to in TRANSITIONS.items() if one is state} == {State.SHREDDED}


@pytest.mark.parametrize(
    ("state", "changes", "now", "wanted"),
    [
        (State.SIGNED, {}, 0, None),
        (State.SIGNED, {"all_signed": True}, 0, Event.ALL_SIGNED),
        (State.SIGNED, {"all_signed": True}, EXPIRES, Event.EXPIRY),
        (State.SIGNED, {"withdrawn": True}, 0, Event.WITHDRAWAL),
        (State.OPEN, {"withdrawn": True}, EXPIRES, Event.WITHDRAWAL),
        (State.OPEN, {"quiet": True}, CLOSES - 1, None),
        (State.OPEN, {"quiet": True}, CLOSES, Event.COMPLETE),
        (State.OPEN, {}, CLOSES, None),
        (State.OPEN, {}, EXPIRES, Event.EXPIRY),
        (State.OPEN, {"first": False}, CLOSES, None),
        (State.OPEN, {"first": False, "before": Batch.PIECES, "missing": 1}, CLOSES, None),
        (State.OPEN, {"first": False, "before": Batch.PIECES}, 0, Event.COMPLETE),
        (State.OPEN, {"first": False, "before": Batch.DESTROYED}, 0, Event.COMPLETE),
        (State.CLOSED, {}, EXPIRES - 1, None),
        (State.CLOSED, {"own": Batch.PIECES}, 0, Event.SIGNED_OFF),
        (State.CLOSED, {"own": Batch.DESTROYED}, EXPIRES, Event.TOO_FEW),
        (State.CLOSED, {}, EXPIRES, Event.EXPIRY),
        (State.MIXED, {"receipt": True}, EXPIRES, Event.RECEIPT),
        (State.MIXED, {}, EXPIRES, Event.EXPIRY),
        (State.DELIVERED, {}, EXPIRES, None),
        (State.DELIVERED, {"gone": True}, 0, Event.GONE),
        (State.SHREDDED, {"gone": True}, EXPIRES, None),
    ],
)
def test_what_has_happened(state, changes, now, wanted):
    assert event(facts(state, **changes), now) is wanted


@pytest.mark.parametrize(
    ("state", "changes", "wanted"),
    [
        (State.SIGNED, {}, None),
        (State.OPEN, {}, Work.TAKE),
        (State.OPEN, {"first": False}, None),
        (State.CLOSED, {}, Work.MIX),
        (State.CLOSED, {"first": False, "before": Batch.PIECES}, Work.RECEIVE),
        (State.CLOSED, {"first": False, "before": Batch.PIECES, "received": True}, Work.MIX),
        (State.CLOSED, {"first": False, "before": Batch.DESTROYED}, Work.MIX),
        (State.MIXED, {"own": Batch.PIECES}, None),
        (State.MIXED, {"own": Batch.PIECES, "told": True}, Work.DELIVER),
        (State.EXPIRED, {}, Work.DECLARE),
        (State.EXPIRED, {"own": Batch.PIECES}, Work.SHRED),
        (State.DESTROYED, {"own": Batch.DESTROYED}, Work.SHRED),
        (State.SHREDDED, {"gone": True}, None),
    ],
)
def test_what_is_to_be_done(state, changes, wanted):
    assert work(facts(state, **changes), 0) is wanted


def test_bundles_are_taken_until_the_round_closes():
    for now, wanted in ((0, Work.TAKE), (CLOSES - 1, Work.TAKE), (CLOSES, Work.STOP)):
        assert work(facts(State.OPEN), now) is wanted
    assert work(facts(State.OPEN, first=False), CLOSES) is None


class World:
    """A round as its disk would be, changed by others and by what is done about it."""

    def __init__(self, first, few):
        self.facts, self.few, self.log = facts(State.SIGNED, first=first), few, []

    def happens(self, what):
        now = self.facts
        changes = {
            "signed": {"all_signed": True},
            "batch": {"before": Batch.PIECES if now.before is Batch.NONE else now.before},
            "destroyed": {"before": Batch.DESTROYED if now.before is Batch.NONE else now.before},
            "piece": {"missing": max(0, now.missing - 1)},
            "idle": {"quiet": Work.STOP in self.log},  # all processes of intake have ended
            "told": {"told": now.own is not Batch.NONE},
            "receipt": {"receipt": Work.DELIVER in self.log},
        }
        if what == "batch" and now.before is Batch.NONE:
            changes["batch"]["missing"] = 2
        if now.first and what in ("batch", "destroyed"):
            return
        self.facts = now._replace(**changes.get(what, {}))

    def drive(self, time):
        for _ in range(20):
            if (happened := event(self.facts, time)) is not None:
                state = TRANSITIONS[self.facts.state, happened]  # every one is in the table
                self.log.append(state)
                self.facts = self.facts._replace(state=state)
            elif (todo := work(self.facts, time)) in (Work.TAKE, Work.STOP, Work.DELIVER, None):
                self.log.append(todo)
                return
            else:
                self.log.append(todo)
                self.do(todo)
        raise AssertionError("it goes round in circles")

    def do(self, todo):
        if todo is Work.RECEIVE:
            self.facts = self.facts._replace(received=True)
        elif todo is Work.MIX:
            nothing = self.few or self.facts.before is Batch.DESTROYED
            own = Batch.DESTROYED if nothing else Batch.PIECES
            self.facts = self.facts._replace(own=own)
        elif todo is Work.DECLARE:
            assert self.facts.own is Batch.NONE
            self.facts = self.facts._replace(own=Batch.DESTROYED)
        elif todo is Work.SHRED:
            self.facts = self.facts._replace(gone=True)


HAPPENINGS = ["signed", "batch", "destroyed", "piece", "told", "receipt", "idle", "tick"]


@given(
    st.booleans(),
    st.booleans(),
    st.lists(st.tuples(st.sampled_from(HAPPENINGS), st.integers(0, 40)), max_size=25),
)
def test_any_schedule(first, few, schedule):
    world, time = World(first, few), 0
    for what, passes in schedule:
        time += passes
        world.happens(what)
        world.drive(time)
    for what in HAPPENINGS:
        world.happens(what)
        world.drive(EXPIRES)
    world.drive(EXPIRES)
    assert world.facts.state is State.SHREDDED  # whatever happened, by its expiry it is over
    log = world.log
    for once in (Work.MIX, Work.RECEIVE, Work.DECLARE, Work.SHRED, *State):
        assert log.count(once) <= 1
    if Work.DELIVER in log:
        assert log.index(State.MIXED) < log.index(Work.DELIVER)
    if Work.MIX in log:
        assert log.index(State.CLOSED) < log.index(Work.MIX)
        assert Work.TAKE not in log[log.index(State.CLOSED) :]
        assert not first or Work.STOP in log[: log.index(State.CLOSED)]
    if State.DELIVERED in log:
        assert Work.DELIVER in log
    assert world.facts.own is not Batch.NONE  # it has said how it ended
    assert log[-1] is None
