"""Whole numbers have one spelling: up to 2^53 as numbers, above as decimal strings."""

import pytest

from mixtally.device.contract.fields import whole
from mixtally.errors import RefusedError


@pytest.mark.parametrize("value", [0, -1, 1 << 53, -(1 << 53), str((1 << 53) + 1), str(1 << 64)])
def test_a_number_in_its_spelling_is_read(value):
    assert whole(value, "place") == int(value)


@pytest.mark.parametrize(
    "value", [(1 << 53) + 1, -(1 << 53) - 1, 1 << 60, "1", str(1 << 53), "01", True, 1.0, None]
)
def test_another_spelling_is_refused(value):
    with pytest.raises(RefusedError):
        whole(value, "place")
