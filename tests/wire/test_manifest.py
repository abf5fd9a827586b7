"""Manifests and receipts: there and back, every field that is malformed, sums that are false."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.listed import invented, listed
from mixtally.device.wire import arrivals
from mixtally.device.wire import manifest as room
from mixtally.device.wire.arrivals import MOST_LISTED
from mixtally.device.wire.manifest import (
    Manifest,
    PartManifest,
    Piece,
    Receipt,
    read_manifest,
    read_receipt,
    write_manifest,
    write_receipt,
)
from wire.builders import GONE, HASH, OTHER, altered, manifest, reason

TEXT = write_manifest(manifest())
LATER = write_manifest(manifest(hop=2))
RECEIPT = write_receipt(Receipt(HASH, 2))
EMPTY = PartManifest(received=0)
FILE = {"sha256": HASH, "tags": 10}


def test_a_manifest_comes_back():
    for one in (
        manifest(),
        manifest(hop=5, overruled=()),
        manifest(parts=(EMPTY,) * 64),
        manifest(bundles=0, destroyed="too-few", parts=(PartManifest(received=12),)),
        manifest(hop=3, destroyed="expired", before=None, parts=(EMPTY,)),
        manifest(hop=3, destroyed="too-few", parts=(EMPTY,)),
    ):
        assert read_manifest(write_manifest(one)) == one


def test_what_leaves_is_what_came_less_what_was_dropped_and_what_was_added():
    part = PartManifest(received=20, copies=3, unopened=2, malformed=1, added=7)
    assert part.sent_count == 21


counts = st.integers(0, 1000)
digests = st.binary(min_size=32, max_size=32).map(bytes.hex)


@st.composite
def parts(draw):
    """A part whose numbers add up."""
    pieces = draw(st.lists(st.builds(Piece, digests, st.integers(1, 1 << 24)), max_size=4))
    pieces = tuple({piece.sha256[2:]: piece for piece in pieces}.values())
    dropped = [draw(counts) for _ in range(3)]
    sent = sum(piece.messages for piece in pieces)
    added = min(sent, draw(counts))
    return PartManifest(sent - added + sum(dropped), *dropped, added, pieces)


@given(digests, st.integers(2, 5), counts, digests, st.lists(parts(), max_size=3))
def test_every_manifest_comes_back(sheet, hop, bundles, before, several):
    parts = tuple(part._replace(pieces=named(place, part)) for place, part in enumerate(several))
    one = listed(Manifest(sheet, hop, bundles, 0, None, before, parts, ("a", "b")))
    assert read_manifest(write_manifest(one)) == one


def named(place, part):
    """Its pieces under names that no other part has."""
    return tuple(Piece(f"{place:02x}{one.sha256[2:]}", one.messages) for one in part.pieces)


def test_a_piece_is_of_one_part():
    part = manifest().parts[0]
    assert reason(read_manifest, write_manifest(manifest(parts=(part, part)))) == "piece-twice"


MALFORMED = [
    ("field-missing", {"overruled": GONE}),
    ("field-missing", {"parts.0.added": GONE}),
    ("field-missing", {"parts.0.pieces.0.messages": GONE}),
    ("field-unknown", {"more": 1}),
    ("field-unknown", {"parts.0.sent": 11}),
    ("field-unknown", {"parts.0.pieces.0.bytes": 11}),
    ("unknown-version", {"version": 0}),
    ("digest-malformed", {"sheet": "ab"}),
    ("hop-out-of-range", {"hop": 0}),
    ("hop-out-of-range", {"hop": 6, "before": OTHER}),
    ("wrong-type", {"hop": "one"}),
    ("messages-out-of-range", {"bundles": -1}),
    ("messages-out-of-range", {"left_out": -1}),
    ("messages-out-of-range", {"bundles": (1 << 40) + 1}),
    ("wrong-type", {"bundles": None}),
    ("unknown-end", {"destroyed": "forgotten"}),
    ("wrong-type", {"destroyed": True}),
    ("wrong-type", {"destroyed": 0}),
    ("destroyed-with-pieces", {"destroyed": "too-few"}),
    ("destroyed-with-pieces", {"destroyed": "too-few", "parts.0.pieces": []}),
    ("digest-malformed", {"hop": 2, "before": "x"}),
    ("wrong-type", {"before": 7}),
    ("before-unfit", {"before": OTHER}),
    ("before-unfit", {"hop": 2}),
    ("wrong-type", {"parts": {}}),
    ("wrong-type", {"parts.0": []}),
    ("messages-out-of-range", {"parts.0.received": -1}),
    ("messages-out-of-range", {"parts.0.copies": -1, "parts.0.received": 7}),
    ("wrong-type", {"parts.0.unopened": 0.0}),
    ("integer-as-string", {"parts.0.malformed": "0"}),
    ("messages-out-of-range", {"parts.0.added": str(1 << 60)}),
    ("false-sum", {"parts.0.added": 4}),
    ("false-sum", {"parts.0.pieces": []}),
    ("false-sum", {"parts.0.copies": 10, "parts.0.added": 12}),
    ("false-sum", {"parts.0.received": 0, "parts.0.pieces": [], "parts.0.added": 1}),
    ("wrong-type", {"parts.0.pieces": None}),
    ("wrong-type", {"parts.0.pieces.0": "x"}),
    ("digest-malformed", {"parts.0.pieces.0.sha256": "X" * 64}),
    ("messages-out-of-range", {"parts.0.pieces.0.messages": 0}),
    ("messages-out-of-range", {"parts.0.pieces.0.messages": (1 << 24) + 1}),
    ("piece-twice", {"parts.0.pieces.0.sha256": "02" * 32}),
    ("wrong-type", {"overruled": "mix"}),
    ("wrong-type", {"overruled": [1]}),
    ("role-name-malformed", {"overruled": [""]}),
    ("role-name-malformed", {"overruled": ["a b"]}),
    ("role-name-malformed", {"overruled": ["a\n"]}),
    ("overruled-unfit", {"overruled": ["a", "a"]}),
    ("overruled-unfit", {"overruled": list("abcdef")}),
    ("field-missing", {"arrivals": GONE}),
    ("wrong-type", {"arrivals": None}),
    ("wrong-type", {"arrivals.0": None}),
    ("wrong-type", {"arrivals.0.0": []}),
    ("field-missing", {"arrivals.0.0.tags": GONE}),
    ("field-unknown", {"arrivals.0.0.messages": 10}),
    ("digest-malformed", {"arrivals.0.0.sha256": HASH[1:]}),
    ("messages-out-of-range", {"arrivals.0.0.tags": 0}),
    ("messages-out-of-range", {"arrivals.0.0.tags": MOST_LISTED + 1}),
    ("arrivals-miscounted", {"arrivals.0.0.tags": 9}),
    ("arrivals-miscounted", {"arrivals.0.0.tags": 11}),
    ("arrivals-miscounted", {"arrivals": []}),
    ("arrivals-miscounted", {"arrivals": [[]]}),
    ("arrivals-miscounted", {"arrivals": [[FILE], []]}),
    ("arrivals-miscounted", {"arrivals": [[FILE, FILE]]}),
    ("arrivals-miscounted", {"arrivals": [[FILE | {"tags": 4}, FILE | {"tags": 6}]]}),
    ("arrivals-miscounted", {"left_out": 0}),
    ("arrivals-miscounted", {"destroyed": "too-few", "parts.0.pieces": [], "parts.0.added": 0}),
]


@pytest.mark.parametrize(("why", "changes"), MALFORMED)
def test_a_malformed_field_is_refused(why, changes):
    assert reason(read_manifest, altered(TEXT, changes)) == why


def test_a_later_hop_names_the_manifest_before():
    assert read_manifest(LATER).before == OTHER
    assert reason(read_manifest, altered(LATER, {"before": None})) == "before-unfit"
    assert reason(read_manifest, altered(LATER, {"hop": 1})) == "before-unfit"
    bare = {"before": None, "parts": [EMPTY._asdict()], "destroyed": "too-few", "arrivals": []}
    assert reason(read_manifest, altered(LATER, bare)) == "before-unfit"
    assert read_manifest(altered(LATER, bare | {"destroyed": "expired"})).before is None


def test_lists_of_later_hops_have_the_tags_of_a_part():
    full = listed(manifest(2, parts=(EMPTY, PartManifest(received=2 * MOST_LISTED + 5))))
    assert [one.tags for one in full.arrivals[1]] == [MOST_LISTED, MOST_LISTED, 5]
    parts = tuple(part._replace(added=1, pieces=(Piece(f"{at}0" * 32, part.received + 1),))
                  for at, part in enumerate(manifest(2).parts * 2, 1))  # fmt: skip
    parts = tuple(part._replace(copies=0) for part in parts)
    assert read_manifest(write_manifest(manifest(2, parts=parts))).received_counts == [9, 9]
    text = write_manifest(manifest(2, parts=parts))
    files = json.loads(text)["arrivals"]
    assert reason(read_manifest, altered(text, {"arrivals": files[:1]})) == "arrivals-miscounted"
    assert reason(read_manifest, altered(text, {"arrivals": [files[0]] * 2})) == "piece-twice"


def test_there_are_not_too_many_files_of_a_list(monkeypatch):
    monkeypatch.setattr(arrivals, "MOST_FILES", 0)
    assert reason(read_manifest, TEXT) == "too-many-pieces"


def test_there_are_not_too_many_pieces(monkeypatch):
    monkeypatch.setattr(room, "MOST_PIECES", 1)
    assert reason(read_manifest, TEXT) == "too-many-pieces"


def test_a_receipt_comes_back():
    for hop in range(2, 7):
        for lists in (None, (), invented([3, 0, MOST_LISTED + 1])):
            one = Receipt(OTHER, hop, lists)
            assert read_receipt(write_receipt(one)) == one


@pytest.mark.parametrize(
    ("why", "changes"),
    [
        ("field-missing", {"manifest": GONE}),
        ("field-unknown", {"sheet": HASH}),
        ("unknown-version", {"version": 2}),
        ("digest-malformed", {"manifest": "0" * 63}),
        ("hop-out-of-range", {"hop": 1}),
        ("hop-out-of-range", {"hop": 7}),
        ("wrong-type", {"hop": 2.0}),
        ("field-missing", {"arrivals": GONE}),
        ("wrong-type", {"arrivals": 0}),
        ("wrong-type", {"arrivals": [{}]}),
        ("messages-out-of-range", {"arrivals": [[FILE | {"tags": 0}]]}),
    ],
)
def test_a_malformed_receipt_is_refused(why, changes):
    assert reason(read_receipt, altered(RECEIPT, changes)) == why
