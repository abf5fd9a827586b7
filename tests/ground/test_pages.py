"""The keystream by two ciphers: the same words, across every page and every interruption."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from mixtally.ground import chance
from mixtally.ground.chance import Keystream, SecureChance

KEY = bytes(range(1, 33))
FIRST = 1 << 15
"""Words of a page that are CTR's."""


def independent(count, counter=0):
    """Words of AES-256 in counter mode, from a block on."""
    cipher = Cipher(algorithms.AES256(KEY), modes.CTR(counter.to_bytes(16, "big")))
    return np.frombuffer(cipher.encryptor().update(bytes(8 * count)), dtype="<u8")


@pytest.fixture(params=[True, False], ids=["gcm", "ctr"])
def by_gcm(request, monkeypatch):
    monkeypatch.setattr(chance, "_gcm_is_faster", lambda: request.param)
    return request.param


def drawn(stream, counts):
    return np.concatenate([stream.words(count) for count in counts])


def test_the_constants_are_those_of_the_cipher():
    """SP 800-38D: a nonce of 96 bits has a counter of 32, which begins at 1 for the tag."""
    assert chance._PAGE_BYTES == 16 * 2**32
    assert chance._SKIPPED_BYTES == 32
    assert chance._FIRST_BYTES == 8 * FIRST


NEAR = [FIRST - 3, FIRST - 2, FIRST - 1, FIRST, FIRST + 1, FIRST + 2, FIRST + 5]
SPLITS = {
    "at once": [3 * FIRST],
    "the first part, then more": [FIRST, 1, FIRST],
    "a word before": [FIRST - 1, 1, 1, 1, FIRST],
    "a word after": [FIRST + 1, 2, 3, 4, FIRST],
    "odd pieces": [4099] * 20,
    "strides and a word": [16_385] * 5,
    "nothing at the border": [FIRST, 0, 0, 5],
}


@pytest.mark.parametrize("name", SPLITS)
def test_both_ciphers_give_the_same_words(by_gcm, name):
    counts = SPLITS[name]
    assert np.array_equal(drawn(Keystream(KEY), counts), independent(sum(counts)))


@pytest.mark.parametrize("count", NEAR)
def test_a_draw_that_ends_near_the_border_goes_on_there(by_gcm, count):
    assert np.array_equal(drawn(Keystream(KEY), [count, 7]), independent(count + 7))


