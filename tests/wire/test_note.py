"""Signed notes: the published example, all forms of false ones by name."""

import base64
import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixtally.device.contract.fields import text_of
from mixtally.device.contract.roles import format_verifier_key, key_hash
from mixtally.device.wire.note import (
    Signer,
    find_signers,
    merge_notes,
    parse_signer,
    sign_note,
    verify_note,
)
from mixtally.errors import PlanError, RefusedError

# Of golang.org/x/mod/sumdb/note, which the C2SP format comes from.
PUBLISHED_SIGNER = "PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz"
PUBLISHED_VERIFIER = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
PUBLISHED_TEXT = (
    b"If you think cryptography is the answer to your problem,\n"
    b"then you don't know what your problem is.\n"
)
PUBLISHED_LINE = (
    "\n\u2014 PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKv"
    "qfqdngotpRZb6KE6RyyBwJnAM=\n"
)
PUBLISHED = PUBLISHED_TEXT + PUBLISHED_LINE.encode()
PETER = {"PeterNeumann": base64.b64decode(PUBLISHED_VERIFIER.split("+", 2)[2])[1:]}

ANNE, BEN = Signer("anne", bytes(range(32))), Signer("b/e-n_.9", bytes(32))
BOTH = {signer.name: signer.public for signer in (ANNE, BEN)}
TEXT = b'{"a": 1}\n'
NOTE = sign_note(TEXT, ANNE, BEN)


def reason(act):
    with pytest.raises(RefusedError) as caught:
        act()
    return caught.value.reason


def test_the_published_note_is_made_and_verified():
    peter = parse_signer(PUBLISHED_SIGNER)
    assert peter.verifier == PUBLISHED_VERIFIER
    assert peter.private_key_text == PUBLISHED_SIGNER
    assert peter.public == PETER["PeterNeumann"]
    assert sign_note(PUBLISHED_TEXT, peter) == PUBLISHED
    assert verify_note(PUBLISHED, PETER) == PUBLISHED_TEXT


@pytest.mark.parametrize("place", range(len(PUBLISHED)))
def test_no_byte_of_it_can_change(place):
    altered = PUBLISHED[:place] + bytes([PUBLISHED[place] ^ 1]) + PUBLISHED[place + 1 :]
    with pytest.raises(RefusedError):
        verify_note(altered, PETER)


def test_records_write_the_same_verifier_keys():
    assert format_verifier_key(ANNE.name, ANNE.public) == ANNE.verifier


def test_several_sign_one_text():
    assert text_of(NOTE) == TEXT
    assert find_signers(NOTE, BOTH) == {"anne", "b/e-n_.9"}
    assert verify_note(NOTE, BOTH) == TEXT
    assert sign_note(sign_note(TEXT, ANNE), BEN) == NOTE
    assert sign_note(NOTE, ANNE) == NOTE  # the same text again gives the same signature, once
    assert merge_notes(TEXT, [sign_note(TEXT, ANNE), sign_note(TEXT, BEN), NOTE]) == NOTE
    assert merge_notes(TEXT, []) == TEXT


def test_who_has_not_signed_is_named():
    with pytest.raises(RefusedError, match=r"none of b/e-n_\.9") as caught:
        verify_note(sign_note(TEXT, ANNE), BOTH)
    assert caught.value.reason == "signature-missing"
    assert reason(lambda: verify_note(TEXT, BOTH)) == "signature-missing"


def test_two_texts_with_one_key_are_two_notes():
    first, second = (sign_note(text, ANNE) for text in (TEXT, b'{"a": 2}\n'))
    assert first.splitlines()[-1] != second.splitlines()[-1]
    assert reason(lambda: merge_notes(TEXT, [first, second])) == "another-text"
    moved = second.replace(b"2", b"1")
    assert reason(lambda: verify_note(moved, BOTH)) == "signature-false"


def test_lines_of_others_say_nothing():
    stranger, double = Signer("stranger", b"s" * 32), Signer("anne", b"d" * 32)
    other = sign_note(TEXT, stranger, double)
    assert find_signers(other, BOTH) == frozenset()  # a name alone is no key
    assert verify_note(merge_notes(TEXT, [other, NOTE]), BOTH) == TEXT
    for order in ([other, NOTE], [NOTE, other]):
        assert merge_notes(TEXT, order, BOTH) == NOTE
    assert find_signers(NOTE, {}) == frozenset()


