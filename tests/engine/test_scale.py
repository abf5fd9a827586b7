"""The cost of a round by its formula, and the rates that go into it."""

import pytest

from mixtally.primitives.chance import SecureChance
from mixtally.server.engine.rates import measure_rates
from mixtally.server.engine.scale import HopCost, PlannedRound, Rates, compute_intake, hop_costs

RATES = Rates(open=4e-5, seal=6e-5, order=4e-6, sync=6e-3, post=1e-4)
DAY = PlannedRound(
    envelopes=10**8,
    fakes=10**6,
    hops=2,
    message_bytes=13,
    layer_bytes=48,
    bundle=2,
    seconds=86_400.0,
    cores=4,
)


def test_each_hop_opens_what_came_and_seals_its_own():
    first, second, collector = hop_costs(RATES, DAY)
    opened = 10**8 * 4.4e-5
    closing = opened + 10**6 * (2 * 6e-5 + 4e-6)
    assert first.cpu == pytest.approx(closing + 10**8 / 2 * 1e-4)
    assert second.cpu == pytest.approx(1.01 * opened + 10**6 * (6e-5 + 4e-6))
    assert collector[:3] == HopCost(3, 102 * 10**6, 102 * 10**6 * 61, 0.0, 0.0)[:3]
    assert collector[3:] == pytest.approx((4080.0, 1020.0))
    assert [cost.bytes for cost in (first, second)] == [10**8 * 157, 101 * 10**6 * 109]
    assert first.closing == pytest.approx(closing / 4)


def test_intake_beside_what_syncs_allow():
    comes = compute_intake(RATES, DAY)
    assert comes.posts == pytest.approx(578.7, rel=1e-4)
    assert comes.cores == pytest.approx(578.7 * 1e-4, rel=1e-4)
    assert comes.share == pytest.approx(578.7 * 6e-3, rel=1e-4)


def test_rates_of_this_machine(tmp_path):
    """Opening is elliptic curves, ordering two hashes: no machine is the other way round."""
    rates = measure_rates(SecureChance(), 13, 2, tmp_path)
    assert min(rates[:4]) > 0.0
    assert rates.open > rates.order
    assert list(tmp_path.iterdir()) == []
