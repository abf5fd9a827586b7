"""What a bundle costs is measured over a real connection, and only where bundles are taken."""

import pytest

from mixtally.errors import DataError
from mixtally.primitives.chance import SecureChance
from mixtally.server.mix import rates


def test_a_bundle_costs_something_and_nothing_stays(tmp_path):
    assert 1e-6 < rates.measure_posts(SecureChance(), 100, 2, tmp_path) < 1.0
    assert list(tmp_path.iterdir()) == []


def test_what_is_not_taken_has_no_rate(tmp_path, monkeypatch):
    """The twin: were refusals counted, they would be cheap bundles."""
    monkeypatch.setattr(rates, "_PATH", "/contracts/none/rounds/1/bundles/more")
    with pytest.raises(DataError, match="expected 320 bundles taken, got 0"):
        rates.measure_posts(SecureChance(), 100, 2, tmp_path)