@pytest.mark.parametrize("first", [32, 48, 64, 1024])
@pytest.mark.parametrize("each", [1, 2, 3, 5, 8, 500])
def test_gcm_may_begin_at_any_block_from_the_second_on(by_gcm, monkeypatch, first, each):
    monkeypatch.setattr(chance, "_FIRST_BYTES", first)
    counts = [each] * -(-300 // each)
    assert np.array_equal(drawn(Keystream(KEY), counts), independent(sum(counts)))


@pytest.mark.parametrize("seed", range(5))
def test_words_do_not_depend_on_how_they_are_split(by_gcm, monkeypatch, seed):
    monkeypatch.setattr(chance, "_FIRST_BYTES", 128)
    some = Keystream(bytes([seed]) * 32).words(80) % np.uint64(40)
    counts = some.astype(int).tolist()
    assert np.array_equal(drawn(Keystream(KEY), counts), independent(sum(counts)))


@pytest.mark.parametrize("skipped", [0, 16, 48])
def test_a_gcm_that_begins_a_block_off_is_found(monkeypatch, skipped):
    monkeypatch.setattr(chance, "_gcm_is_faster", lambda: True)
    monkeypatch.setattr(chance, "_SKIPPED_BYTES", skipped)
    assert not np.array_equal(Keystream(KEY).words(2 * FIRST), independent(2 * FIRST))


def before_the_end(page, blocks):
    """A stream that has read ``page`` up to its last ``blocks``."""
    stream = Keystream(KEY)
    counter = ((page + 1) << 32) - blocks
    mode = modes.CTR(counter.to_bytes(16, "big"))
    stream._encryptor = Cipher(algorithms.AES256(KEY), mode).encryptor()
    stream._part, stream._left = 2 * page + 1, 16 * blocks
    return stream, counter


@pytest.mark.parametrize("page", [0, 1, 2, 255, 2**32 - 1, 2**64 - 1])
@pytest.mark.parametrize("counts", [[3 * FIRST], [9, 1, 1, FIRST, 5, FIRST], [1001] * 70])
def test_the_counter_carries_into_the_next_nonce(page, counts):
    stream, counter = before_the_end(page, 5)
    assert np.array_equal(drawn(stream, counts), independent(sum(counts), counter))
    assert stream._part == 2 * page + 3


@pytest.mark.parametrize("each", [1, 7, 26, 300])
def test_pages_are_those_of_the_counter(monkeypatch, each):
    """Pages of 13 blocks: of each the counters N || 0 to N || 12, one block at a time."""
    monkeypatch.setattr(chance, "_gcm_is_faster", lambda: True)
    monkeypatch.setattr(chance, "_FIRST_BYTES", 64)
    monkeypatch.setattr(chance, "_PAGE_BYTES", 208)
    block = Cipher(algorithms.AES256(KEY), modes.ECB()).encryptor()
    counters = [n << 32 | i for n in range(24) for i in range(13)]
    blocks = b"".join(block.update(counter.to_bytes(16, "big")) for counter in counters)
    words = drawn(Keystream(KEY), [each] * (600 // each))
    assert np.array_equal(words, np.frombuffer(blocks, dtype="<u8")[: len(words)])


@pytest.mark.slow
def test_after_64_gib_by_gcm_the_next_page_begins(monkeypatch):
    monkeypatch.setattr(chance, "_gcm_is_faster", lambda: True)
    stream, each = Keystream(KEY), 1 << 17
    for _ in range(2**33 // each - 1):
        stream.words(each)
    assert stream._left == 8 * each
    assert np.array_equal(stream.words(3 * each), independent(3 * each, 2**32 - each // 2))
    assert stream._part == 3


def test_who_draws_little_never_waits_for_the_choice(monkeypatch):
    asked = []
    monkeypatch.setattr(chance, "_gcm_is_faster", lambda: bool(asked.append(1)))
    stream = Keystream(KEY)
    stream.words(FIRST)
    assert not asked
    drawn(stream, [1, FIRST, 4 * FIRST])
    assert asked == [1]


def test_the_choice_is_measured_once_in_a_process():
    chance._gcm_is_faster.cache_clear()
    for _ in range(3):
        Keystream(KEY).words(2 * FIRST)
    assert chance._gcm_is_faster.cache_info().misses == 1


def test_threads_share_a_stream_of_either_cipher(by_gcm, monkeypatch):
    """Of words of one stream all are given, none twice."""
    monkeypatch.setattr(chance, "_FIRST_BYTES", 1024)
    stream, counts = Keystream(KEY), [1, 999, 20_000, 3] * 30
    with ThreadPoolExecutor(8) as pool:
        together = np.concatenate(list(pool.map(stream.words, counts)))
    assert np.array_equal(np.sort(together), np.sort(independent(len(together))))


class Interrupted:
    """An encryptor that calls ``handler`` after what it encrypts, or before."""

    def __init__(self, encryptor, handler, late):
        self.encryptor, self.handler, self.late = encryptor, handler, late

    def update_into(self, plain, room):
        if not self.late:
            self.handler()
        self.encryptor.update_into(plain, room)
        if self.late:
            self.handler()


@pytest.mark.parametrize("late", [True, False])
def test_a_draw_in_the_midst_of_a_draw_leaves_the_stream_alone(by_gcm, late):
    stream, inside = Keystream(KEY), []
    handler = lambda: inside.append(stream.words(3 * FIRST))  # noqa: E731
    stream._encryptor = Interrupted(stream._encryptor, handler, late)
    outside = drawn(stream, [5, 16_384, 16_384, 2 * FIRST])
    assert np.array_equal(outside, independent(len(outside)))
    every = np.concatenate([outside, *inside])
    assert len(inside) >= 3
    assert len(np.unique(every)) == len(every)


def interrupt():
    raise KeyboardInterrupt


@pytest.mark.parametrize("late", [True, False])
@pytest.mark.parametrize("page", [0, 3])
def test_after_an_interrupt_no_word_comes_again(by_gcm, late, page):
    """Words that were on their way are lost: neither they nor what came before are given."""
    stream, _ = before_the_end(page, FIRST) if page else (Keystream(KEY), 0)
    before, sound = stream.words(100), stream._encryptor
    stream._encryptor = Interrupted(sound, interrupt, late)
    with pytest.raises(KeyboardInterrupt):
        stream.words(50)
    stream._encryptor = sound
    every = np.concatenate([before, drawn(stream, [FIRST, FIRST, 2 * FIRST])])
    assert len(np.unique(every)) == len(every)


@pytest.mark.parametrize("name", ["_encryptor", "_gcm_is_faster"])
def test_a_choice_that_is_interrupted_repeats_no_word(monkeypatch, name):
    monkeypatch.setattr(chance, "_gcm_is_faster", lambda: True)
    stream = Keystream(KEY)
    before = stream.words(FIRST)
    with monkeypatch.context() as patch:
        patch.setattr(chance, name, lambda *_: interrupt())
        with pytest.raises(KeyboardInterrupt):
            stream.words(1)
    every = np.concatenate([before, drawn(stream, [FIRST, FIRST])])
    assert len(np.unique(every)) == len(every)


def test_a_stream_has_been_chosen_for_in_the_parent_and_goes_on_in_the_child():
    """In the child of a fork the choice stands, and its source has a key of its own."""
    pytest.importorskip("fcntl", reason="this system cannot fork")
    script = (
        "import os\n"
        "from mixtally.ground import chance\n"
        "source = chance.SecureChance()\n"
        "source.words(1 << 17)\n"
        "into, out = os.pipe()\n"
        "if os.fork() == 0:\n"
        "    words = source.words(1 << 17)[-4:]\n"
        "    asked = chance._gcm_is_faster.cache_info().misses\n"
        "    os.write(out, words.tobytes() + bytes([asked]))\n"
        "    os._exit(0)\n"
        "os.wait()\n"
        "os.close(out)\n"
        "print(os.read(into, 33).hex(), source.words(1 << 17)[-4:].tobytes().hex())\n"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    child, parent = run.stdout.split()
    assert child[-2:] == "01"
    assert child[:-2] != parent


def test_secure_words_do_not_repeat_where_ciphers_change(by_gcm, monkeypatch):
    monkeypatch.setattr(chance, "_FIRST_BYTES", 256)
    monkeypatch.setattr(chance, "_PAGE_BYTES", 1024)
    words = drawn(SecureChance(), [100] * 50)
    assert len(np.unique(words)) == len(words)
