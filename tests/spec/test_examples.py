"""Recompute the worked examples of SPEC.md from its text, with both clients."""

import hashlib
import io
import itertools
import json
import math
import re
from pathlib import Path

import pytest

from mixtally.device import client
from mixtally.device.wire.envelope import Opener
from mixtally.device.wire.suite import SUITES
from spec import stranger, stranger_seal

ROOT = Path(__file__).parents[2]
SPEC = (ROOT / "SPEC.md").read_text()
EXAMPLES = SPEC[SPEC.index("### Worked examples\n") : SPEC.index("## 6.")]
MESSAGES = {
    title: (introduction, block)
    for title, introduction, block in re.findall(
        r"^\*\*([^*\n]*)\*\*:((?:(?!```).)*?)```text\n(vector .*?)```",
        EXAMPLES,
        re.MULTILINE | re.DOTALL,
    )
}
WORD = r"\b[0-9a-f]{16}\b"


def read(name):
    return json.loads((ROOT / "vectors" / f"{name}.json").read_text())


def field(block, name):
    return re.search(rf"^{name} +(.*)$", block, re.MULTILINE)[1]


def number(hexadecimal):
    return int.from_bytes(bytes.fromhex(hexadecimal), "little")


def check_message(introduction, block):
    """Compare one example with its vector, and its bytes with those that both programs write."""
    vector = read(field(block, "vector"))
    words = "".join(re.findall(WORD, block))
    value, sent = json.loads(field(block, "value")), [field(block, "sent").split()]
    assert (value, words, sent) == (vector["value"], vector["words"], vector["messages"])
    plan = json.loads(vector["contract"])["plan"]
    (part,) = plan["parts"]
    stated = json.loads(field(block, "part"))
    assert part | stated == part
    tape = io.BytesIO(bytes.fromhex(words))
    parsed = client.parse_contract(vector["contract"].encode()).plan
    written = client.messages(parsed, value, lambda count: tape.read(8 * count))
    assert [[message.hex() for message in messages] for messages in written] == sent
    assert stranger.found(vector | {"value": value, "words": words})["messages"] == sent
    letters = dict(re.findall(r"\b([Dw]) = ([\d +]*\d)", introduction))
    named = sum(map(int, letters["D"].split("+")))
    assert named == part["layout"]["bins"]
    assert int(letters.get("w", (named - 1).bit_length())) == (named - 1).bit_length()


def check_draws(block):
    """Check each result of uniform(b), and each list of messages that an exchange leaves."""
    lines = re.findall(rf"^({WORD})  (.*)$", block, re.MULTILINE)
    for word, use in lines:
        for bound, result in re.findall(r"uniform\((\d+)\) = (\d+)", use):
            assert number(word) % int(bound) == int(result)
    now = field(block, "sent").split()
    for _, use in reversed(lines):
        if not use.startswith("order"):
            break
        shown = re.search(r": ((?:[0-9a-f]{2,4} ?)+)$", use)
        assert shown is None or shown[1].split() == now
        i, j = (int(n) for n in re.search(r"uniform\((\d+)\) = (\d+)", use).groups())
        now[i - 1], now[j] = now[j], now[i - 1]
    record = re.search(r"messages? of the record: (.*)$|: ([0-9a-f]{4})$", block, re.MULTILINE)
    first = (record[1] or record[2]).split() if record else now[:1]
    assert now[: len(first)] == first
    fakes = re.findall(r"fake.* = (\d+)", block)
    assert not fakes or [number(one) for one in now[-len(fakes) :]] == [int(n) for n in fakes]


def test_there_is_an_example_of_every_kind_of_part():
    assert list(MESSAGES) == [
        "In clear as index",
        "In clear over planes",
        "A set in clear",
        "Flipped as bits",
        "Flipped as positions",
    ]


@pytest.mark.parametrize("title", MESSAGES)
def test_a_message_has_the_bytes_of_the_page(title):
    check_message(*MESSAGES[title])
    check_draws(MESSAGES[title][1])


