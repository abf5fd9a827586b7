"""Randomness: the right cipher, never twice the same words, no copies."""

import copy
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from mixtally.ground.chance import Keystream, SecureChance

KEY = bytes(range(32))
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
# Two processes draw four words each: they agree by accident with probability 2^-256.
FORK = """
import os
from mixtally.ground.chance import SecureChance
chance = SecureChance()
{before}
into, out = os.pipe()
child = os.fork()
if child == 0:
    os.write(out, chance.words(4).tobytes())
    os._exit(0)
os.waitpid(child, 0)
print(os.read(into, 32).hex(), chance.words(4).tobytes().hex())
"""


def independent_words(key, count, skipped=0):
    """AES-256 of the counters 0, 1, 2, .. one block at a time."""
    block = Cipher(algorithms.AES256(key), modes.ECB()).encryptor()
    blocks = -(-(skipped + count) // 2)
    stream = b"".join(block.update(i.to_bytes(16, "big")) for i in range(blocks))
    words = [int.from_bytes(stream[8 * i : 8 * i + 8], "little") for i in range(2 * blocks)]
    return words[skipped : skipped + count]


def test_the_cipher_is_aes_256_as_published():
    """FIPS 197, appendix C.3: the vector that the independent words rest on."""
    plain = bytes.fromhex("00112233445566778899aabbccddeeff")
    block = Cipher(algorithms.AES256(KEY), modes.ECB()).encryptor().update(plain)
    assert block.hex() == "8ea2b7ca516745bfeafc49904b496089"


@pytest.mark.parametrize("count", [1, 2, 3, 7, 8191, 8192, 8193, 20_000])
def test_the_keystream_is_aes_256_in_counter_mode(count):
    assert Keystream(KEY).words(count).tolist() == independent_words(KEY, count)


def test_words_go_on_where_the_last_ones_ended():
    stream = Keystream(KEY)
    parts = [stream.words(count) for count in (3, 0, 1, 8190, 5)]
    assert np.concatenate(parts).tolist() == independent_words(KEY, 8199)


@pytest.mark.parametrize("source", [Keystream(KEY), SecureChance()])
@pytest.mark.parametrize("count", [0, 1, 5])
def test_words_are_64_bits_wide_and_as_many_as_asked(source, count):
    words = source.words(count)
    assert words.dtype == np.uint64
    assert words.shape == (count,)


def test_words_can_be_changed_by_their_owner():
    words = Keystream(KEY).words(3)
    words[0] = 0
    assert words[0] == 0


def test_a_key_of_the_wrong_length_is_refused():
    with pytest.raises(ValueError, match="key size"):
        Keystream(b"short")


def test_two_sources_differ():
    assert not np.array_equal(SecureChance().words(4), SecureChance().words(4))


def test_one_source_never_repeats_itself():
    chance = SecureChance()
    assert not np.array_equal(chance.words(4), chance.words(4))


@pytest.mark.parametrize(
    "copier", [copy.copy, copy.deepcopy, pickle.dumps, lambda source: pickle.dumps([source], 2)]
)
def test_a_source_is_never_copied(copier):
    with pytest.raises(TypeError, match="make a new SecureChance"):
        copier(SecureChance())


@needs_fork
@pytest.mark.parametrize("before", ["", "chance.words(3)"])
def test_a_forked_child_draws_other_words_than_its_parent(before):
    script = FORK.format(before=before)
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    child, parent = run.stdout.split()
    assert len(child) == len(parent) == 64
    assert child != parent


@needs_fork
def test_the_fork_is_what_is_seen_when_a_plain_keystream_is_shared():
    script = FORK.format(before=f"from mixtally.ground.chance import Keystream\n"
                                f"chance = Keystream({KEY!r})")  # fmt: skip
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    child, parent = run.stdout.split()
    assert child == parent
