"""Many words compared with a threshold at once: the same as one by one."""

from array import array

from hypothesis import given
from hypothesis import strategies as st

from mixtally.device.client.draw import draw_flips
from mixtally.device.contract.part import SCALE

THRESHOLDS = st.sampled_from([1, 2, 1 << 32, SCALE // 3, SCALE // 2 - 1, SCALE // 2])


@given(THRESHOLDS, st.lists(st.integers(0, SCALE - 1), min_size=1, max_size=70), st.data())
def test_every_bit_by_its_own_word(threshold, words, data):
    """Words at the threshold and beside it, too, next to the smallest and the largest."""
    near = st.sampled_from([threshold - 1, threshold, threshold + 1, 0, SCALE - 1])
    words += data.draw(st.lists(near, max_size=20))
    found = draw_flips(threshold, array("Q", words).tobytes())
    assert found == sum(1 << place for place, word in enumerate(words) if word < threshold)
