"""Arrival lists of a role: sorted in little memory, served whole, kept for 30 days."""

import asyncio
from hashlib import sha256

import pytest

from helpers.mixes import run, town_of
from helpers.roles_in_folders import ask
from mixtally.device.wire import arrivals
from mixtally.device.wire.arrivals import check_arrivals, find_tags, make_list, make_tagger
from mixtally.device.wire.manifest import read_manifest
from mixtally.errors import RefusedError
from mixtally.server.engine import listing
from mixtally.server.engine.listing import cut_pieces, write_list
from mixtally.server.node.lists import KEPT_SECONDS, Lists
from mixtally.server.node.web.long_responses import LongFileResponse

SHEET = bytes(range(32))
TAG = make_tagger(SHEET, 2)


def test_a_tag_is_that_of_the_specification():
    data = b"mixtally arrival 1" + SHEET + b"\x02\x00\x07" + b"bytes"
    assert make_tagger(SHEET, 2, 7)(b"bytes") == sha256(data).digest()[:8]


@pytest.mark.parametrize("most_held", [1 << 26, 64])
@pytest.mark.parametrize("many", [0, 1, 5, 1000])
def test_a_list_is_sorted_whatever_memory_there_is(tmp_path, monkeypatch, many, most_held):
    monkeypatch.setattr(listing, "_AT_ONCE", 7)
    monkeypatch.setattr(listing, "MOST_LISTED", 3)
    monkeypatch.setattr(arrivals, "MOST_LISTED", 3)
    items = [b"%d" % (i // 2) for i in range(many)]  # each twice
    stored = {}
    files = write_list(items, TAG, stored.__setitem__, tmp_path, most_held)
    assert [stored[one.sha256] for one in files] == make_list(items, TAG)
    assert b"".join(stored[one.sha256] for one in files) == b"".join(sorted(map(TAG, items)))
    wanted = [TAG(b"%d" % i) for i in (0, 1, 499, 500)]
    found = find_tags(wanted, files, stored.__getitem__)
    assert found == {tag for tag in wanted if tag in set(map(TAG, items))}
    assert list(tmp_path.iterdir()) == []


def test_pieces_are_full_but_the_last():
    assert list(cut_pieces([b"ab", b"", b"cdefg"], 3)) == [b"abc", b"def", b"g"]
    assert list(cut_pieces([b"abc"], 3)) == [b"abc"]
    assert list(cut_pieces([], 3)) == []


def test_lists_are_kept_for_a_while_after_the_expiry(tmp_path):
    lists, name = Lists(tmp_path / "lists"), sha256(b"x").hexdigest()
    lists.remove_old(0)  # there is no folder yet
    lists.writer(10**9)(name, b"x")
    assert lists.find(name)[0].read_bytes() == b"x"
    for odd in ("", "..", "../key", name.upper(), name[1:], "0" * 64):
        assert lists.find(odd) is None
    lists.remove_old(10**9 + KEPT_SECONDS)
    assert lists.find(name) is not None
    lists.remove_old(10**9 + KEPT_SECONDS + 1)  # within the hour nobody looks again
    assert lists.find(name) is not None
    lists.remove_old(10**9 + KEPT_SECONDS + 3601)
    assert lists.find(name) is None


def test_a_file_that_is_replaced_while_it_is_sent_is_as_long_as_was_said(tmp_path):
    """An operator may export a round again."""
    path = tmp_path / "file"
    path.write_bytes(b"short")
    answer, sent = LongFileResponse(path, 5, "text/plain"), []
    path.write_bytes(b"much longer")

    async def send(message):
        sent.append(message)

    asyncio.run(answer({}, None, send))
    assert b"".join(one.get("body", b"") for one in sent) == b"much "


def test_every_mix_serves_the_lists_that_its_manifest_names(tmp_path):
    """Those of mix 2 are a function of what mix 1 has sent; a bundle that is left out is listed."""
    town = town_of(tmp_path)
    bundles = [town.bundle([bytes([i % 4])]) for i in range(6)]
    left_out = bytes(len(bundles[0]))
    for one in [*bundles, bundles[0], left_out]:
        assert town.send(one).status == 201
    run(town)
    row = town.mixes[0].node.rounds.all()[0]
    sheet, received = bytes.fromhex(row.sheet), [*bundles, left_out]
    for place, mix in enumerate(town.mixes, start=1):
        note = mix.node.notes.of(mix.node.manifest_hash(row, place))
        manifest = read_manifest(note)
        (files,) = manifest.arrivals
        app, stored = town.apps[mix.node.folder.role.address], {}
        for file in files:
            answer = ask(app, "GET", f"/pieces/{file.sha256}")
            assert answer.status == 200
            assert answer.headers["content-type"] == "application/octet-stream"
            stored[file.sha256] = answer.body
            ranged = ask(app, "GET", f"/pieces/{file.sha256}", headers=[("Range", "bytes=0-7")])
            assert (ranged.status, ranged.body) == (200, answer.body)
        if place == 1:
            (data,) = make_list(received, make_tagger(sheet, 1))
            assert stored == {files[0].sha256: data}
        assert files[0].tags == (7 if place == 1 else manifest.parts[0].received)
        if place == len(town.mixes):  # whose round goes on until the collector's receipt
            size = town.jobs[0].sizes[0][place - 1]
            data = b"".join(path.read_bytes() for path in mix.node.round_folder(row).glob("in-*"))
            came = [data[at : at + size] for at in range(0, len(data), size)]
            check_arrivals(manifest.arrivals, [came], sheet, place)
            with pytest.raises(RefusedError, match="tags of the envelopes"):
                check_arrivals(manifest.arrivals, [came[1:] + came[:1] * 2], sheet, place)
        for piece in manifest.parts[0].pieces:
            assert ask(app, "GET", f"/pieces/{piece.sha256}").status == 404
    town.end()
