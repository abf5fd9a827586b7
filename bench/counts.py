"""Tallies drawn from counts of 10^10 people beside a whole simulation of 10^6."""

import numpy as np
from mixtally.simulation.simulate import play

from bench.clock import both, sized
from bench.row import Row, rated
from mixtally.ground.chance import SecureChance
from mixtally.ground.fixed import SCALE
from mixtally.records.mechanism import named
from mixtally.simulation.counts_only import draw_tally

AIM = 1.0
_PEOPLE, _BINS, _Q = 10**10, sized(100_000, 1000), SCALE // 100_000
_WHOLE, _FEW = sized(1_000_000, 2000), 100


def rows() -> list[Row]:
    """Benchmark lines."""
    chance = SecureChance()
    large = named.flip_blank(bins=_BINS, fakes=10**10, threshold=_Q)
    counts = np.full(_BINS, _PEOPLE // _BINS, dtype=np.int64)
    small = named.flip_blank(bins=_FEW, fakes=_WHOLE, threshold=_Q)
    codes = np.arange(_WHOLE, dtype=np.int64) % _FEW
    took = both(
        lambda: draw_tally(large, counts, _PEOPLE, chance), lambda: play(small, codes, chance), 3
    )
    return [
        rated(
            f"counts alone, 10^10 people, {_BINS:,} bins",
            f"{1e3 * took.ours:.0f} ms",
            f"times as fast as {_WHOLE:,} people in {_FEW} bins played whole",
            took.ratio,
            AIM,
        )
    ]
