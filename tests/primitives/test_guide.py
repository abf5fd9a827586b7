"""A guide counts as a search does, wherever boundaries and words lie."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mixtally.lab.simulation.seeded import SeededChance
from mixtally.primitives import rare_flips
from mixtally.primitives.rare_flips import LookupTable

TOP = (1 << 64) - 1
BUCKET = 1 << 52
WORDS = st.one_of(
    st.integers(0, TOP),
    st.builds(lambda b, near: min(max(b * BUCKET + near, 0), TOP),
              st.integers(0, 1 << 12), st.integers(-2, 2)),
)  # fmt: skip


def searched(boundaries, words):
    return np.searchsorted(boundaries, words, side="right")


@given(st.lists(WORDS), st.lists(WORDS))
@example([], [0, TOP])
@example([0], [0, 1, TOP])
@example([TOP], [TOP - 1, TOP])
@example([TOP] * 3, [TOP - 1, TOP])
@example([BUCKET], [BUCKET - 1, BUCKET, 2 * BUCKET, TOP - BUCKET, TOP])
def test_a_guide_counts_as_a_search(boundaries, words):
    """The words beside the boundaries too: on one is past it."""
    near = [w for b in boundaries for w in (b - 1, b, b + 1) if 0 <= w <= TOP]
    held, asked = np.array(sorted(boundaries), np.uint64), np.array(words + near, np.uint64)
    assert (
        LookupTable.from_boundaries(held).count_passed(asked).tolist()
        == searched(held, asked).tolist()
    )


@pytest.mark.parametrize("t", [1 << 24, 1 << 40, int(1e-3 * 2**64), int(0.3 * 2**64), 1 << 63])
def test_a_digit_is_what_a_search_of_its_table_says(t):
    """Over more words than a span, so that the words are drawn in the same order as at once."""
    for table in rare_flips.build_gap_tables(t):
        drawn = table.draw(SeededChance(3), 20_000)
        assert drawn.tolist() == searched(table.tops, SeededChance(3).words(20_000)).tolist()
