"""Records travel in clear, among fakes that look the same: the number of a bin, nothing else.

Uniform fakes put K / d counts into a bin, with the variance (K / d)(1 - 1/d); shaped ones a mix's
mean, with the variance of their table, which adds up over the mixes. Nothing survives when every
mix colludes.

Source: notes 004 section 5.1 (uniform fakes).
"""

import math
from typing import ClassVar

import msgspec

from mixtally.records.guarantee import arriving
from mixtally.records.layout import Form, Layout
from mixtally.records.mechanism.base import Noise, Parameter, Shuffled
from mixtally.records.mechanism.fakes import FakeSource, ShapedFakes, UniformFakes


class InClear(Shuffled, frozen=True, kw_only=True, tag="in-clear"):
    """Records that are not randomized; ``fakes`` are people's uniform or mixes' shaped ones."""

    NAMES: ClassVar[tuple[str, ...]] = ("clear-uniform", "clear-shaped")

    fakes: UniformFakes | ShapedFakes

    @property
    def name(self) -> str:
        """clear-uniform or clear-shaped."""
        return "clear-uniform" if isinstance(self.fakes, UniformFakes) else "clear-shaped"

    def facts(self) -> dict[str, float]:
        """Of shaped fakes the numbers of their shape."""
        if isinstance(self.fakes, UniformFakes):
            return {}
        return {**self.fakes.shape.facts(), "mixes_adding": self.fakes.mixes}

    @property
    def layout(self) -> Layout:
        """The bin's number."""
        return Layout(Form.INDEX, self.bins)

    @property
    def most_set(self) -> int:
        """One bin."""
        return 1

    @property
    def flip_threshold(self) -> None:
        """Records travel in clear."""
        return

    @property
    def local_epsilon(self) -> float:
        """Infinite: a message that is known to be someone's tells their value."""
        return math.inf

    @property
    def fakes_promised(self) -> int:
        """People's, or the mean of what the mixes add."""
        if isinstance(self.fakes, UniformFakes):
            return self.repeats * self.fakes.count
        return self.fakes.shape.mean_of(self.repeats * self.bins * self.fakes.mixes)

    @property
    def fake_source(self) -> FakeSource:
        """People draw uniform fakes, mixes shaped ones."""
        return FakeSource.USERS if isinstance(self.fakes, UniformFakes) else FakeSource.MIX

    @property
    def uniform_fakes(self) -> bool:
        """Whether people's fakes hold a random bin."""
        return isinstance(self.fakes, UniformFakes)

    @property
    def shaped(self) -> ShapedFakes | None:
        """The mixes' fakes, if they draw them."""
        return self.fakes if isinstance(self.fakes, ShapedFakes) else None

    def surely(self, honest_share: float) -> "InClear":
        """With the people's fakes that surely arrive; a mix's come in full."""
        if isinstance(self.fakes, ShapedFakes):
            return self
        sure = UniformFakes(arriving(self.fakes.count, honest_share))
        return msgspec.structs.replace(self, fakes=sure)

    def having(self, parameter: Parameter, value: int) -> "InClear":
        """With another number of uniform fakes, or another shift of shaped ones."""
        match self.fakes:
            case UniformFakes() if parameter is Parameter.FAKES:
                fakes: UniformFakes | ShapedFakes = UniformFakes(value)
            case ShapedFakes() if parameter is Parameter.SHIFT:
                shape = msgspec.structs.replace(self.fakes.shape, shift=value)
                fakes = msgspec.structs.replace(self.fakes, shape=shape)
            case _:
                raise TypeError(f"{self.name} has no {parameter}")
        return msgspec.structs.replace(self, fakes=fakes)

    @property
    def gain(self) -> float:
        """A person in clear is one count, as often as they send it."""
        return float(self.repeats)

    def offset(self, messages: int) -> float:  # noqa: ARG002
        """K / d of uniform fakes, the mean of every mix's table."""
        if isinstance(self.fakes, UniformFakes):
            return self.true_fakes
        return self.repeats * self.fakes.mixes * self.fakes.shape.mean

    def variance(self, messages: int) -> float:  # noqa: ARG002
        """(K / d) (1 - 1/d), or the variance of the shape's table times the mixes.

        Source: notes 004, standard error below (5.10).
        """
        if isinstance(self.fakes, UniformFakes):
            spread = self.true_fakes * (1.0 - 1.0 / self.bins)
        else:
            spread = self.repeats * self.fakes.mixes * self.fakes.shape.spread
        return spread / self.gain**2

    def noise(self, messages: int, count: int) -> Noise:  # noqa: ARG002
        """Fakes in the bin, whatever it truly holds."""
        more = (self.repeats - 1) * count
        if isinstance(self.fakes, UniformFakes):
            return Noise(more, ((self.fakes_promised, 1.0 / self.bins),))
        return Noise(more, tables=((self.fakes.shape.weights, self.repeats * self.fakes.mixes),))