def test_a_note_keeps_one_line_of_each_known_name():
    backwards = sign_note(TEXT, BEN, ANNE)
    assert merge_notes(TEXT, [backwards, NOTE], BOTH) == NOTE
    assert merge_notes(TEXT, [backwards], {"anne": ANNE.public}) == sign_note(TEXT, ANNE)
    assert merge_notes(TEXT, [TEXT], BOTH) == TEXT


def line(name="anne", raw=None, dash="\u2014 ", end="\n"):
    raw = key_hash("anne", ANNE.public) + bytes(64) if raw is None else raw
    return f"{dash}{name} {base64.b64encode(raw).decode()}{end}".encode()


GOOD = ANNE.signature_line(TEXT)
OTHER = sign_note(TEXT, Signer("stranger", b"s" * 32))[len(TEXT) + 1 :]


def respelled(good):
    """The same bytes in base64 whose last character has other unused bits."""
    before, last = good[:-3], good[-3:-2]
    alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    found = before + alphabet[alphabet.index(last) + 1 :][:1] + b"=\n"
    assert base64.b64decode(found.split()[-1]) == base64.b64decode(good.split()[-1])
    return found


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("no last newline of the text", b"{}"),
        ("nothing", b""),
        ("a tab", b"{\t}\n\n" + GOOD),
        ("a carriage return", b"{}\r\n\n" + GOOD),
        ("a zero", b"{\0}\n"),
        ("an escape", b"{\x1b}\n\n" + GOOD),
        ("half a character", b"{\xc3}\n\n" + GOOD),
        ("a surrogate", b"{\xed\xa0\x80}\n\n" + GOOD),
        ("no last newline of a line", TEXT + b"\n" + GOOD[:-1]),
        ("an empty line behind", TEXT + b"\n" + GOOD + b"\n"),
        ("an empty line between", TEXT + b"\n" + GOOD + b"\n" + GOOD),
        ("text behind", TEXT + b"\n" + GOOD + b"more\n"),
        ("a hyphen", TEXT + b"\n" + GOOD + line(dash="- ")),
        ("no space behind the dash", TEXT + b"\n" + GOOD + line(dash="\u2014")),
        ("no name", TEXT + b"\n" + GOOD + line(name="")),
        ("two spaces", TEXT + b"\n" + GOOD + line(name="anne ")),
        ("a plus in the name", TEXT + b"\n" + GOOD + line(name="an+ne")),
        ("a name of another script", TEXT + b"\n" + GOOD + line(name="\u00e4nne")),
        ("a name too long", TEXT + b"\n" + GOOD + line(name="a" * 101)),
        ("a name alone", TEXT + b"\n" + "\u2014 anne\n".encode()),
        ("no signature behind the hash", TEXT + b"\n" + GOOD + line(raw=bytes(4))),
        ("no base64", TEXT + b"\n" + GOOD.replace(b"=", b"!")),
        ("base64 of another alphabet", TEXT + b"\n" + line(raw=b"\xff" * 68).replace(b"/", b"_")),
        ("no padding", TEXT + b"\n" + GOOD.replace(b"=", b"")),
        ("base64 in two spellings", TEXT + b"\n" + respelled(GOOD)),
        ("a space behind", TEXT + b"\n" + GOOD[:-1] + b" \n"),
        ("a carriage return behind", TEXT + b"\n" + GOOD[:-1] + b"\r\n"),
        ("101 lines", TEXT + b"\n" + GOOD * 101),
        ("10,000 lines", TEXT + b"\n" + GOOD * 10_000),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_no_note_is_refused(name, data):
    assert reason(lambda: find_signers(data, BOTH)) == "no-note", name


