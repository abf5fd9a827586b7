"""Powers of a characteristic function at equally spaced frequencies.

``saddle_line`` integrates phi(omega)^N with phi(omega) = sum of c_i e^{i omega w_i}. The power is
negligible at most frequencies. The frequencies are grouped into rows of ``ROW`` and rows into
blocks. A bound on |phi| over whole blocks, and then over rows, leaves few rows to compute.

If most draws are zero, the sum is zero with a probability a^N, and this constant does not decay at
any frequency. It is subtracted. With phi = a + psi, the rest is a^N ((1 + psi/a)^N - 1), which is
computed without cancellation.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mixtally.accounting.numerics.draws import Complexes, Power
from mixtally.primitives.tails import Floats

ROW = 64
"""Frequencies in one row."""
_SPLITS = 8
"""Parts into which a block, and then each part, is divided."""
_BLOCK = ROW * _SPLITS**2
_BLOCKS = 64
"""Blocks that are bounded at a time."""
_MOST_CELLS = 1 << 18
"""Number of phases that are in memory at a time."""
_DEAD_NATS = 46.0
"""Rows whose modulus is below e^-46 are not computed but bounded."""
_MOST_ZEROS_NATS = 40.0
"""The probability of zeros only is not subtracted if it is below e^-40."""
_ROUNDING = 2.0**-46
"""Bound on the rounding error of a modulus."""


class FrequencyRow(NamedTuple):
    """The transform of the smoothed sum at some frequencies.

    ``omitted_bound`` bounds the sum of the moduli at the frequencies omitted since the last row.
    """

    omega: Floats
    real: Floats
    imaginary: Floats
    omitted_bound: float

    def divide_by_power(self, point: float, order: int) -> Floats:
        """Return the real parts of the transform over (point + i omega)^order, for order 1 or 2."""
        share = 1.0 / (point + 1j * self.omega)
        if order == 2:
            share *= share
        return np.asarray(self.real * share.real - self.imaginary * share.imag)


@dataclass(frozen=True)
class Wave:
    """The N-th power of phi.

    If ``weights`` sum to less than one, the value zero has the missing weight.

    ``separates_zeros`` is whether a^N is subtracted, the probability that all N draws are zero. It
    is not subtracted if it is tiny or if N is random.
    """

    values: Floats
    weights: Floats
    power: Power
    separates_zeros: bool = False

    @cached_property
    def _moving(self) -> Floats:
        """Return the weights of the values other than zero."""
        return np.where(self.values == 0.0, 0.0, self.weights)

    @cached_property
    def log_zeros(self) -> float:
        """Return log a^N, or minus infinity if a^N is not subtracted."""
        moving = float(self._moving.sum())
        if not self.separates_zeros or moving >= 1.0 or self.power.trials:
            return -math.inf
        found = self.power.certain * math.log1p(-moving)
        return found if found > -_MOST_ZEROS_NATS else -math.inf

    def rows(
        self, step: float, frequencies: int, spread: float, turn: float = 0.0
    ) -> Iterator[FrequencyRow]:
        """Yield the smoothed and turned powers of phi, row by row.

        The powers are phi^N e^{-(omega spread)^2 / 2 + i omega turn} at omega = k step for k <
        ``frequencies``. Rows whose modulus is below e^-46 are omitted.
        """
        separates_zeros = self.log_zeros > -math.inf
        weights, less = (self._moving, 0.0) if separates_zeros else (self.weights, 1.0)
        within = _turns(step * np.arange(ROW, dtype=np.float64), self.values)
        constant = less * np.einsum("ji,i->j", within, weights)
        batch = max(1, _MOST_CELLS // (ROW * len(weights)))
        for first in range(0, frequencies, _BLOCK * _BLOCKS):
            starts, dead = self._alive(
                first, min(first + _BLOCK * _BLOCKS, frequencies), step, spread
            )
            for at in range(0, max(1, len(starts)), batch):
                some = starts[at : at + batch]
                # e^{i(x+y)} - 1 = (e^{ix} - 1)(e^{iy} - 1) + (e^{ix} - 1) + (e^{iy} - 1) needs
                # few sines and keeps the digits of small phases.
                before = _turns(step * some.astype(np.float64), self.values)
                before = (before + (1.0 - less)) * weights
                # Not a matrix product: starting its threads costs more than they save.
                growth = np.einsum("mi,ji->mj", before, within)
                growth += before.sum(axis=1)[:, None] + constant
                omega = step * (some[:, None] + np.arange(ROW, dtype=np.float64))
                real, imaginary = self._powers(growth, omega, spread, turn)
                yield FrequencyRow(omega, real, imaginary, dead if at == 0 else 0.0)

    def _powers(
        self, growth: Complexes, omega: Floats, spread: float, turn: float
    ) -> tuple[Floats, Floats]:
        """Return the real and imaginary parts of phi^N or phi^N - a^N, smoothed and turned.

        The result is multiplied by e^{-(omega spread)^2 / 2} (smoothing) and by e^{i omega turn}.
        If a^N is not subtracted, ``growth`` is phi - 1. If it is subtracted, ``growth`` is psi =
        phi - a, and the result is computed as a^N ((1 + psi / a)^N - 1).
        """
        separates_zeros = self.log_zeros > -math.inf
        if separates_zeros:
            growth = growth * math.exp(-self.log_zeros / self.power.certain)
        nats, angle = self.power.of(growth)
        smooth = -0.5 * (omega * spread) ** 2
        if not separates_zeros:
            angle += omega * turn
            size = np.exp(nats + smooth)
            return size * np.cos(angle), size * np.sin(angle)
        size = np.exp(smooth + self.log_zeros)
        real = size * (np.expm1(nats) * np.cos(angle) - 2.0 * np.sin(0.5 * angle) ** 2)
        imaginary = size * np.exp(nats) * np.sin(angle)
        c, s = np.cos(omega * turn), np.sin(omega * turn)
        return real * c - imaginary * s, real * s + imaginary * c

    def _alive(
        self, first: int, end: int, step: float, spread: float
    ) -> tuple[NDArray[np.int64], float]:
        """Return the first frequencies of the rows to be computed, and a bound on all other rows.

        A frequency is given as a multiple of ``step``. The bound is on the sum of the moduli.
        """
        starts, dead = np.arange(first, end, _BLOCK), 0.0
        # Whole blocks are bounded first, so that most frequencies are ruled out in few steps.
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
        """Return logarithms of bounds on the smoothed |phi|^N over [omega, omega + width].

        If a^N is subtracted, the bound is the smaller of |phi|^N + a^N and (a + |psi|)^N - a^N.
        """
        logs = self.power.ceiling(self._moduli(omega, width, self.weights))
        if self.log_zeros > -math.inf:
            count = self.power.certain
            zeros = math.exp(self.log_zeros / count)
            moving = self._moduli(omega, width, self._moving, zeros)
            grown = self.log_zeros + np.log(np.expm1(count * np.log1p(moving / zeros)))
            logs = np.minimum(np.logaddexp(logs, self.log_zeros), grown)
        return np.asarray(logs - 0.5 * (omega * spread) ** 2)

    def _moduli(self, omega: Floats, width: float, weights: Floats, rest: float = 0.0) -> Floats:
        """Return bounds on |sum of c_w e^{i omega w}| over [omega, omega + width].

        Consider the values with |w - mean| width <= 1. At the frequency a + b, where a is the
        middle of the interval, |sum of c_w e^{i(a+b)w}| <= |A + bA'| + b^2/2 V. Here A is the sum
        at a, A' its derivative, and V the second moment about the mean. All other values, except
        for ``rest``, are bounded by their weights.
        """
        away = self.values - float((self.weights * self.values).sum())
        slow = np.abs(away) * width <= 1.0
        away, weights, half = away[slow], weights[slow], 0.5 * width
        turned = np.exp(1j * np.multiply.outer(omega + half, away))
        middle = np.einsum("mi,i->m", turned, weights)
        change = 1j * half * np.einsum("mi,i->m", turned, weights * away)
        others = (
            1.0 - rest - float(weights.sum()) + 0.5 * half**2 * float((weights * away**2).sum())
        )
        modulus = np.maximum(np.abs(middle + change), np.abs(middle - change)) + others + _ROUNDING
        return np.asarray(np.minimum(modulus, 1.0 - rest))


def _turns(omega: Floats, values: Floats) -> Complexes:
    """Return e^{i omega w} - 1 without cancellation."""
    phase = np.multiply.outer(omega, values)
    out = np.empty(phase.shape, dtype=np.complex128)
    out.real = -2.0 * np.sin(0.5 * phase) ** 2
    out.imag = np.sin(phase)
    return out
