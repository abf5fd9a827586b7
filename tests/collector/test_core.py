"""How a round moves, by facts alone: every state, every way out, no way back."""

from itertools import product

import pytest

from mixtally.server.collector.core import ENDS, CollectorState, Facts, Work, next_state, next_work
from mixtally.server.node.batch_status import BatchStatus

EXPIRES = 100


def facts(state, **changes):
    return Facts(state, EXPIRES, **changes)


@pytest.mark.parametrize(
    ("known", "now", "wanted"),
    [
        (facts(CollectorState.SIGNED), 5, None),
        (facts(CollectorState.SIGNED, all_signed=True), 5, CollectorState.OPEN),
        (facts(CollectorState.SIGNED, all_signed=True), EXPIRES, CollectorState.EXPIRED),
        (facts(CollectorState.OPEN), 5, None),
        (facts(CollectorState.OPEN), EXPIRES, CollectorState.EXPIRED),
        (
            facts(CollectorState.OPEN, batch=BatchStatus.PIECES, charged=True),
            EXPIRES,
            CollectorState.EXPIRED,
        ),
        (
            facts(CollectorState.OPEN, batch=BatchStatus.PIECES, receipt=True),
            5,
            CollectorState.RECEIVED,
        ),
        (
            facts(CollectorState.OPEN, batch=BatchStatus.PIECES, receipt=True),
            EXPIRES,
            CollectorState.RECEIVED,
        ),
        (facts(CollectorState.OPEN, batch=BatchStatus.DESTROYED), 5, CollectorState.DESTROYED),
        (
            facts(CollectorState.OPEN, batch=BatchStatus.DESTROYED),
            EXPIRES,
            CollectorState.DESTROYED,
        ),
        (facts(CollectorState.RECEIVED), EXPIRES, None),
        (facts(CollectorState.RECEIVED, tallied=True), EXPIRES, CollectorState.COUNTED),
        (facts(CollectorState.COUNTED), EXPIRES, None),
        (facts(CollectorState.COUNTED, released=True), 5, CollectorState.RELEASED),
        (facts(CollectorState.COUNTED, released=False), 5, CollectorState.REFUSED),
    ],
)
def test_moves(known, now, wanted):
    assert next_state(known, now) is wanted


@pytest.mark.parametrize(
    ("known", "wanted"),
    [
        (facts(CollectorState.SIGNED), None),
        (facts(CollectorState.OPEN), None),
        (facts(CollectorState.OPEN, batch=BatchStatus.PIECES), Work.EXPECT),
        (
            facts(CollectorState.OPEN, batch=BatchStatus.PIECES, charged=True, missing=1),
            Work.EXPECT,
        ),
        (facts(CollectorState.OPEN, batch=BatchStatus.PIECES, charged=True), Work.RECEIVE),
        (facts(CollectorState.RECEIVED), Work.COUNT),
        (facts(CollectorState.COUNTED), Work.SHRED),
        (facts(CollectorState.COUNTED, manifests=True), Work.SHRED),
        (facts(CollectorState.COUNTED, destroyed=True), Work.ASK),
        (facts(CollectorState.COUNTED, destroyed=True, manifests=True), Work.CONCLUDE),
        (facts(CollectorState.RELEASED), Work.SHRED),
        (facts(CollectorState.RELEASED, destroyed=True), None),
        (facts(CollectorState.EXPIRED), Work.SHRED),
        (facts(CollectorState.DESTROYED), Work.SHRED),
        (facts(CollectorState.DESTROYED, destroyed=True), None),
    ],
)
def test_work(known, wanted):
    assert next_work(known) is wanted


def every():
    flags = (False, True)
    names = ("all_signed", "charged", "receipt", "tallied", "manifests", "destroyed")
    for state, batch, missing, released in product(
        CollectorState, BatchStatus, (0, 2), (None, False, True)
    ):
        for values in product(flags, repeat=len(names)):
            more = dict(zip(names, values, strict=True))
            yield facts(state, batch=batch, missing=missing, released=released, **more)


def test_what_always_holds():
    order = list(CollectorState)
    for known in every():
        for now in (5, EXPIRES):
            state = next_state(known, now)
            if state is not None:
                assert order.index(state) > order.index(known.state)
            assert known.state not in ENDS or state is None
        todo = next_work(known)
        if todo is Work.RECEIVE:
            assert known.charged
            assert not known.missing
        if known.state in ENDS and not known.destroyed:
            assert todo is Work.SHRED
        if todo is Work.CONCLUDE:
            assert known.destroyed
