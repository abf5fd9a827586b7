"""Randomness: the right cipher, never twice the same words, no copies."""

import copy
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from mixtally.primitives.chance import Keystream, SecureChance

KEY = bytes(range(32))
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
# Two processes draw four words each: they agree by accident with probability 2^-256.
FORK = """
import os
from mixtally.primitives.chance import SecureChance
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


@pytest.mark.parametrize("count", [1, 2, 3, 7, 16_383, 16_384, 16_385, 40_000])
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


def drawn_by_threads(source, each=3, threads=8, count=20_000):
    """The words that threads draw side by side, as one array."""
    with ThreadPoolExecutor(threads) as pool:
        return np.concatenate(list(pool.map(source.words, [count] * each * threads)))


def test_threads_share_a_source_and_no_word_is_given_twice():
    """False alarm below 10^-9: two of 144,000 secure words agree with that chance."""
    together = drawn_by_threads(Keystream(KEY))
    alone = Keystream(KEY).words(len(together))
    assert np.array_equal(np.sort(together), np.sort(alone))
    secure = drawn_by_threads(SecureChance(), count=6_000)
    assert len(np.unique(secure)) == len(secure)


def test_threads_that_take_no_turns_are_found():
    class Anyhow(Keystream):
        """Two threads read the same place before either moves it."""

        def __init__(self):
            super().__init__(KEY)
            self.place, self.meet = 0, threading.Barrier(2)

        def words(self, count):
            start = self.place
            self.meet.wait(30)
            out = Keystream(KEY).words(start + count)[start:]
            self.place = start + count
            return out

    together = drawn_by_threads(Anyhow())
    assert len(np.unique(together)) < len(together)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timers")
def test_a_signal_handler_may_draw_in_the_midst_of_a_draw():
    source, inside, going = Keystream(KEY), [], [True]

    def draw(*_):
        inside.append(source.words(2))
        if going:
            signal.setitimer(signal.ITIMER_REAL, 1e-4)

    before = signal.signal(signal.SIGALRM, draw)
    try:
        signal.setitimer(signal.ITIMER_REAL, 1e-4)
        outside = [source.words(1 << 18) for _ in range(2)]
        until = time.monotonic() + 60
        while not inside and time.monotonic() < until:  # the timers of some systems are coarse
            source.words(1 << 14)
    finally:
        going.clear()  # first: a late `draw` would set the timer again
        signal.setitimer(signal.ITIMER_REAL, 0)
        time.sleep(0.01)  # a signal that is on its way still finds its handler
        signal.signal(signal.SIGALRM, before)
    every = np.concatenate(outside + inside)
    assert inside
    assert len(np.unique(every)) == len(every)
    alone = Keystream(KEY).words(4 << 18)  # a handler between two draws has words of the stream
    assert np.isin(outside, alone).all()


@pytest.mark.parametrize(
    "copier", [copy.copy, copy.deepcopy, pickle.dumps, lambda source: pickle.dumps([source], 2)]
)
def test_a_source_is_never_copied(copier):
    with pytest.raises(TypeError, match="make a new SecureChance"):
        copier(SecureChance())


@needs_fork
@pytest.mark.parametrize("before", ["", "chance.words(3)", "chance.words(1 << 17)"])
def test_a_forked_child_draws_other_words_than_its_parent(before):
    script = FORK.format(before=before)
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    child, parent = run.stdout.split()
    assert len(child) == len(parent) == 64
    assert child != parent


@needs_fork
@pytest.mark.parametrize("before", ["", "chance.words(3)"])
def test_a_child_that_is_given_the_number_of_an_earlier_process_draws_other_words(before):
    script = FORK.format(before=f"os.getpid = lambda: 7\n{before}")
    script = script.replace("\nchance =", "\nos.getpid = lambda: 7\nchance =", 1)
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    child, parent = run.stdout.split()
    assert child != parent


@needs_fork
def test_a_child_forked_in_the_midst_of_a_draw_of_another_thread_goes_on():
    """The child has no such thread, so nobody there would end its turn."""
    script = FORK.format(
        before="import threading\n"
        "thread = threading.Thread(target=lambda: [chance.words(1 << 20) for _ in range(8)])\n"
        "thread.start()"
    ).replace("os.waitpid(child, 0)", "os.waitpid(child, 0); thread.join()")
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script],
        capture_output=True, text=True, check=True, timeout=300,
    )  # fmt: skip
    child, parent = run.stdout.split()
    assert child != parent


@needs_fork
def test_the_fork_is_what_is_seen_when_a_plain_keystream_is_shared():
    script = FORK.format(before=f"from mixtally.primitives.chance import Keystream\n"
                                f"chance = Keystream({KEY!r})")  # fmt: skip
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    child, parent = run.stdout.split()
    assert child == parent