@pytest.mark.parametrize(
    ("title", "old", "new"),
    [
        ("In clear as index", "3910e4", "3a10e4"),
        ("In clear as index", "04 01\n```", "01 04\n```"),
        ("In clear as index", "uniform(5) = 4", "uniform(5) = 3"),
        ("In clear over planes", "sent              3b00", "sent              3b01"),
        ("A set in clear", '"whole": 0', '"whole": 1'),
        ("A set in clear", "0d 0c 07 02\n8", "0c 0d 07 02\n8"),
        ("Flipped as bits", "value             11", "value             10"),
        ("Flipped as positions", "0264\n```", "0246\n```"),
    ],
)
def test_a_message_that_is_wrong_is_noticed(title, old, new):
    introduction, block = MESSAGES[title]
    block += "```"
    assert old in block
    with pytest.raises(AssertionError):
        check_altered(introduction, block.replace(old, new))


def check_altered(introduction, block):
    check_message(introduction, block.removesuffix("```"))
    check_draws(block)


def test_the_point_of_the_example_over_planes():
    introduction, block = MESSAGES["In clear over planes"]
    pairs = [tuple(map(int, pair)) for pair in re.findall(r"\((\d+), (\d+)\)", introduction)]
    d, s = 300, math.isqrt(299) + 1
    assert pairs[0] == (299 % s, 299 // s)
    for r, ((low, high), after) in enumerate(itertools.pairwise(pairs)):
        digest = hashlib.sha256(f"mixtally point {r} {d} {high}".encode()).hexdigest()
        assert after == (high, (low + int(digest, 16)) % s)
    assert f"s = {s}." in introduction
    assert f"y = {s * pairs[-1][1] + pairs[-1][0]}," in introduction
    point = stranger.place(299, d, {"prime": 7, "digits": 3})
    digits = ", ".join(str(point // 7**k % 7) for k in range(3))
    assert f"the point {point} with the digits {digits}." in " ".join(introduction.split())
    plane = stranger.plane_in(point, {"prime": 7, "digits": 3}, 48)
    assert f" = {plane}: {plane.to_bytes(2, 'little').hex()}" in block


def roles():
    """Each role of the example of an envelope, with its fields: name to list of hexadecimal."""
    text = SPEC[SPEC.index("### A worked example\n") : SPEC.index("## 15.")]
    found, fields, last = {}, {}, ""
    for line in re.search(r"```text\n(.*?)```", text, re.DOTALL)[1].splitlines():
        if not line.startswith(" "):
            fields = found[line] = {}
            continue
        name, tokens = line[2:13].strip(), line[13:].split()
        last = name or last
        fields.setdefault(last, []).extend(tokens)
    return found


def check_envelope(found, vector):
    """Open every layer with the secrets and the information of the page."""
    first = found["hop 1"]
    layout = [bytes.fromhex("".join(first[name])) for name in ("share", "ciphertext", "tag")]
    assert [len(piece) for piece in layout] == [32, 100, 16]
    held = b"".join(layout)
    assert held.hex() == vector["envelope"]
    for hop, (fields, secret) in enumerate(zip(found.values(), vector["secrets"], strict=True), 1):
        assert "".join(fields["secret"]) == secret
        prefix, sheet, place, part = map(bytes.fromhex, fields["info"])
        assert prefix == b"mixtally envelope 1"
        assert sheet == hashlib.sha256(vector["sheet"].encode()).digest()
        assert (place, int.from_bytes(part, "big")) == (bytes([hop]), vector["part"])
        opened = Opener(SUITES[1], bytes.fromhex(secret), sheet, hop).open(held, vector["part"])
        info = prefix + sheet + place + part
        assert stranger_seal.open_layer(1, bytes.fromhex(secret), info, held) == opened
        assert opened == bytes.fromhex("".join(fields["opened"]))
        held = opened
    assert held.hex() == "766f7465"


def test_an_envelope_has_the_bytes_of_the_page():
    check_envelope(roles(), read("envelope-suite-1-good"))


@pytest.mark.parametrize(
    ("role", "name"),
    [("hop 1", "tag"), ("hop 1", "secret"), ("hop 2", "info"), ("collector", "opened")],
)
def test_an_envelope_that_is_wrong_is_noticed(role, name):
    found = roles()
    first, *rest = found[role][name]
    found[role][name] = [first[:-1] + ("0" if first[-1] != "0" else "1"), *rest]
    with pytest.raises(AssertionError):
        check_envelope(found, read("envelope-suite-1-good"))
