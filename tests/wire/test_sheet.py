"""Round sheets: there and back, every field that is malformed, and no kind for another."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixtally.device.wire.manifest import (
    Receipt,
    read_manifest,
    read_receipt,
    write_manifest,
    write_receipt,
)
from mixtally.device.wire.note import Signer, sign_note
from mixtally.device.wire.sheet import Sheet, kind_of, read_sheet, sheet_hash, write_sheet
from wire.builders import GONE, HASH, altered, manifest, reason, sheet

TEXT = write_sheet(sheet())


def test_a_sheet_comes_back():
    for one in (
        sheet(),
        sheet(hops=1),
        sheet(hops=5),
        sheet(suite=2),
        sheet(prefixes=((1, 2), (3, 4)), closing=True),
        sheet(prefixes=((),)),
        sheet(prefixes=()),
        sheet(round=1000, opens=0, closes=1, expires=1 << 53),
    ):
        assert read_sheet(write_sheet(one)) == one


def test_it_is_the_same_with_signatures_below():
    note = sign_note(TEXT, Signer("a", bytes(32)))
    assert read_sheet(note) == read_sheet(TEXT)
    assert sheet_hash(note) == sheet_hash(TEXT)
    assert len(sheet_hash(TEXT)) == 32


def test_it_is_written_as_ascii_lines():
    assert TEXT.startswith(b'{\n "version": 1,\n "kind": "sheet",\n "contract": "abab')
    assert TEXT.endswith(b"}\n")
    assert TEXT.isascii()


integers = st.integers(0, 1 << 53)


@given(
    st.lists(integers, min_size=3, max_size=3, unique=True).map(sorted),
    st.integers(1, 1000),
    st.lists(st.binary(min_size=1, max_size=60), min_size=2, max_size=6),
    st.none() | st.lists(st.lists(st.integers(0, 300).map(int), max_size=4).map(tuple), max_size=4),
    st.booleans(),
)
def test_every_sheet_comes_back(times, number, keys, prefixes, closing):
    prefixes = None if prefixes is None else tuple(prefixes)
    one = Sheet(HASH, number, *times, tuple(keys), prefixes, closing)
    assert read_sheet(write_sheet(one)) == one


MALFORMED = [
    ("field-missing", {"closing": GONE}),
    ("field-missing", {"version": GONE}),
    ("field-missing", {"kind": GONE}),
    ("field-unknown", {"more": 1}),
    ("unknown-version", {"version": 2, "new": 1}),
    ("wrong-type", {"version": True}),
    ("wrong-type", {"version": 1.0}),
    ("wrong-type", {"version": None}),
    ("integer-as-string", {"version": "1"}),
    ("another-kind", {"kind": "manifest"}),
    ("another-kind", {"kind": "Sheet"}),
    ("wrong-type", {"kind": 7}),
    ("digest-malformed", {"contract": HASH[:-1]}),
    ("digest-malformed", {"contract": HASH + "a"}),
    ("digest-malformed", {"contract": HASH.upper()}),
    ("digest-malformed", {"contract": HASH[:-1] + "\n"}),
    ("wrong-type", {"contract": 5}),
    ("round-out-of-range", {"round": 0}),
    ("round-out-of-range", {"round": 1001}),
    ("round-out-of-range", {"round": -1}),
    ("round-out-of-range", {"round": str(1 << 70)}),
    ("integer-as-string", {"round": "3"}),
    ("integer-as-number", {"round": (1 << 53) + 1}),
    ("wrong-type", {"round": 3.0}),
    ("wrong-type", {"round": True}),
    ("times-out-of-range", {"opens": 4600}),
    ("times-out-of-range", {"opens": -1}),
    ("times-out-of-range", {"closes": 9000}),
    ("times-out-of-range", {"expires": str((1 << 53) + 1)}),
    ("wrong-type", {"expires": 9000.5}),
    ("wrong-type", {"opens": None}),
    ("wrong-type", {"keys": {}}),
    ("wrong-type", {"keys.0": 7}),
    ("wrong-type", {"keys.0": None}),
    ("key-configuration", {"keys.0": ""}),
    ("key-configuration", {"keys.0": "a"}),
    ("key-configuration", {"keys.0": "AA=="[:-1]}),
    ("key-configuration", {"keys.0": "AB=="}),
    ("key-configuration", {"keys.0": " AA=="}),
    ("key-configuration", {"keys.0": "A-A="}),
    ("key-configuration", {"keys.0": "\u00e9\u00e9\u00e9\u00e9"}),
    ("keys-miscounted", {"keys": []}),
    ("keys-miscounted", {"keys": ["AAAA"]}),
    ("keys-miscounted", {"keys": ["AAAA"] * 7}),
    ("wrong-type", {"prefixes": 3}),
    ("wrong-type", {"prefixes": "abc"}),
    ("wrong-type", {"prefixes": [1]}),
    ("wrong-type", {"prefixes": [["1a"]]}),
    ("wrong-type", {"prefixes": [[True]]}),
    ("integer-as-string", {"prefixes": [["1"]]}),
    ("wrong-type", {"closing": 0}),
    ("wrong-type", {"closing": None}),
]


@pytest.mark.parametrize(("why", "changes"), MALFORMED)
def test_a_malformed_field_is_refused(why, changes):
    assert reason(read_sheet, altered(TEXT, changes)) == why


@pytest.mark.parametrize(
    ("why", "data"),
    [
        ("not-json", b""),
        ("not-json", b"\xef\xbb\xbf" + TEXT),
        ("not-json", TEXT[:-3]),
        ("not-json", TEXT + b"{}"),
        ("not-json", TEXT.replace(b'"round": 3', b'"round": NaN')),
        ("not-json", TEXT.replace(b'"round": 3', b'"round": ' + b"9" * 5000)),
        ("not-json", b"[" * 100_000),
        ("not-json", TEXT.decode().encode("utf-16")),
        ("field-twice", TEXT.replace(b'"round": 3', b'"round": 3, "round": 3')),
        ("wrong-type", b"[]"),
        ("wrong-type", b"7"),
        ("wrong-type", b"null"),
        ("wrong-type", TEXT.replace(b'"round": 3', b'"round": 3e0')),
        ("wrong-type", TEXT.replace(b'"round": 3', b'"round": 1e999')),
    ],
)
def test_what_is_no_such_json_is_refused(why, data):
    assert reason(read_sheet, data) == why


NOTES = {
    "sheet": (read_sheet, TEXT),
    "manifest": (read_manifest, write_manifest(manifest())),
    "receipt": (read_receipt, write_receipt(Receipt(HASH, 2))),
}


@pytest.mark.parametrize("kind", NOTES)
@pytest.mark.parametrize("other", NOTES)
def test_no_kind_passes_for_another(kind, other):
    read, data = NOTES[kind][0], NOTES[other][1]
    assert kind_of(data) == other
    if kind != other:
        assert reason(read, data) == "another-kind"
        renamed = data.replace(f'"kind": "{other}"'.encode(), f'"kind": "{kind}"'.encode())
        assert reason(read, renamed) in ("field-missing", "field-unknown")


def test_a_note_without_a_kind_is_a_contract():
    assert kind_of(b'{"version": 1}\n') == "contract"
    assert reason(read_sheet, b'{"version": 1}\n') == "field-missing"
    for data in (b"[]", b"7\n", b'{"kind": 7}', b'{"kind": null}'):
        assert reason(kind_of, data) == "another-kind"
    assert reason(kind_of, b"{") == "not-json"


def test_names_of_strangers_are_not_repeated_as_they_are():
    name = "\x1b[2J\n" + "x" * 10_000
    for data in (
        altered(TEXT, {name: 1}),
        b'{"' + b"\\u001b" * 9000 + b'": 1, "' + b"\\u001b" * 9000 + b'": 2}',
    ):
        with pytest.raises(Exception, match=r"x1b") as caught:
            read_sheet(data)
        assert str(caught.value).isprintable()
        assert len(str(caught.value)) < 500


def test_plain_data_in_another_order_says_the_same():
    plain = json.loads(TEXT)
    turned = json.dumps(dict(reversed(plain.items()))).encode()
    assert read_sheet(turned) == read_sheet(TEXT)
    assert sheet_hash(turned) != sheet_hash(TEXT)
