"""How many people have both of two bits, out of messages that carry them together.

Every bit of a message is flipped on its own, so y = (bit - q) / (p - q) has the true bit x as its
mean, and the mean of y_i y_j is x_i x_j: summed over all messages,

    z_ij = (s_ij - q s_i - q s_j + N q^2) / (p - q)^2

which inverts the 2 x 2 flip matrix of each bit. Blank fakes add nothing on average. With
v = p q / (p - q)^2, Var(y_i y_j) = (v + x_i)(v + x_j) - x_i x_j = v^2 + v (x_i + x_j), and so

    Var z_ij = N v^2 + v (z_i + z_j)

exactly, which asks for the true single counts: their estimates are put in, never below zero.
Sent k times, z and its standard error are divided by k.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixtally.model.mechanism import Shuffled


@dataclass(frozen=True, slots=True, eq=False)
class Joint:
    """Unbiased counts of pairs, symmetric, shape (bins, bins) each; the diagonal means nothing."""

    counts: NDArray[np.float64]
    errors: NDArray[np.float64]


def joint_counts(mechanism: Shuffled, pairs: NDArray[np.int64], messages: int) -> Joint:
    """Estimate joint counts from ``pairs`` (``protocol.tally.pairs``) among ``messages``."""
    q, contrast = mechanism.flip_probability, mechanism.contrast
    times = mechanism.repeats
    alone = np.diag(pairs).astype(np.float64)
    both = pairs - q * (alone[:, None] + alone[None, :]) + messages * q * q
    spread = q * (1.0 - q) / contrast**2
    single = np.maximum((alone - messages * q) / contrast, 0.0)  # over all repeats
    variance = messages * spread**2 + spread * (single[:, None] + single[None, :])
    return Joint(both / contrast**2 / times, np.sqrt(variance) / times)