@pytest.mark.parametrize(
    ("name", "raw"),
    [
        ("zeros", bytes(64)),
        ("a byte", b"\1"),
        ("a byte less", base64.b64decode(GOOD.split()[-1])[4:-1]),
        ("a byte more", base64.b64decode(GOOD.split()[-1])[4:] + b"\0"),
        ("of another text", base64.b64decode(ANNE.signature_line(b"{}\n").split()[-1])[4:]),
        (
            "s plus the order of the group",
            base64.b64decode(GOOD.split()[-1])[4:36]
            + (
                int.from_bytes(base64.b64decode(GOOD.split()[-1])[36:], "little")
                + 2**252
                + 27742317777372353535851937790883648493
            ).to_bytes(32, "little"),
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_false_signature_of_a_known_key_is_refused(name, raw):
    false = line(raw=key_hash("anne", ANNE.public) + raw)
    for lines in (false, GOOD + false, false + GOOD):
        data = TEXT + b"\n" + lines
        assert reason(lambda: find_signers(data, BOTH)) == "signature-false", name  # noqa: B023
        assert reason(lambda: merge_notes(TEXT, [data], BOTH)) == "signature-false"  # noqa: B023


EASY = [
    *("00" * 32, "00" * 31 + "80", "01" + "00" * 31, "01" + "00" * 30 + "80"),
    *("ec" + "ff" * 30 + "7f", "ec" + "ff" * 31, "ed" + "ff" * 30 + "7f", "ee" + "ff" * 30 + "7f"),
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
]


@pytest.mark.parametrize("public", EASY)
def test_a_key_with_which_everybody_signs_has_signed_nothing(public):
    key = bytes.fromhex(public)
    for front in EASY:  # one of eight texts has such a signature, without any secret
        raw = key_hash("easy", key) + bytes.fromhex(front) + bytes(32)
        for number in range(3):
            text = b"%d\n" % number
            data = text + b"\n" + line("easy", raw)
            assert reason(lambda: find_signers(data, {"easy": key})) == "signature-false"  # noqa: B023


def test_a_hundred_lines_are_a_note_and_no_more_come_of_joining():
    crowd = [Signer(f"s{i}", bytes([i] * 32)) for i in range(101)]
    full = sign_note(TEXT, *crowd[:100])
    assert len(find_signers(full, {one.name: one.public for one in crowd})) == 100
    assert reason(lambda: sign_note(full, ANNE)) == "no-note"
    assert reason(lambda: merge_notes(TEXT, [full, NOTE])) == "no-note"
    assert merge_notes(TEXT, [full, NOTE], BOTH) == NOTE
    assert sign_note(full, crowd[7]) == full


@pytest.mark.parametrize("text", [b"", b"a", b"a\tb\n", b"\xff\n"])
def test_nobody_signs_what_no_note_can_carry(text):
    assert reason(lambda: sign_note(text, ANNE)) == "no-note"


@given(st.text(alphabet=st.sampled_from("a\n \u2014{}"), max_size=12))
def test_a_signed_text_is_read_back_whole(drawn):
    text = text_of((drawn + "\n").encode())
    try:
        data = sign_note(text, ANNE)
    except RefusedError:
        return
    assert text_of(data) == text
    assert verify_note(data, {"anne": ANNE.public}) == text


@pytest.mark.parametrize(
    "written",
    [
        "",
        PUBLISHED_VERIFIER,
        PUBLISHED_SIGNER[:-1],
        PUBLISHED_SIGNER + "=",
        PUBLISHED_SIGNER + "\n",
        PUBLISHED_SIGNER.replace("c74f20a3", "C74F20A3"),
        PUBLISHED_SIGNER.replace("c74f20a3", "c74f20a4"),
        PUBLISHED_SIGNER.replace("PeterNeumann", "Peter Neumann"),
        PUBLISHED_SIGNER.replace("+AYEK", "+AoEK"),
        PUBLISHED_SIGNER.removeprefix("PRIVATE+KEY+"),
        "PRIVATE+KEY++c74f20a3+" + base64.b64encode(b"\1" + bytes(32)).decode(),
        "PRIVATE+KEY+p\u00e9ter+c74f20a3+\u00e9",
    ],
)
def test_a_false_signing_key_is_refused_without_being_shown(written):
    with pytest.raises(PlanError) as caught:
        parse_signer(written)
    assert "EKFALVFGyN" not in str(caught.value)


@pytest.mark.parametrize("name", ["", "a b", "a+b", "\u00e4", "-a", "a" * 101, "a\n"])
def test_a_name_that_notes_cannot_carry_is_refused(name):
    with pytest.raises(PlanError):
        Signer(name, bytes(32))


@pytest.mark.parametrize("size", [0, 31, 33])
def test_a_seed_of_another_length_is_refused(size):
    with pytest.raises(PlanError, match=f"got {size} bytes"):
        Signer("anne", bytes(size))


def test_a_signer_does_not_show_its_seed():
    assert "01020304" not in repr(ANNE)
    assert repr(bytes(range(32)))[2:20] not in repr(ANNE)


def test_the_hash_of_a_key_is_of_its_name_and_form():
    wanted = hashlib.sha256(b"anne\n\1" + ANNE.public).digest()[:4]
    assert key_hash("anne", ANNE.public) == wanted
