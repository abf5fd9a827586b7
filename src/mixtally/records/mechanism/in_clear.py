"""Records travel in clear, among fakes that look the same: the number of a bin, nothing else.

A set of at most k bins travels as k messages of different cells: its members, and one of k further
cells for each that it lacks. Uniform fakes put K / D counts into each of D cells, with the variance
(K / D)(1 - 1/D), whatever else a record holds; shaped ones a mix's shift, with the variance of
their distribution, which adds up over the mixes. Nothing survives when every mix colludes.

Source: notes 004 section 5.1 (uniform fakes).
"""

import math
from typing import ClassVar

import msgspec

from mixtally.errors import in_range
from mixtally.records.guarantee import arriving
from mixtally.records.layout import Form, Layout
from mixtally.records.mechanism.base import Noise, Parameter, Shuffled
from mixtally.records.mechanism.fakes import FakeSource, ShapedFakes, UniformFakes
from mixtally.records.question import MOST_SET


class InClear(Shuffled, frozen=True, kw_only=True, tag="in-clear"):
    """Records that are not randomized; ``fakes`` are people's uniform or mixes' shaped ones.

    where
      max_set   the most bins of a record, in [1, 16]; more than one among uniform fakes only
    """

    NAMES: ClassVar[tuple[str, ...]] = ("clear-uniform", "clear-shaped")

    fakes: UniformFakes | ShapedFakes
    max_set: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        most = min(MOST_SET, self.bins) if isinstance(self.fakes, UniformFakes) else 1
        in_range("max set", self.max_set, 1, most, "it is the most bins that a set has")

    @property
    def name(self) -> str:
        """clear-uniform or clear-shaped."""
        return "clear-uniform" if isinstance(self.fakes, UniformFakes) else "clear-shaped"

    def facts(self) -> dict[str, float]:
        """Of shaped fakes decay, shift, and the decay ratio that everything is computed from."""
        if isinstance(self.fakes, UniformFakes):
            return {"max_set": self.max_set} if self.max_set > 1 else {}
        return {
            "shape_decay": self.fakes.decay,
            "shape_shift": self.fakes.shift,
            "shape_ratio": self.fakes.ratio,
            "mixes_adding": self.fakes.mixes,
        }

    @property
    def layout(self) -> Layout:
        """A cell's number."""
        return Layout(Form.INDEX, self.cells)

    @property
    def cells(self) -> int:
        """What a message may name: the bins and, for sets, as many more as a set has members."""
        return self.bins + (self.max_set if self.max_set > 1 else 0)

    @property
    def most_set(self) -> int:
        """One bin, or a set of them."""
        return self.max_set

    @property
    def record_messages(self) -> int:
        """One for each member that a set may have."""
        return self.repeats * self.max_set

    @property
    def true_fakes(self) -> float:
        """Uniform fakes that hold a bin, on average: K / D."""
        return self.fakes_sent / self.cells if self.uniform_fakes else 0.0

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
        return self.repeats * self.bins * self.fakes.shift * self.fakes.mixes

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
                fakes = msgspec.structs.replace(self.fakes, shift=value)
            case _:
                raise TypeError(f"{self.name} has no {parameter}")
        return msgspec.structs.replace(self, fakes=fakes)

    @property
    def gain(self) -> float:
        """A person in clear is one count, as often as they send it."""
        return float(self.repeats)

    def offset(self, messages: int) -> float:  # noqa: ARG002
        """K / D of uniform fakes, the shift of every mix: their distributions are symmetric."""
        if isinstance(self.fakes, UniformFakes):
            return self.true_fakes
        return float(self.repeats * self.fakes.mixes * self.fakes.shift)

    def variance(self, messages: int) -> float:  # noqa: ARG002
        """(K / D) (1 - 1/D), or the variance of the shaped distribution times the mixes.

        Source: notes 004, standard error below (5.10).
        """
        if isinstance(self.fakes, UniformFakes):
            spread = self.true_fakes * (1.0 - 1.0 / self.cells)
        else:
            spread = self.repeats * self.fakes.mixes * self.fakes.variance
        return spread / self.gain**2

    def noise(self, messages: int, count: int) -> Noise:  # noqa: ARG002
        """Fakes in the bin, whatever it truly holds."""
        more = (self.repeats - 1) * count
        if isinstance(self.fakes, UniformFakes):
            return Noise(more, ((self.fakes_promised, 1.0 / self.cells),))
        return Noise(more, tables=((self.fakes.weights, self.repeats * self.fakes.mixes),))
