"""Powers of a characteristic function over many equally spaced frequencies, where they matter.

phi(omega)^N for phi(omega) = sum of c_i e^{i omega w_i} is negligible at most frequencies. They are
taken in rows: a bound on |phi| over whole blocks of rows, then over each, leaves few to compute.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixtally.ground.tails import Floats

ROW = 64
_SPLITS = 8
_BLOCK = ROW * _SPLITS**2
_BLOCKS = 64
_ALMOST_NONE = -1.0 + 2.0**-52
"""Where the transform is zero its logarithm would not be a number; this is above it."""
_BATCH = 64
_DEAD_NATS = 46.0
_ROUNDING = 2.0**-46

Complexes = NDArray[np.complex128]


@dataclass(frozen=True, slots=True)
class Wave:
    """phi^``count``, for ``weights`` that sum to at most one; the rest to one lies at zero."""

    values: Floats
    weights: Floats
    count: int

    def rows(
        self, step: float, frequencies: int, spread: float
    ) -> Iterator[tuple[Floats, Complexes, float]]:
        """Frequencies k step, phi^N there, and a bound on the moduli of all that were left out.

        Left out are frequencies k below ``frequencies`` at which phi^N e^{-(omega spread)^2 / 2} is
        below e^-46; each bound holds for those left out since the last.
        """
        within = _turns(step * np.arange(ROW, dtype=np.float64), self.values)
        constant = np.einsum("ji,i->j", within, self.weights)
        for first in range(0, frequencies, _BLOCK * _BLOCKS):
            starts, dead = self._alive(
                first, min(first + _BLOCK * _BLOCKS, frequencies), step, spread
            )
            for at in range(0, max(1, len(starts)), _BATCH):
                some = starts[at : at + _BATCH]
                # e^{i(x+y)} - 1 = (e^{ix} - 1)(e^{iy} - 1) + (e^{ix} - 1) + (e^{iy} - 1) takes
                # few sines and keeps the digits of small phases.
                before = _turns(step * some.astype(np.float64), self.values) * self.weights
                growth = np.einsum("mi,ji->mj", before, within)
                growth += before.sum(axis=1)[:, None] + constant
                omega = step * (some[:, None] + np.arange(ROW, dtype=np.float64))
                yield omega, self._power(growth), dead if at == 0 else 0.0

    def _power(self, growth: Complexes) -> Complexes:
        """(1 + growth)^N."""
        real, imaginary = growth.real, growth.imag
        # Not log1p of the complex number, which rounds at 1e-16: it is taken N times.
        square = np.maximum(2.0 * real + real * real + imaginary * imaginary, _ALMOST_NONE)
        modulus = 0.5 * np.log1p(square)
        angle = np.arctan2(imaginary, 1.0 + real)
        return np.asarray(np.exp(self.count * (modulus + 1j * angle)), dtype=np.complex128)

    def _alive(
        self, first: int, end: int, step: float, spread: float
    ) -> tuple[NDArray[np.int64], float]:
        """Where the rows that matter start, and a bound on the moduli in all others."""
        starts, dead = np.arange(first, end, _BLOCK), 0.0
        for size in (_BLOCK, _BLOCK // _SPLITS, ROW):
            if size < _BLOCK:
                starts = (starts[:, None] + size * np.arange(_SPLITS)).ravel()
                starts = starts[starts < end]
            logs = self.ceilings(step * starts.astype(np.float64), step * size, spread)
            small = logs < -_DEAD_NATS
            dead += size * float(np.exp(logs[small]).sum())
            starts = starts[~small]
        return starts, dead

    def ceilings(self, omega: Floats, width: float, spread: float) -> Floats:
        """Logarithms of bounds on |phi|^N e^{-(. spread)^2 / 2} in [omega, omega + width].

        Of the values with |w - mean| width <= 1, at a + b with a the middle,
        |sum of c_w e^{i(a+b)w}| <= |A + bA'| + b^2/2 V, A' the derivative and V the second moment
        about the mean; the others count in full.
        """
        away = self.values - float((self.weights * self.values).sum())
        slow = np.abs(away) * width <= 1.0
        away, weights, half = away[slow], self.weights[slow], 0.5 * width
        turned = np.exp(1j * np.multiply.outer(omega + half, away))
        middle = np.einsum("mi,i->m", turned, weights)
        change = 1j * half * np.einsum("mi,i->m", turned, weights * away)
        others = 1.0 - float(weights.sum()) + 0.5 * half**2 * float((weights * away**2).sum())
        modulus = np.maximum(np.abs(middle + change), np.abs(middle - change)) + others + _ROUNDING
        logs: Floats = self.count * np.log(np.minimum(modulus, 1.0)) - 0.5 * (omega * spread) ** 2
        return logs


def _turns(omega: Floats, values: Floats) -> Complexes:
    """e^{i omega w} - 1, to its own digits."""
    phase = np.multiply.outer(omega, values)
    out = np.empty(phase.shape, dtype=np.complex128)
    out.real = -2.0 * np.sin(0.5 * phase) ** 2
    out.imag = np.sin(phase)
    return out
