"""How many people have both of two bits, from messages that contain both.

``conclude.pairs`` calls this module. Every bit of N messages is flipped independently with
probability q = 1 - p. For a shown bit s, the variable y = (s - q) / (p - q) has the true bit x as
its mean. So y_i y_j has the mean x_i x_j. Let s_i be the number of messages that show bit i, and
s_ij the number that show both bits. The sum of y_i y_j over all messages is

    z_ij = (s_ij - q s_i - q s_j + N q^2) / (p - q)^2.

This inverts the 2 x 2 flip matrix of each bit. Blank fakes add 0 on average. For one message and
v = p q / (p - q)^2, the variance Var(y_i y_j) = (v + x_i)(v + x_j) - x_i x_j = v^2 + v (x_i + x_j),
and so

    Var z_ij = N v^2 + v (z_i + z_j)

exactly. The true single counts z_i are unknown and replaced by their estimates, or by 0 if these
are negative. If records are sent k times, z_ij and its standard error are divided by k.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixtally.model.mechanism import Shuffled


@dataclass(frozen=True, slots=True, eq=False)
class Joint:
    """Unbiased counts of pairs and their standard errors, both symmetric of shape (bins, bins).

    The diagonals have no meaning.
    """

    counts: NDArray[np.float64]
    errors: NDArray[np.float64]


def joint_counts(mechanism: Shuffled, pairs: NDArray[np.int64], messages: int) -> Joint:
    """Estimate joint counts from ``pairs`` (``protocol.tally.pairs``) among ``messages``."""
    q, contrast = mechanism.flip_probability, mechanism.contrast
    times = mechanism.repeats
    shown = np.diag(pairs).astype(np.float64)
    both = pairs - q * (shown[:, None] + shown[None, :]) + messages * q * q
    spread = q * (1.0 - q) / contrast**2
    single = np.maximum((shown - messages * q) / contrast, 0.0)  # over all repeats
    variance = messages * spread**2 + spread * (single[:, None] + single[None, :])
    return Joint(both / contrast**2 / times, np.sqrt(variance) / times)
