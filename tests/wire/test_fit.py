"""A sheet fits its contract, manifests follow one another, pieces are what is named."""

import hashlib

import pytest

from helpers.listed import invented, listed
from mixtally.device.wire.consistency import (
    check_manifests,
    check_piece,
    check_receipt,
    check_sheet,
)
from mixtally.device.wire.manifest import PartManifest, Piece, Receipt
from wire.builders import HASH, OTHER, frame, manifest, reason, sheet

KEYS = sheet().keys


@pytest.mark.parametrize("suite", [1, 2])
@pytest.mark.parametrize("hops", [1, 2, 5])
def test_a_sheet_fits(suite, hops):
    check_sheet(sheet(hops, suite), frame(hops=hops, suite=suite))


@pytest.mark.parametrize(
    ("why", "changes"),
    [
        ("other-contract", {"contract": OTHER}),
        ("round-out-of-range", {"round": 4}),
        ("times-out-of-range", {"opens": 1001}),
        ("times-out-of-range", {"opens": 999}),
        ("times-out-of-range", {"expires": 4600 + 10**7 + 1}),
        ("keys-miscounted", {"keys": KEYS[:2]}),
        ("keys-miscounted", {"keys": (*KEYS, KEYS[0])}),
        ("key-configuration", {"keys": (KEYS[0], KEYS[1], KEYS[2][:-1])}),
        ("key-configuration", {"keys": sheet(suite=2).keys}),
    ],
)
def test_one_that_does_not_is_refused(why, changes):
    assert reason(check_sheet, sheet(**changes), frame()) == why


def chain(*changes):
    """Manifests of the first hops with their names, one for each of ``changes``."""
    several, sent = [], 0
    for place, more in enumerate(changes, start=1):
        made = manifest(place)
        if place > 1:
            piece, before = Piece("03" * 32, sent + 4), f"{place - 1:064x}"
            part = PartManifest(received=sent, added=4, pieces=(piece,))
            made = made._replace(before=before, parts=(part,))
        sent = made.parts[0].sent_count
        several.append((f"{place:064x}", listed(made._replace(**more))))
    return several


NOTHING = (PartManifest(received=0),)


def test_manifests_of_a_round_follow_one_another():
    check_manifests([], HASH, frame())
    check_manifests(chain({}), HASH, frame())
    check_manifests(chain({}, {}), HASH, frame())
    check_manifests(chain({}, {}, {}), HASH, frame(hops=3))


def test_a_round_may_end_at_every_hop():
    few = {"destroyed": "too-few", "parts": NOTHING, "bundles": 8}
    late = {"destroyed": "expired", "parts": NOTHING}
    check_manifests(chain(few, few), HASH, frame())
    check_manifests(chain(few, late | {"bundles": 8}), HASH, frame())
    check_manifests(chain({}, late), HASH, frame())
    check_manifests(chain({}, late | {"before": None, "bundles": 0, "left_out": 0}), HASH, frame())


@pytest.mark.parametrize(
    ("why", "changes"),
    [
        ("other-sheet", [{"sheet": OTHER}]),
        ("other-sheet", [{}, {"sheet": OTHER}]),
        ("other-hop", [{"hop": 2}]),
        ("other-hop", [{}, {"hop": 1}]),
        ("other-hop", [{}, {}, {}]),
        ("parts-miscounted", [{"parts": ()}]),
        ("parts-miscounted", [{"parts": NOTHING * 2}]),
        ("crowd-too-small", [{"bundles": 8}]),
        ("before-unfit", [{}, {"before": OTHER}]),
        ("bundles-differ", [{}, {"bundles": 10}]),
        ("bundles-differ", [{}, {"left_out": 0}]),
        ("received-differs", [{}, {"parts": (PartManifest(12, unopened=12),)}]),
        ("received-differs", [{}, {"parts": NOTHING}]),
        ("not-destroyed", [{"destroyed": "too-few", "parts": NOTHING}, {"parts": NOTHING}]),
    ],
)
def test_those_that_do_not_are_refused(why, changes):
    assert reason(check_manifests, chain(*changes), HASH, frame()) == why


def test_a_receipt_is_of_the_next_hop():
    three = frame(hops=3)
    check_receipt(Receipt(OTHER, 3), OTHER, manifest(2), three)
    assert reason(check_receipt, Receipt(HASH, 3), OTHER, manifest(2), three) == "other-manifest"
    assert reason(check_receipt, Receipt(OTHER, 2), OTHER, manifest(2), three) == "other-hop"


def test_only_the_collectors_receipt_has_lists():
    """They have as many tags as messages that the last hop sent."""
    last, ended = manifest(2), manifest(2, destroyed="expired", parts=NOTHING)
    check_receipt(Receipt(OTHER, 3, invented([11])), OTHER, last, frame())
    check_receipt(Receipt(OTHER, 3, ()), OTHER, ended, frame())
    for receipt, of, hops in (
        (Receipt(OTHER, 3), last, 2),
        (Receipt(OTHER, 3, ()), last, 2),
        (Receipt(OTHER, 3, invented([9])), last, 2),
        (Receipt(OTHER, 3, invented([11])), last, 3),
        (Receipt(OTHER, 3, invented([0])), ended, 2),
    ):
        why = reason(check_receipt, receipt, OTHER, of, frame(hops=hops))
        assert why == "arrivals-miscounted"


def test_a_piece_is_what_is_named():
    data = b"abcdef"
    name = hashlib.sha256(data).hexdigest()
    check_piece(data, Piece(name, 2), 3)
    assert reason(check_piece, data, Piece(OTHER, 2), 3) == "piece-differs"
    assert reason(check_piece, data, Piece(name, 3), 3) == "piece-length"
    large = bytes((1 << 24) + 1)
    named = Piece(hashlib.sha256(large).hexdigest(), len(large))
    assert reason(check_piece, large, named, 1) == "piece-length"
