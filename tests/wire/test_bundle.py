"""Bundles: taken apart as they were put together, wrong numbers told by place."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixtally.errors import RefusedError
from mixtally.wire.bundle import PartShape, envelopes, split, write_bundle
from wire.builders import reason

SHAPES = (PartShape(1, 3, 4), PartShape(2, 2, 1))


def bundle(first=1, second=2, byte=b"x"):
    return write_bundle([[byte * 4] * first, [byte] * second])


@st.composite
def crowds(draw):
    """Shapes, and people's envelopes that fit them."""
    shapes, people = [], []
    for _ in range(draw(st.integers(1, 4))):
        least = draw(st.integers(0, 3))
        shapes.append(PartShape(least, least + draw(st.integers(0, 3)), draw(st.integers(1, 9))))
    for _ in range(draw(st.integers(1, 4))):
        person = []
        for least, most, size in shapes:
            one = st.binary(min_size=size, max_size=size)
            person.append(draw(st.lists(one, min_size=least, max_size=most)))
        people.append(person)
    return shapes, people


@given(crowds())
def test_taking_apart_undoes_putting_together(crowd):
    shapes, people = crowd
    written = [write_bundle(person) for person in people]
    found = split(b"".join(written), shapes)
    assert found.bundles == written
    assert found.wrong == []
    assert [list(envelopes(one, shapes)) for one in found.bundles] == people


@given(crowds(), st.integers(1, 8))
def test_a_body_that_was_cut_is_refused(crowd, cut):
    shapes, people = crowd
    body = write_bundle(people[0])
    assert reason(split, body[: -min(cut, len(body))], shapes) == "body-length"


@given(crowds(), st.binary(min_size=1, max_size=3))
def test_bytes_behind_the_last_bundle_are_refused_or_a_bundle(crowd, more):
    """Three bytes may begin a bundle of one part; they never lengthen the one before."""
    shapes, people = crowd
    body = write_bundle(people[0])
    try:
        found = split(body + more, shapes)
    except RefusedError as error:
        why = error.reason
    else:
        why = None
        assert found.bundles[:1] == [body]
        assert len(found.bundles) + len(found.wrong) >= 2
    assert why in (None, "body-length")


def test_its_bytes_are_as_the_page_says():
    assert bundle(2, 2, b"y") == bytes([0, 2, 0, 2]) + b"yyyyyyyy" + b"yy"


def test_wrong_numbers_are_told_by_place():
    good, few, many, other = bundle(), bundle(0), bundle(4), bundle(3, 1)
    found = split(few + good + many + good + other, SHAPES)
    assert found.bundles == [good, good]
    assert found.wrong == [0, 2, 4]
    assert split(few, SHAPES) == ([], [0])


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\0",
        b"\0\1\0",
        b"\0\1\0\2",
        bundle()[:-1],
        bundle() + b"\0",
        bundle() + b"\0\1\0\2",
        bundle() + bundle()[:-1],
        b"\xff\xff" * 2 + bytes(1000),
        b"\n" + bundle(),
    ],
)
def test_a_body_of_no_whole_bundles_is_refused(body):
    assert reason(split, body, SHAPES) == "body-length"


def test_the_bounds_are_allowed():
    for first in (1, 3):
        assert split(bundle(first), SHAPES).wrong == []


def test_a_length_follows_from_the_numbers_alone():
    assert len({len(bundle(2, 2, bytes([value]))) for value in range(256)}) == 1
