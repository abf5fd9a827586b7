"""The core alone: whatever happens in whatever order, rounds move as the table says and end."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixtally.server.mix.core import (
    ENDS,
    TRANSITIONS,
    Event,
    Facts,
    MixState,
    Work,
    next_event,
    next_work,
)
from mixtally.server.node.batch_status import BatchStatus
from mixtally.server.node.rounds import SIGNED

CLOSES, EXPIRES = 100, 200


def facts(state, **changes):
    fields = {"closes": CLOSES, "expires": EXPIRES, "first": True}
    return Facts(state, **fields | changes)


def test_the_first_state_is_that_of_a_signed_sheet():
    assert MixState.SIGNED == SIGNED


def test_every_way_ends_in_nothing_left():
    reached = {MixState.SIGNED}
    for _ in MixState:
        reached |= {to for (state, _), to in TRANSITIONS.items() if state in reached}
    assert reached == set(MixState)
    assert not [state for state, _ in TRANSITIONS if state is MixState.SHREDDED]
    for state in ENDS:
        assert {to for (one, _), to in TRANSITIONS.items() if one is state} == {MixState.SHREDDED}


@pytest.mark.parametrize(
    ("state", "changes", "now", "wanted"),
    [
        (MixState.SIGNED, {}, 0, None),
        (MixState.SIGNED, {"all_signed": True}, 0, Event.ALL_SIGNED),
        (MixState.SIGNED, {"all_signed": True}, EXPIRES, Event.EXPIRY),
        (MixState.SIGNED, {"withdrawn": True}, 0, Event.WITHDRAWAL),
        (MixState.OPEN, {"withdrawn": True}, EXPIRES, Event.WITHDRAWAL),
        (MixState.OPEN, {"quiet": True}, CLOSES - 1, None),
        (MixState.OPEN, {"quiet": True}, CLOSES, Event.COMPLETE),
        (MixState.OPEN, {}, CLOSES, None),
        (MixState.OPEN, {}, EXPIRES, Event.EXPIRY),
        (MixState.OPEN, {"first": False}, CLOSES, None),
        (
            MixState.OPEN,
            {"first": False, "preceding_batch": BatchStatus.PIECES, "missing": 1},
            CLOSES,
            None,
        ),
        (MixState.OPEN, {"first": False, "preceding_batch": BatchStatus.PIECES}, 0, Event.COMPLETE),
        (
            MixState.OPEN,
            {"first": False, "preceding_batch": BatchStatus.DESTROYED},
            0,
            Event.COMPLETE,
        ),
        (MixState.CLOSED, {}, EXPIRES - 1, None),
        (MixState.CLOSED, {"own_batch": BatchStatus.PIECES}, 0, Event.SIGNED_OFF),
        (MixState.CLOSED, {"own_batch": BatchStatus.DESTROYED}, EXPIRES, Event.TOO_FEW),
        (MixState.CLOSED, {}, EXPIRES, Event.EXPIRY),
        (MixState.MIXED, {"receipt": True}, EXPIRES, Event.RECEIPT),
        (MixState.MIXED, {}, EXPIRES, Event.EXPIRY),
        (MixState.DELIVERED, {}, EXPIRES, None),
        (MixState.DELIVERED, {"destroyed": True}, 0, Event.GONE),
        (MixState.SHREDDED, {"destroyed": True}, EXPIRES, None),
    ],
)
def test_what_has_happened(state, changes, now, wanted):
    assert next_event(facts(state, **changes), now) is wanted


@pytest.mark.parametrize(
    ("state", "changes", "wanted"),
    [
        (MixState.SIGNED, {}, None),
        (MixState.OPEN, {}, Work.TAKE),
        (MixState.OPEN, {"first": False}, None),
        (MixState.CLOSED, {}, Work.MIX),
        (MixState.CLOSED, {"first": False, "preceding_batch": BatchStatus.PIECES}, Work.RECEIVE),
        (
            MixState.CLOSED,
            {"first": False, "preceding_batch": BatchStatus.PIECES, "received": True},
            Work.MIX,
        ),
        (MixState.CLOSED, {"first": False, "preceding_batch": BatchStatus.DESTROYED}, Work.MIX),
        (MixState.MIXED, {"own_batch": BatchStatus.PIECES}, None),
        (MixState.MIXED, {"own_batch": BatchStatus.PIECES, "manifest_sent": True}, Work.DELIVER),
        (MixState.EXPIRED, {}, Work.DECLARE),
        (MixState.EXPIRED, {"own_batch": BatchStatus.PIECES}, Work.SHRED),
        (MixState.DESTROYED, {"own_batch": BatchStatus.DESTROYED}, Work.SHRED),
        (MixState.SHREDDED, {"destroyed": True}, None),
    ],
)
def test_what_is_to_be_done(state, changes, wanted):
    assert next_work(facts(state, **changes), 0) is wanted


def test_bundles_are_taken_until_the_round_closes():
    for now, wanted in ((0, Work.TAKE), (CLOSES - 1, Work.TAKE), (CLOSES, Work.STOP)):
        assert next_work(facts(MixState.OPEN), now) is wanted
    assert next_work(facts(MixState.OPEN, first=False), CLOSES) is None


class World:
    """A round as its disk would be, changed by others and by what is done about it."""

    def __init__(self, first, few):
        self.facts, self.few, self.log = facts(MixState.SIGNED, first=first), few, []

    def happens(self, what):
        now = self.facts
        changes = {
            "signed": {"all_signed": True},
            "batch": {
                "preceding_batch": BatchStatus.PIECES
                if now.preceding_batch is BatchStatus.NONE
                else now.preceding_batch
            },
            "destroyed": {
                "preceding_batch": BatchStatus.DESTROYED
                if now.preceding_batch is BatchStatus.NONE
                else now.preceding_batch
            },
            "piece": {"missing": max(0, now.missing - 1)},
            "idle": {"quiet": Work.STOP in self.log},  # all processes of intake have ended
            "told": {"manifest_sent": now.own_batch is not BatchStatus.NONE},
            "receipt": {"receipt": Work.DELIVER in self.log},
        }
        if what == "batch" and now.preceding_batch is BatchStatus.NONE:
            changes["batch"]["missing"] = 2
        if now.first and what in ("batch", "destroyed"):
            return
        self.facts = now._replace(**changes.get(what, {}))

    def drive(self, time):
        for _ in range(20):
            if (happened := next_event(self.facts, time)) is not None:
                state = TRANSITIONS[self.facts.state, happened]  # every one is in the table
                self.log.append(state)
                self.facts = self.facts._replace(state=state)
            elif (todo := next_work(self.facts, time)) in (
                Work.TAKE,
                Work.STOP,
                Work.DELIVER,
                None,
            ):
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
            nothing = self.few or self.facts.preceding_batch is BatchStatus.DESTROYED
            own = BatchStatus.DESTROYED if nothing else BatchStatus.PIECES
            self.facts = self.facts._replace(own_batch=own)
        elif todo is Work.DECLARE:
            assert self.facts.own_batch is BatchStatus.NONE
            self.facts = self.facts._replace(own_batch=BatchStatus.DESTROYED)
        elif todo is Work.SHRED:
            self.facts = self.facts._replace(destroyed=True)


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
    assert world.facts.state is MixState.SHREDDED  # whatever happened, by its expiry it is over
    log = world.log
    for once in (Work.MIX, Work.RECEIVE, Work.DECLARE, Work.SHRED, *MixState):
        assert log.count(once) <= 1
    if Work.DELIVER in log:
        assert log.index(MixState.MIXED) < log.index(Work.DELIVER)
    if Work.MIX in log:
        assert log.index(MixState.CLOSED) < log.index(Work.MIX)
        assert Work.TAKE not in log[log.index(MixState.CLOSED) :]
        assert not first or Work.STOP in log[: log.index(MixState.CLOSED)]
    if MixState.DELIVERED in log:
        assert Work.DELIVER in log
    assert world.facts.own_batch is not BatchStatus.NONE  # it has said how it ended
    assert log[-1] is None
