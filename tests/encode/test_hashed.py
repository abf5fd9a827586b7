"""Points of texts: the same on every machine, even, others for every seed, one a spelling."""

import hashlib

import numpy as np
import pytest

from helpers.planes_golden import golden
from mixtally.device.contract.planes import Planes
from mixtally.errors import DataError, PlanError
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model import planes
from mixtally.model.hashing import HMAC_SHA256, Hashing, draw_seed
from mixtally.model.layout import Form, Layout
from mixtally.model.question import MOST_POINTS, Kind, Question, make_open_question
from mixtally.primitives.codec import from_canonical
from mixtally.primitives.wide import digits_in_base
from mixtally.protocol.encode import hashed as module
from mixtally.protocol.encode.hashed import encode, normalize_text

WORDS = [f"word {number}" for number in range(4000)]
ZERO, ONE = "00" * 16, "01" + "00" * 15


def question(bins=1000, seed=ZERO):
    return Question(name="word", bins=bins, hashed=Hashing(function=HMAC_SHA256, seed=seed))


@pytest.mark.parametrize(
    ("bins", "seed", "codes"),
    [
        (1000, ZERO, [449, 174, 240]),
        (1000, ONE, [867, 120, 763]),
        (
            419**7, "00112233445566778899aabbccddeeff",
            [1684276795712065808, 837457163699359655, 1243694118633069998],
        ),
    ],
)  # fmt: skip
def test_the_points_are_these_on_every_machine(bins, seed, codes):
    assert encode(question(bins, seed), ["apple", "grüße", "日本"]).tolist() == codes


def test_the_hash_is_hmac_as_the_page_says():
    """RFC 2104 by hand: H(key ^ opad, H(key ^ ipad, text)), the key filled up to 64 bytes."""
    key = bytes.fromhex(ONE).ljust(64, b"\0")
    inner, outer = (bytes(byte ^ pad for byte in key) for pad in (0x36, 0x5C))
    first = hashlib.sha256(inner + "grüße".encode()).digest()
    digest = hashlib.sha256(outer + first).digest()
    points = 419**7
    assert encode(question(points, ONE), ["grüße"]) == [int.from_bytes(digest, "big") % points]


@pytest.mark.parametrize(("inputs", "value"), golden("planes-vector"))
def test_vectors_of_another_program_are_met(inputs, value):
    """A word's digits, a direction's number and the message, from a key of other bytes."""
    prime, digits, number = inputs["p"], inputs["t"], int(inputs["j"])
    point = sum(digit * prime**place for place, digit in enumerate(value["digits"]))
    if inputs["word"]:  # no text is no answer
        assert module._point(b"mixtally golden seed", prime**digits, inputs["word"]) == point
    over = Planes(prime, digits)
    assert over.direction(number) == value["direction"]
    assert over.message(point, number) == int(value["message"])
    assert over.message(point, number) % prime == value["cell"]
    assert Layout(Form.INDEX, over.messages).message_bytes == value["bytes"]
    points, numbers = np.array([[point], [number]])
    assert digits_in_base(points, prime, digits)[:, 0].tolist() == value["digits"]
    assert planes.directions(numbers, prime, digits)[:, 0].tolist() == value["direction"]
    assert planes.plane_messages(points, numbers, prime, digits).tolist() == [int(value["message"])]


@pytest.mark.parametrize("planted", ["digits", "direction"])
def test_the_other_order_is_not_that_of_the_vectors(planted, monkeypatch):
    """Planted: digits of a point, or of a direction, the other way round."""
    honest = Planes.direction
    if planted == "direction":
        monkeypatch.setattr(Planes, "direction", lambda self, number: honest(self, number)[::-1])
    found = []
    for inputs, value in golden("planes-vector"):
        over, named = Planes(inputs["p"], inputs["t"]), value["digits"]
        least_first = named if planted == "direction" else named[::-1]
        point = sum(digit * over.prime**place for place, digit in enumerate(least_first))
        found.append(over.message(point, int(inputs["j"])) == int(value["message"]))
    assert not all(found)


