"""How a round moves, by facts alone: every state, every way out, no way back."""

from itertools import product

import pytest

from mixtally.server.collector.core import ENDS, Facts, State, Work, moved, work
from mixtally.server.node.batch import Batch

EXPIRES = 100


def facts(state, **changes):
    return Facts(state, EXPIRES, **changes)


@pytest.mark.parametrize(
    ("known", "now", "wanted"),
    [
        (facts(State.SIGNED), 5, None),
        (facts(State.SIGNED, all_signed=True), 5, State.OPEN),
        (facts(State.SIGNED, all_signed=True), EXPIRES, State.EXPIRED),
        (facts(State.OPEN), 5, None),
        (facts(State.OPEN), EXPIRES, State.EXPIRED),
        (facts(State.OPEN, batch=Batch.PIECES, charged=True), EXPIRES, State.EXPIRED),
        (facts(State.OPEN, batch=Batch.PIECES, receipt=True), 5, State.RECEIVED),
        (facts(State.OPEN, batch=Batch.PIECES, receipt=True), EXPIRES, State.RECEIVED),
        (facts(State.OPEN, batch=Batch.DESTROYED), 5, State.DESTROYED),
        (facts(State.OPEN, batch=Batch.DESTROYED), EXPIRES, State.DESTROYED),
        (facts(State.RECEIVED), EXPIRES, None),
        (facts(State.RECEIVED, tallied=True), EXPIRES, State.COUNTED),
        (facts(State.COUNTED), EXPIRES, None),
        (facts(State.COUNTED, released=True), 5, State.RELEASED),
        (facts(State.COUNTED, released=False), 5, State.REFUSED),
    ],
)
def test_moves(known, now, wanted):
    assert moved(known, now) is wanted


@pytest.mark.parametrize(
    ("known", "wanted"),
    [
        (facts(State.SIGNED), None),
        (facts(State.OPEN), None),
        (facts(State.OPEN, batch=Batch.PIECES), Work.EXPECT),
        (facts(State.OPEN, batch=Batch.PIECES, charged=True, missing=1), Work.EXPECT),
        (facts(State.OPEN, batch=Batch.PIECES, charged=True), Work.RECEIVE),
        (facts(State.RECEIVED), Work.COUNT),
        (facts(State.COUNTED), Work.SHRED),
        (facts(State.COUNTED, manifests=True), Work.SHRED),
        (facts(State.COUNTED, gone=True), Work.ASK),
        (facts(State.COUNTED, gone=True, manifests=True), Work.CONCLUDE),
        (facts(State.RELEASED), Work.SHRED),
        (facts(State.RELEASED, gone=True), None),
        (facts(State.EXPIRED), Work.SHRED),
        (facts(State.DESTROYED), Work.SHRED),
        (facts(State.DESTROYED, gone=True), None),
    ],
)
def test_work(known, wanted):
    assert work(known) is wanted


def every():
    flags = (False, True)
    names = ("all_signed", "charged", "receipt", "tallied", "manifests", "gone")
    for state, batch, missing, released in product(State, Batch, (0, 2), (None, False, True)):
        for values in product(flags, repeat=len(names)):
            more = dict(zip(names, values, strict=True))
            yield facts(state, batch=batch, missing=missing, released=released, **more)


def test_what_always_holds():
    order = list(State)
    for known in every():
        for now in (5, EXPIRES):
            state = moved(known, now)
            if state is not None:
                assert order.index(state) > order.index(known.state)
            assert known.state not in ENDS or state is None
        todo = work(known)
        if todo is Work.RECEIVE:
            assert known.charged
            assert not known.missing
        if known.state in ENDS and not known.gone:
            assert todo is Work.SHRED
        if todo is Work.CONCLUDE:
            assert known.gone
