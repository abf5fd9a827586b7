"""Bundles: taken apart as they were put together, and refused where they have another length."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixtally.device.wire.bundle import (
    PartShape,
    bundle_bytes,
    check_body,
    part_envelopes,
    split_bundles,
    write_bundle,
)
from wire.builders import reason

SHAPES = (PartShape(3, 1, 4), PartShape(2, 0, 1))


def bundle(first=3, second=2, byte=b"x"):
    return write_bundle([[byte * 4] * first, [byte] * second])


@st.composite
def crowds(draw):
    """Shapes, and people's envelopes that fit them."""
    shapes, people = [], []
    for _ in range(draw(st.integers(1, 4))):
        slots = draw(st.integers(1, 4))
        shapes.append(PartShape(slots, draw(st.integers(0, 1)), draw(st.integers(1, 9))))
    for _ in range(draw(st.integers(1, 4))):
        person = []
        for slots, _, size in shapes:
            one = st.binary(min_size=size, max_size=size)
            person.append(draw(st.lists(one, min_size=slots, max_size=slots)))
        people.append(person)
    return shapes, people


@given(crowds())
def test_taking_apart_undoes_putting_together(crowd):
    shapes, people = crowd
    written = [write_bundle(person) for person in people]
    check_body(b"".join(written), shapes)
    found = list(split_bundles(b"".join(written), shapes))
    assert found == written
    parts = range(len(shapes))
    assert [[part_envelopes(one, shapes, part) for part in parts] for one in found] == people


@given(crowds(), st.integers(1, 8))
def test_a_body_that_was_cut_or_lengthened_is_refused(crowd, count):
    shapes, people = crowd
    body = write_bundle(people[0])
    assert reason(check_body, body[: -min(count, len(body))], shapes) == "body-length"
    if count % len(body):
        assert reason(check_body, body + bytes(count), shapes) == "body-length"


def test_its_bytes_are_as_the_page_says():
    assert bundle(3, 2, b"y") == b"yyyyyyyyyyyy" + b"yy"
    assert bundle_bytes(SHAPES) == 14


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\0",
        bundle()[:-1],
        bundle() + b"\0",
        bundle() + bundle()[:-1],
        bundle(2),
        bundle(4),
        bundle(3, 1),
        bundle(3, 3),
        b"\n" + bundle(),
    ],
)
def test_a_body_of_no_whole_bundles_is_refused(body):
    assert reason(check_body, body, SHAPES) == "body-length"