@pytest.mark.parametrize(("prime", "digits"), [(2, 2), (3, 3), (5, 2), (7, 3)])
def test_many_messages_at_once_are_those_one_by_one(prime, digits):
    over = Planes(prime, digits)
    points, numbers = np.divmod(np.arange(over.points * over.directions), over.directions)
    found = planes.plane_messages(points, numbers, prime, digits).tolist()
    pairs = zip(points.tolist(), numbers.tolist(), strict=True)
    assert found == [over.message(*pair) for pair in pairs]


def test_every_point_is_as_likely():
    """Chi-square with 99 degrees of freedom below 185: false alarm 4e-7."""
    counts = np.bincount(encode(question(100), WORDS), minlength=100)
    assert ((counts - 40.0) ** 2).sum() / 40.0 < 185


def same(bins=100):
    """How many of the words have one point under two seeds."""
    codes = [encode(question(bins, seed), WORDS) for seed in (ZERO, ONE)]
    return int((codes[0] == codes[1]).sum())


def test_seeds_are_hashes_that_know_nothing_of_each_other():
    """40 of 4,000 words meet their point again, deviation 6.3: false alarm 2e-7."""
    assert abs(same() - 40) < 33


def test_a_hash_without_its_seed_is_found(plant):
    """Planted: the seed is not used."""
    plant(module, "_point", lambda honest, _, points, text: honest(b"", points, text))
    assert same() == 4000


def test_drawn_seeds_differ_and_repeat_with_their_source():
    chance = SeededChance(1)
    first, second = draw_seed(chance), draw_seed(chance)
    assert len(bytes.fromhex(first)) == 16
    assert first != second
    assert draw_seed(SeededChance(1)) == first


def test_spellings_of_one_text_have_one_point_and_others_their_own():
    assert normalize_text("cafe\u0301") == "caf\u00e9"
    codes = encode(question(10_000_000), ["cafe\u0301", "caf\u00e9", "Caf\u00e9", "caf\u00e9 "])
    assert codes[0] == codes[1]
    assert len(set(codes.tolist())) == 3


@pytest.mark.parametrize("text", ["", "\ud800", "a\udfffb"])
def test_what_is_no_text_is_refused(text):
    with pytest.raises(DataError, match="text of whole Unicode characters"):
        encode(question(), [text])


def test_a_question_that_hashes_nothing_is_refused():
    with pytest.raises(PlanError, match="expected an open domain, got 9 bins of one value each"):
        encode(Question(name="q", bins=9), ["a"])


@pytest.mark.parametrize("seed", ["", "00", "AB" * 16, "zz" * 16, "00" * 17])
def test_a_seed_has_one_form(seed):
    with pytest.raises(PlanError, match="32 hexadecimal digits"):
        Hashing(function=HMAC_SHA256, seed=seed)


def test_a_plan_that_names_no_hash_or_another_is_refused():
    with pytest.raises(PlanError, match=r"hash: expected HMAC-SHA-256, got 'BLAKE2b'. Plan again"):
        Hashing(function="BLAKE2b", seed=ZERO)
    old = b'{"seed":"' + ZERO.encode() + b'"}'
    with pytest.raises(PlanError, match=r"missing required field `function`.*Make it again"):
        from_canonical(old, Hashing, "plan.json")


def test_an_open_domain_holds_values_or_sets_of_them_and_has_no_labels():
    assert make_open_question("q", ZERO).bins == MOST_POINTS
    with pytest.raises(PlanError, match="without labels"):
        Question(
            name="q", bins=2, labels=("a", "b"), hashed=Hashing(function=HMAC_SHA256, seed=ZERO)
        )
    with pytest.raises(PlanError, match="one value a record or a set of them"):
        Question(name="q", bins=2, kind=Kind.BITS, hashed=Hashing(function=HMAC_SHA256, seed=ZERO))
    assert make_open_question("q", ZERO, 2).kind is Kind.SET
