"""Hashed records: the same everywhere, even over the bits, different in every cohort."""

import numpy as np
import pytest

from mixtally.model.memoized_plan import hashed_question, make_memoized_plan
from mixtally.protocol.encode.bloom import build_design, encode_bloom, hash_positions

WORDS = [f"word {number}" for number in range(4000)]
APPLE, JAPAN = [2, 21], [36, 81]


def plan_of(bits=128, hashes=2, cohorts=8, name="word"):
    return make_memoized_plan(hashed_question(name, bits, hashes), 0.5, 0.5, 0.75, cohorts)


def test_the_hashes_are_these_on_every_machine():
    assert hash_positions(plan_of(), 0, "apple") == APPLE
    assert hash_positions(plan_of(hashes=10), 0, "apple")[:2] == APPLE
    assert hash_positions(plan_of(name="grüße"), 7, "日本") == JAPAN


def chi_square(found, bits):
    counts = np.bincount(found, minlength=bits)
    return float(((counts - len(found) / bits) ** 2).sum() * bits / len(found))


@pytest.mark.parametrize("turn", [0, 1, 9])
def test_every_hash_is_even_over_the_bits(turn):
    """Chi-square with 127 degrees of freedom below 220: false alarm 5e-7 a case."""
    found = [hash_positions(plan_of(hashes=10), 3, word)[turn] for word in WORDS]
    assert chi_square(found, 128) < 220


def test_hashes_that_share_their_bits_are_found():
    found = [hash_positions(plan_of(), 3, word)[0] // 2 * 2 for word in WORDS]
    assert chi_square(found, 128) > 220


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ((2, 0, "word", 0), (2, 1, "word", 0)),
        ((2, 0, "word", 0), (2, 0, "x", 0)),
        ((2, 0, "word", 0), (2, 0, "word", 1)),
        ((9, 0, "word", 0), (9, 0, "word", 8)),
    ],
    ids=["cohort", "question", "hash", "block"],
)
def test_hashes_are_independent(one, other):
    """Equal in 1 of 128 cases, 31 of 4000: 5.5 deviations, false alarm 4e-8 a case."""

    def bit(word, hashes, cohort, name, turn):
        return hash_positions(plan_of(hashes=hashes, name=name), cohort, word)[turn]

    same = sum(bit(word, *one) == bit(word, *other) for word in WORDS)
    assert abs(same - 4000 / 128) < 5.5 * (4000 / 128) ** 0.5


def test_records_and_design_agree():
    plan = plan_of(bits=13, hashes=3, cohorts=4)
    words = WORDS[:20]
    table = build_design(plan, words)
    assert table.shape == (4, 13, 20)
    for cohort in range(4):
        rows = encode_bloom(plan, [cohort] * 20, words)
        bits = np.unpackbits(rows, axis=1, bitorder="little")
        assert np.array_equal(bits[:, :13].T.astype(bool), table[cohort])
        assert not bits[:, 13:].any()
        assert set(bits.sum(axis=1)) <= {1, 2, 3}
