"""The keystream: the words of its cipher, however draws are split, interrupted or shared."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from mixtally.primitives.chance import Keystream

KEY = bytes(range(1, 33))
STRIDE = 1 << 14
"""Words that are encrypted at once."""
SPLITS = {
    "at once": [6 * STRIDE],
    "a stride, then more": [STRIDE, 1, STRIDE],
    "a word before": [STRIDE - 1, 1, 1, 1, STRIDE],
    "a word after": [STRIDE + 1, 2, 3, 4, STRIDE],
    "odd pieces": [4099] * 20,
    "nothing at the border": [STRIDE, 0, 0, 5],
}


def independent(count):
    cipher = Cipher(algorithms.AES256(KEY), modes.CTR(bytes(16)))
    return np.frombuffer(cipher.encryptor().update(bytes(8 * count)), dtype="<u8")


def drawn(stream, counts):
    return np.concatenate([stream.words(count) for count in counts])


@pytest.mark.parametrize("name", SPLITS)
def test_words_do_not_depend_on_how_they_are_split(name):
    counts = SPLITS[name]
    assert np.array_equal(drawn(Keystream(KEY), counts), independent(sum(counts)))


@pytest.mark.parametrize("seed", range(5))
def test_nor_on_any_other_split(seed):
    some = Keystream(bytes([seed]) * 32).words(80) % np.uint64(40)
    counts = some.astype(int).tolist()
    assert np.array_equal(drawn(Keystream(KEY), counts), independent(sum(counts)))


def test_of_words_that_threads_share_all_are_given_none_twice():
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
def test_a_draw_in_the_midst_of_a_draw_leaves_the_stream_alone(late):
    stream, inside = Keystream(KEY), []
    handler = lambda: inside.append(stream.words(3 * STRIDE))  # noqa: E731
    stream._encryptor = Interrupted(stream._encryptor, handler, late)
    outside = drawn(stream, [5, STRIDE, STRIDE, 4 * STRIDE])
    assert np.array_equal(outside, independent(len(outside)))
    every = np.concatenate([outside, *inside])
    assert len(inside) >= 3
    assert len(np.unique(every)) == len(every)


def interrupt():
    raise KeyboardInterrupt


@pytest.mark.parametrize("late", [True, False])
def test_after_an_interrupt_no_word_comes_again(late):
    """Words that were on their way are lost: neither they nor what came before are given."""
    stream = Keystream(KEY)
    before, sound = stream.words(100), stream._encryptor
    stream._encryptor = Interrupted(sound, interrupt, late)
    with pytest.raises(KeyboardInterrupt):
        stream.words(50)
    stream._encryptor = sound
    every = np.concatenate([before, drawn(stream, [STRIDE, STRIDE, 2 * STRIDE])])
    assert len(np.unique(every)) == len(every)
