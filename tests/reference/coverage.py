"""How often intervals hold the truth: thousands of collections, drawn as counts, not as bits."""

import numpy as np
from numpy.typing import NDArray

from mixtally.model.estimates import Tally
from mixtally.model.mechanism import Shuffled
from mixtally.primitives.chance import Chance
from mixtally.primitives.draw import draw_from_table
from mixtally.protocol.estimate.intervals import intervals
from mixtally.protocol.estimate.noise import NoiseCache, noise_distribution


def draw_counts(
    mechanism: Shuffled, truth: NDArray[np.int64], messages: int, runs: int, chance: Chance
) -> NDArray[np.int64]:
    """Tallied counts of ``runs`` collections, shape (runs, bins), each bin exactly.

    Bins are drawn independently, which is exact for flips and shaped fakes and exact bin by bin
    for uniform fakes.
    """
    drawn = np.empty((runs, len(truth)), dtype=np.int64)
    for place, count in enumerate(truth.tolist()):
        law = noise_distribution(mechanism, messages, count)
        cumulative = np.minimum(np.cumsum(law.pmf)[:-1], 1.0 - 2.0**-53) * 2.0**64
        noise = draw_from_table(chance, cumulative.astype(np.uint64), runs)
        drawn[:, place] = count + law.first + noise
    return drawn


def coverage(
    mechanism: Shuffled,
    truth: NDArray[np.int64],
    messages: int,
    *,
    level: float,
    runs: int,
    chance: Chance,
) -> tuple[float, float]:
    """Share of all runs' bins, and share of runs with every bin, whose intervals hold the truth."""
    each, together, noises = 0, 0, NoiseCache()
    for counts in draw_counts(mechanism, truth, messages, runs, chance):
        tally = Tally(counts, messages)
        each += _held(mechanism, tally, truth, level, 1, noises).sum()
        together += bool(_held(mechanism, tally, truth, level, len(truth), noises).all())
    return float(each) / (runs * len(truth)), together / runs


def _held(
    mechanism: Shuffled,
    tally: Tally,
    truth: NDArray[np.int64],
    level: float,
    share: int,
    noises: NoiseCache,
) -> NDArray[np.bool_]:
    found = intervals(mechanism, tally, level, simultaneous_over=share, noises=noises)
    return (found.lower <= truth) & (truth <= found.upper)
