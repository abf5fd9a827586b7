"""Laws of a few flipped bits, whole: for enumeration."""

import numpy as np

from mixtally.ground import tails
from mixtally.ground.tails import Floats


def sum_law(ones: int, zeros: int, flip: float) -> Floats:
    """P(sum = 0..n) of ``ones`` flipped ones and ``zeros`` flipped zeros."""
    law: Floats = np.ones(1)
    for bits, chance in ((ones, 1.0 - flip), (zeros, flip)):
        if bits:
            law = np.convolve(law, tails.pmf(bits, chance, 0, bits))
    return law
