"""Bins that nobody named are counted as empty, wherever they stand."""

import numpy as np
import pytest

from mixtally.model.layout import Form, Layout
from mixtally.protocol.tally.fold import tally_messages


@pytest.mark.parametrize("form", Form)
@pytest.mark.parametrize("codes", [[], [0], [0, 0], [1, 0, 1], [4]])
def test_every_bin_has_its_count(form, codes):
    layout = Layout(form, 5, cap=2 if form is Form.POSITIONS else None)
    tally = tally_messages(layout, layout.rows(np.array(codes, dtype=np.int64)))
    assert tally.counts.tolist() == [codes.count(i) for i in range(5)]
    assert tally.messages == len(codes)
