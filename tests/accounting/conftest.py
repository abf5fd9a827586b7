"""What tests of saddle points share."""

import pytest

from mixtally.accounting.numerics import saddle_point


@pytest.fixture
def unsmoothed(monkeypatch):
    """No Gaussian stands for a sum: what is few is counted."""
    monkeypatch.setattr(saddle_point, "_MOST_SMOOTHED", 0.0)
    monkeypatch.setattr(saddle_point, "_LITTLE_SMOOTHED", 0.0)
