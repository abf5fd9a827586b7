"""What is remembered is made once, bounded in bytes, and the oldest is forgotten first."""

import numpy as np
import pytest

from mixtally.primitives.memo import _ENTRY_BYTES, Memo


class Made:
    """Counts how often every key was made."""

    def __init__(self, memo):
        self.memo, self.asked = memo, []

    def get(self, key, result=0.0):
        def make():
            self.asked.append(key)
            return result

        return self.memo.get(key, make)


def block(size):
    return np.zeros(size, dtype=np.uint8)


def test_a_result_is_made_once():
    made = Made(Memo(10**6))
    assert [made.get("a", 1.5) for _ in range(3)] == [1.5] * 3
    assert made.asked == ["a"]


def test_a_result_that_is_nothing_is_remembered_too():
    made = Made(Memo(10**6))
    for nothing in (None, 0.0, False):
        key = ("nothing", repr(nothing))
        assert made.get(key, nothing) is nothing
        assert made.get(key, "another") is nothing
    assert len(made.asked) == 3


def test_keys_that_differ_in_one_part_are_two():
    made = Made(Memo(10**6))
    assert made.get(("one", 1.0, True), 1) == 1
    assert made.get(("one", 1.0, False), 2) == 2
    assert made.get(("two", 1.0, True), 3) == 3


def test_the_oldest_is_forgotten_when_a_number_too_many_comes():
    made = Made(Memo(3 * _ENTRY_BYTES))
    for key in "abcd":
        made.get(key)
    for key in "bcd":
        made.get(key)
    assert made.asked == list("abcd")
    made.get("a")
    assert made.asked == list("abcda")


def test_what_was_asked_lately_is_not_the_oldest():
    made = Made(Memo(3 * _ENTRY_BYTES))
    for key in "abcad":
        made.get(key)
    made.get("a")
    assert made.asked == list("abcd")
    made.get("b")
    assert made.asked == list("abcdb")


def test_arrays_count_with_their_bytes():
    """Ten blocks fit: an eleventh drives out one, a large one as many as it needs."""
    made = Made(Memo(10 * (1000 + _ENTRY_BYTES)))
    for key in range(11):
        made.get(key, block(1000))
    assert list(made.memo._entries) == list(range(1, 11))
    made.get("large", block(5000))
    assert list(made.memo._entries) == [5, 6, 7, 8, 9, 10, "large"]


@pytest.mark.parametrize("sizes", [[1] * 300, [5000, 1, 1, 7000, 400] * 40, list(range(300))])
def test_no_more_is_held_than_was_said(sizes):
    most = 20_000
    memo = Memo(most)
    for key, size in enumerate(sizes):
        memo.get(key, lambda size=size: block(size))
        held = sum(kept.nbytes + _ENTRY_BYTES for kept in memo._entries.values())
        assert held == memo._bytes <= most


def test_one_result_that_is_larger_than_all_is_held_until_the_next():
    """Forgetting it at once would make it again and again."""
    made = Made(Memo(1000))
    for _ in range(3):
        assert len(made.get("large", block(10**6))) == 10**6
    assert made.asked == ["large"]
    made.get("next")
    assert list(made.memo._entries) == ["next"]
    assert made.memo._bytes == _ENTRY_BYTES


def test_what_could_not_be_made_is_not_remembered():
    memo = Memo(10**6)

    def fails():
        raise ValueError("no result")

    for _ in range(2):
        with pytest.raises(ValueError, match="no result"):
            memo.get("a", fails)
    assert memo.get("a", lambda: 7) == 7
    assert memo._bytes == _ENTRY_BYTES


def test_making_one_result_may_need_another():
    memo = Memo(10**6)
    assert memo.get("sum", lambda: 1 + memo.get("part", lambda: 2)) == 3
    assert set(memo._entries) == {"part", "sum"}


def test_making_a_result_that_asks_for_itself_is_counted_once():
    """A key made while it is made: what is held stays what is said."""
    memo = Memo(10**6)
    memo.get("a", lambda: 1 + memo.get("a", lambda: 1))
    assert memo._bytes == len(memo._entries) * _ENTRY_BYTES


def test_two_memories_share_nothing():
    one, other = Made(Memo(1000)), Made(Memo(1000))
    one.get("a")
    other.get("a")
    assert (one.asked, other.asked) == (["a"], ["a"])
