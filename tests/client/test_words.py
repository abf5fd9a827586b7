"""Words that cannot be right end in an error, never in a message."""

import pytest

from mixtally.client.draw import Words, message
from mixtally.client.part import Layout, Part, Recipe
from mixtally.errors import AccountingError

QUARTER = 1 << 62


def test_words_that_repeat_end_in_an_error():
    part = Part(9, 1, QUARTER, None, Recipe("none"), Layout("bits", 9, 2))
    with pytest.raises(AccountingError, match="the source repeats"):
        message(part, (0,), Words(lambda count: bytes(8 * count)))
    with pytest.raises(AccountingError, match="the source repeats"):
        Words(lambda count: b"\xff" * 8 * count).uniform(3)


@pytest.mark.parametrize("size", [0, 3, 9])
def test_words_of_another_length_end_in_an_error(size):
    with pytest.raises(AccountingError, match=f"wanted 8 bytes, got {size}"):
        Words(lambda _: bytes(size)).uniform(3)
