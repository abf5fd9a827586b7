"""clear-shaped: records travel in clear; a mix adds to every bin a number of fakes of its drawing.

The number follows a truncated discrete Laplace law on {0..2s}, P[k] ~ decay ratio^|k - s|, written
as integers over 2^64 so that the mix and the accountant use the very same law.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from mixtally.errors import ParameterError
from mixtally.ground.fixed import SCALE
from mixtally.protocols.base import FakeSource
from mixtally.protocols.clear import ClearProtocol

MOST_SHIFT = 100_000
MOST_MIXES = 100
_GUARD_BITS = 256
SHAPED_ASSUMPTION = (
    "the mix that draws the fakes draws them as told, keeps their numbers to itself and does not "
    "collude with the collector; at least one mix shuffles"
)
SHAPED_BY_MANY = (
    "at least one of the mixes that add fakes draws them as told, keeps their numbers to itself "
    "and does not collude with the collector; at least one mix shuffles"
)


@dataclass(frozen=True, slots=True)
class ClearShaped(ClearProtocol):
    """Every one of ``mixes`` mixes adds fakes of its own; one honest mix among them suffices.

    ``ratio`` is exp(-c) times 2^64 for the decay c; ``shift`` is s, a mix's mean fakes a bin.
    """

    name: ClassVar[str] = "clear-shaped"
    fake_source: ClassVar[FakeSource] = FakeSource.MIX

    ratio: int
    shift: int
    mixes: int = 1

    def __post_init__(self) -> None:
        super(ClearShaped, self).__post_init__()
        checked_shape(self.ratio, self.shift)
        if not 1 <= self.mixes <= MOST_MIXES:
            raise ParameterError(
                "mixes", wanted=f"an integer in [1, {MOST_MIXES}]", got=self.mixes,
                do="it is how many mixes add fakes",
            )  # fmt: skip
        if self.fakes != self.bins * self.shift * self.mixes:
            raise ParameterError(
                "fakes of clear-shaped",
                wanted=f"bins times shift times mixes = {self.bins * self.shift * self.mixes:,}",
                got=f"{self.fakes:,}",
                do="leave the number to the shape",
            )

    @classmethod
    def shaped(cls, bins: int, ratio: int, shift: int, mixes: int = 1) -> "ClearShaped":
        """The protocol whose number of fakes follows from its shape."""
        return cls(bins=bins, fakes=bins * shift * mixes, ratio=ratio, shift=shift, mixes=mixes)

    @property
    def shape_decay(self) -> float:
        """The nats c by which the law falls from one number to the next."""
        return math.log(SCALE / self.ratio)

    @property
    def weights(self) -> tuple[int, ...]:
        """P[k] times 2^64 for k = 0..2s: integers that sum to 2^64 exactly."""
        return shape_weights(self.ratio, self.shift)

    def facts(self) -> dict[str, float]:
        """Decay, shift, and the decay ratio over 2^64 that everything is computed from."""
        return {
            "shape_decay": self.shape_decay,
            "shape_shift": self.shift,
            "shape_ratio": self.ratio,
            "mixes_adding": self.mixes,
        }

    def offset(self, messages: int) -> float:  # noqa: ARG002
        """The shift of every mix: the laws are symmetric about it."""
        return float(self.mixes * self.shift)

    def variance(self, messages: int) -> float:  # noqa: ARG002
        """The variance of the law, which adds up over the mixes."""
        return self.mixes * shape_moment(self.ratio, self.shift, 2)


@lru_cache(maxsize=256)
def shape_moment(ratio: int, shift: int, order: int) -> float:
    """A central moment of one mix's fakes in a bin: its variance for order 2."""
    powers: list[int] = [
        w * (k - shift) ** order for k, w in enumerate(shape_weights(ratio, shift))
    ]
    return sum(powers) / SCALE


def checked_shape(ratio: int, shift: int) -> None:
    """Raises ParameterError unless ratio is in [1, 2^64) and shift in [1, 10^5]."""
    if not (1 <= ratio < SCALE and 1 <= shift <= MOST_SHIFT):
        raise ParameterError(
            "shape",
            wanted=f"a decay ratio in [1, 2^64) and a shift in [1, {MOST_SHIFT:,}]",
            got=f"ratio {ratio / SCALE:.3g} x 2^64 and shift {shift:,}",
            do="a decay of epsilon / 2 suits a guarantee of epsilon",
        )


def ratio_of(decay: float) -> int:
    """exp(-decay) times 2^64, to the nearest integer; raises ParameterError unless decay > 0."""
    if not 1e-6 <= decay <= 40.0:
        raise ParameterError(
            "shape decay",
            wanted="a number in [1e-6, 40]",
            got=decay,
            do="epsilon / 2 suits a guarantee of epsilon",
        )
    return round(math.exp(-decay) * SCALE)


@lru_cache(maxsize=64)
def shape_weights(ratio: int, shift: int) -> tuple[int, ...]:
    """The law of one bin's fakes as integers over 2^64, by integer arithmetic alone.

    Rounded down everywhere but at the peak, which takes what is left: symmetric, sum exactly 2^64.
    """
    powers = [1 << _GUARD_BITS]
    for _ in range(shift):
        powers.append(powers[-1] * ratio // SCALE)
    total = powers[0] + 2 * sum(powers[1:])
    side = [power * SCALE // total for power in powers[1:]]
    peak = SCALE - 2 * sum(side)
    return (*reversed(side), peak, *side)
