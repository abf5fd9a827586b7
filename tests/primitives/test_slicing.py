"""Bit-sliced coins: the exact comparison U < t, and no lane forgotten."""

import math

import numpy as np
import pytest

from helpers import kernels
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.primitives import bit_slicing

THRESHOLDS = [1 << 24, 3 << 60, (1 << 63) - 1, 1 << 63, 0x1234_5678_9ABC_DEF1, (1 << 58) + 1]


class Planes:
    """Gives the binary digits of chosen numbers, highest digit first, a plane or more a call."""

    def __init__(self, numbers):
        self.planes = [
            sum((u >> digit & 1) << lane for lane, u in enumerate(numbers))
            for digit in range(63, -1, -1)
        ]

    def words(self, count):
        many = 8 if len(self.planes) == 64 else 1
        assert many == 8 or count == 1
        planes, self.planes = self.planes[:many], self.planes[many:]
        lanes = b"".join(plane.to_bytes(8 * count // many, "little") for plane in planes)
        return np.frombuffer(lanes, dtype="<u8").astype(np.uint64)


@pytest.fixture(params=kernels.BOTH)
def kernel(request, monkeypatch):
    kernels.use(request.param, monkeypatch)


@pytest.mark.parametrize("digits", [1, 2, 3, 8])
def test_of_all_numbers_of_few_digits_exactly_those_below_are_ones(kernel, digits):
    """The law by enumeration: of all 2^k words of k digits, t give a one, for every t."""
    every = [u << (64 - digits) for u in range(1 << digits)] * max(1, 64 >> digits)
    for t in range(1, 1 << digits):
        words = bit_slicing.coin_words(Planes(every), t << (64 - digits), len(every) // 64)
        ones = np.unpackbits(words.astype("<u8").view(np.uint8), bitorder="little")
        assert ones.tolist() == [int(u < t << (64 - digits)) for u in every]
        assert ones.sum() * 2**digits == t * len(every)


@pytest.mark.parametrize("t", [*THRESHOLDS, 3 << 55, 3 << 54, (1 << 57) + 1, 1 << 56])
@pytest.mark.parametrize("count", [0, 1, 2, 63, 8191, 8193, 20_000])
def test_compiled_coins_are_those_of_numpy_and_take_the_same_words(monkeypatch, t, count):
    pytest.importorskip("numba", reason="numba is missing: .[fast]")
    found = []
    for name in ("numpy", "numba"):
        with monkeypatch.context() as patch:
            kernels.use(name, patch)
            chance = SeededChance(t % 997)
            found.append([*bit_slicing.coin_words(chance, t, count).tolist(), *chance.words(3)])
    assert found[0] == found[1]


@pytest.mark.parametrize("t", THRESHOLDS)
def test_every_lane_is_the_comparison_below_threshold(kernel, t):
    near = [t - 2, t - 1, t, t + 1, t + 2, 0, 1, 2**64 - 1]
    far = [int(w) for w in SeededChance(t % 997).words(56)]
    numbers = near + far
    word = int(bit_slicing.coin_words(Planes(numbers), t, 1)[0])
    assert [word >> lane & 1 for lane in range(64)] == [int(u < t) for u in numbers]


def worst_lane(coin_words, threshold, seed):
    """Largest deviation, in standard deviations, of a lane's share of ones over 20,000 words."""
    runs, q = 20_000, threshold / 2**64
    words = coin_words(SeededChance(seed), threshold, runs)
    ones = np.unpackbits(words.view(np.uint8).reshape(runs, 8), axis=1).sum(axis=0)
    return float(np.max(np.abs(ones - runs * q)) / math.sqrt(runs * q * (1 - q)))


@pytest.mark.parametrize("q", [0.02, 0.125, 0.3, 0.4999])
def test_every_lane_has_the_right_share_of_ones(q):
    """False alarm below 64 * 4e-8 = 3e-6 a case: 5.5 normal deviations, 64 lanes."""
    assert worst_lane(bit_slicing.coin_words, int(q * 2**64), seed=5) < 5.5


def test_a_last_bit_that_is_never_randomized_is_found():
    def broken(chance, threshold, count):
        return bit_slicing.coin_words(chance, threshold, count) & np.uint64(2**63 - 1)

    assert worst_lane(broken, int(0.02 * 2**64), seed=5) > 5.5


def test_neighboring_lanes_are_independent():
    """False alarm below 6e-7: the number of equal pairs is binomial; 5 deviations."""
    q = 0.3
    words = bit_slicing.coin_words(SeededChance(8), int(q * 2**64), 50_000)
    bits = np.unpackbits(words.view(np.uint8))
    equal, pairs = int((bits[::2] == bits[1::2]).sum()), len(bits) // 2
    same = q * q + (1 - q) ** 2
    assert abs(equal - pairs * same) < 5 * math.sqrt(pairs * same * (1 - same))


def test_no_words_are_no_words():
    assert len(bit_slicing.coin_words(SeededChance(1), 1 << 60, 0)) == 0
