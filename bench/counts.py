"""Tallies drawn from the counts of 10^10 people, compared with a full simulation of 10^6 people."""

import numpy as np
from msgspec.structs import replace

from bench.clock import both, choose_size
from bench.row import BenchmarkRow, build_row
from mixtally.lab.simulation.counts_only import draw_part
from mixtally.lab.simulation.play import play_parts
from mixtally.model.contract import FakeRecord, OwnFakes, Part
from mixtally.planning.layouts import plain_part
from mixtally.primitives.chance import SecureChance
from mixtally.primitives.fixed_point import SCALE

AIM = 1.0
"""The target ratio."""
_PEOPLE, _BINS, _Q = 10**10, choose_size(100_000, 1000), SCALE // 100_000
_WHOLE, _FEW = choose_size(1_000_000, 2000), 100


def rows() -> list[BenchmarkRow]:
    """Return the rows of the benchmark table."""
    chance = SecureChance()
    large, small = _part(_BINS), _part(_FEW)
    counts = np.full(_BINS, _PEOPLE // _BINS, dtype=np.int64)
    codes = np.arange(_WHOLE, dtype=np.int64) % _FEW
    took = both(
        lambda: draw_part(large, counts, _PEOPLE, 1, chance),
        lambda: play_parts([small], 1, [codes], chance),
        3,
    )
    return [
        build_row(
            f"counts alone, 10^10 people, {_BINS:,} bins",
            f"{1e3 * took.ours:.0f} ms",
            f"times as fast as {_WHOLE:,} people in {_FEW} bins played whole",
            took.ratio,
            AIM,
        )
    ]


def _part(bins: int) -> Part:
    """Return a part with flips and one blank per person."""
    return replace(plain_part(bins, 1, _Q), own=OwnFakes(FakeRecord.BLANK, 1, 0))
