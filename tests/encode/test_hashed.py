"""Hashed bins: the same on every machine, even, another hash for every seed, one a spelling."""

import hashlib

import numpy as np
import pytest

from mixtally.encode import hashed as module
from mixtally.encode.hashed import encode, normalized
from mixtally.errors import DataError, PlanError
from mixtally.ground.codec import from_canonical
from mixtally.records.hashing import HMAC_SHA256, Hashing, drawn_seed
from mixtally.records.question import Kind, Question
from mixtally.simulation.seeded import SeededChance

WORDS = [f"word {number}" for number in range(4000)]
ZERO, ONE = "00" * 16, "01" + "00" * 15


def question(bins=1000, seed=ZERO):
    return Question(name="word", bins=bins, hashed=Hashing(function=HMAC_SHA256, seed=seed))


@pytest.mark.parametrize(
    ("bins", "seed", "codes"),
    [
        (1000, ZERO, [34, 920, 472]),
        (1000, ONE, [238, 506, 170]),
        (10_000_000, "00112233445566778899aabbccddeeff", [5807500, 8344902, 3785157]),
    ],
)
def test_the_bins_are_these_on_every_machine(bins, seed, codes):
    assert encode(question(bins, seed), ["apple", "grüße", "日本"]).tolist() == codes


def test_the_hash_is_hmac_as_the_page_says():
    """RFC 2104 by hand: H(key ^ opad, H(key ^ ipad, text)), the key filled up to 64 bytes."""
    key = bytes.fromhex(ONE).ljust(64, b"\0")
    inner, outer = (bytes(byte ^ pad for byte in key) for pad in (0x36, 0x5C))
    first = hashlib.sha256(inner + "grüße".encode()).digest()
    digest = hashlib.sha256(outer + first).digest()[:16]
    assert encode(question(7, ONE), ["grüße"]) == [int.from_bytes(digest, "little") * 7 // 2**128]


def test_every_bin_is_as_likely():
    """Chi-square with 99 degrees of freedom below 185: false alarm 4e-7."""
    counts = np.bincount(encode(question(100), WORDS), minlength=100)
    assert ((counts - 40.0) ** 2).sum() / 40.0 < 185


def same(bins=100):
    """How many of the words have one bin under two seeds."""
    codes = [encode(question(bins, seed), WORDS) for seed in (ZERO, ONE)]
    return int((codes[0] == codes[1]).sum())


def test_seeds_are_hashes_that_know_nothing_of_each_other():
    """40 of 4,000 words meet their bin again, deviation 6.3: false alarm 2e-7."""
    assert abs(same() - 40) < 33


def test_a_hash_without_its_seed_is_found(plant):
    """Planted: the seed is not used."""
    plant(module, "_bin", lambda honest, _, bins, value: honest(b"", bins, value))
    assert same() == 4000


def test_drawn_seeds_differ_and_repeat_with_their_source():
    chance = SeededChance(1)
    first, second = drawn_seed(chance), drawn_seed(chance)
    assert len(bytes.fromhex(first)) == 16
    assert first != second
    assert drawn_seed(SeededChance(1)) == first


def test_spellings_of_one_text_have_one_bin_and_others_their_own():
    assert normalized("cafe\u0301") == "caf\u00e9"
    codes = encode(question(10_000_000), ["cafe\u0301", "caf\u00e9", "Caf\u00e9", "caf\u00e9 "])
    assert codes[0] == codes[1]
    assert len(set(codes.tolist())) == 3


@pytest.mark.parametrize("text", ["", "\ud800", "a\udfffb"])
def test_what_is_no_text_is_refused(text):
    with pytest.raises(DataError, match="text of whole Unicode characters"):
        encode(question(), [text])


def test_a_question_that_hashes_nothing_is_refused():
    with pytest.raises(PlanError, match="bins that values share by a hash"):
        encode(Question(name="q", bins=9), ["a"])


@pytest.mark.parametrize("seed", ["", "00", "AB" * 16, "zz" * 16, "00" * 17])
def test_a_seed_has_one_form(seed):
    with pytest.raises(PlanError, match="32 hexadecimal digits"):
        Hashing(function=HMAC_SHA256, seed=seed)


def test_a_plan_that_names_no_hash_or_another_is_refused():
    with pytest.raises(PlanError, match="hash: wanted HMAC-SHA-256, got 'BLAKE2b'; plan again"):
        Hashing(function="BLAKE2b", seed=ZERO)
    old = b'{"seed":"' + ZERO.encode() + b'","values":null}'
    with pytest.raises(PlanError, match=r"missing required field `function`.*make it again"):
        from_canonical(old, Hashing, "plan.json")


def test_hashed_bins_hold_one_value_and_have_no_labels():
    with pytest.raises(PlanError, match="at least two, or none"):
        Hashing(function=HMAC_SHA256, seed=ZERO, values=1)
    with pytest.raises(PlanError, match="bins without labels"):
        Question(
            name="q", bins=2, labels=("a", "b"), hashed=Hashing(function=HMAC_SHA256, seed=ZERO)
        )
    with pytest.raises(PlanError, match="one value a record"):
        Question(name="q", bins=2, kind=Kind.SET, hashed=Hashing(function=HMAC_SHA256, seed=ZERO))
