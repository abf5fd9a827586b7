"""Records travel in clear, among fakes that look the same: the number of a bin or of a plane.

A set of at most k bins travels as k messages of different cells: its members, and one of k further
cells for each that it lacks. Uniform fakes put K / p counts into each of p cells, with the variance
(K / p)(1 - 1/p), whatever else a record holds; shaped ones a mix's mean into every cell, with the
variance of their table, which adds up over the mixes. Over planes (``model.planes``) another's
message points at a value with kappa, or with 1/p if it is one of a set's k > 1, with bins never. So
with that chance q, of n people and K fakes the unbiased count is

    (S - k n q - K / p) / (1 - k q)

with the variance [k n q (1 - q) + (K / p)(1 - 1/p)] / (1 - k q)^2 where nobody holds the value.
Nothing survives when every mix colludes.

Source: notes 004 section 5.1 (uniform fakes).
"""

import math
from collections.abc import Mapping
from typing import ClassVar, Self

import msgspec

from mixtally.device.contract.shape import MOST_SHIFT, MOST_VARIANCE
from mixtally.errors import in_range
from mixtally.model.guarantee import count_arriving
from mixtally.model.layout import Form, Layout
from mixtally.model.mechanism import parameters
from mixtally.model.mechanism.base import Noise, Shuffled
from mixtally.model.mechanism.fakes import MOST_MIXES, ShapedFakes, UniformFakes
from mixtally.model.mechanism.parameters import (
    Parameter,
    ParameterRules,
    ParameterSpec,
    parse_rules,
)
from mixtally.model.planes import Planes
from mixtally.model.question import MOST_SET
from mixtally.model.shape import LEAST_DECAY, MOST_DECAY


class IndexMechanism(Shuffled, frozen=True, kw_only=True):
    """Messages that are the number of a bin, or of a plane, a message for each member of a set.

    where
      fakes     uniform ones of people, or mixes' shaped ones
      planes    those that a message names; None where it names the bin itself
      max_set   the most bins of a record, in [1, 16], and at most half the planes of a direction
    """

    fakes: UniformFakes | ShapedFakes
    planes: Planes | None = None
    max_set: int = 1

    def __post_init__(self) -> None:
        if self.planes is None:
            super().__post_init__()
        else:
            in_range("values", self.bins, 2, self.planes.points, "plan again")
        most = min(MOST_SET, self.bins if self.planes is None else max(1, self.planes.prime // 2))
        in_range("max set", self.max_set, 1, most, "it is the most bins that a set has")

    @property
    def cells(self) -> int:
        """What fakes fall into, for whoever compares two records: the bins and, for sets, as many
        more as a set has members; the planes of a direction.
        """
        if self.planes is not None:
            return self.planes.prime
        return self.bins + (self.max_set if self.max_set > 1 else 0)

    @property
    def collision_probability(self) -> float:
        """The chance that another's message points at a value."""
        if self.planes is None:
            return 0.0
        return self.planes.collision_probability if self.max_set == 1 else 1.0 / self.planes.prime

    @property
    def encoding_facts(self) -> dict[str, float]:
        """Facts of planes p and t, of sets their size."""
        size: dict[str, float] = {"max_set": self.max_set} if self.max_set > 1 else {}
        over = self.planes
        return size if over is None else {**size, "prime": over.prime, "digits": over.digits}

    @property
    def layout(self) -> Layout:
        """The number of the cell or plane."""
        return Layout(Form.INDEX, self.cells if self.planes is None else self.planes.messages)

    @property
    def record_messages(self) -> int:
        """One for each member that a set may have."""
        return self.repeats * self.max_set

    @property
    def true_fakes(self) -> float:
        """Uniform fakes that point at a value, on average: K / D."""
        return self.fakes_sent / self.cells if self.uniform_fakes else 0.0

    @property
    def fakes_promised(self) -> int:
        """People's, or the mean of what the mixes add."""
        if isinstance(self.fakes, UniformFakes):
            return self.repeats * self.fakes.count
        return self.fakes.shape.mean_of(self.repeats * self.cells * self.fakes.mixes)

    @property
    def uniform_fakes(self) -> bool:
        """Whether people's fakes hold a random bin."""
        return isinstance(self.fakes, UniformFakes)

    @property
    def shaped_fakes(self) -> ShapedFakes | None:
        """The mixes' fakes, if they draw them."""
        return self.fakes if isinstance(self.fakes, ShapedFakes) else None

    def with_honest(self, honest_share: float) -> Self:
        """With the people's fakes that certainly arrive; a mix's come in full."""
        if isinstance(self.fakes, ShapedFakes):
            return self
        honest = UniformFakes(count_arriving(self.fakes.count, honest_share))
        return msgspec.structs.replace(self, fakes=honest)


class InClear(IndexMechanism, frozen=True, kw_only=True, tag="in-clear"):
    """Records that are not randomized."""

    PARAMETERS: ClassVar[tuple[ParameterSpec, ...]] = (
        parameters.USERS,
        parameters.FAKES,
        parameters.BINS,
        parameters.SET_SIZE,
        parameters.REPEATS,
        ParameterSpec(
            "shape_decay",
            "Fall of the shaped distribution from one number to the next, in nats",
            kind=float,
            low=LEAST_DECAY,
            high=MOST_DECAY,
            metavar="C",
        ),
        ParameterSpec(
            "shape_shift",
            "Mean shaped fakes per bin",
            low=1,
            high=MOST_SHIFT,
            sought=Parameter.SHIFT,
        ),
        ParameterSpec(
            "shape_variance", "Of a Gaussian shape, instead of a decay", low=1, high=MOST_VARIANCE
        ),
        ParameterSpec("mixes", "Mixes that draw fakes", low=1, high=MOST_MIXES),
        parameters.SPLIT,
        parameters.COUNT_CROWD,
    )
    PROTOCOLS: ClassVar[Mapping[str, ParameterRules]] = {
        "clear-uniform": parse_rules(
            "fakes bins",
            "users max_set repeats split count_crowd",
            sought="fakes",
            sets=True,
            claim="users bins fakes [max_set]",
        ),
        "clear-shaped": parse_rules(
            "shape_decay shape_shift",
            "users bins max_set repeats mixes split count_crowd",
            sought="shape_shift",
            instead=(("shape_decay", "shape_variance"),),
            chosen="shape_decay",
            sets=True,
            claim="users bins shape_decay shape_shift [mixes] [max_set]",
        ),
    }

    @property
    def name(self) -> str:
        """clear-uniform or clear-shaped."""
        return "clear-uniform" if isinstance(self.fakes, UniformFakes) else "clear-shaped"

    def noise_facts(self) -> dict[str, float]:
        """Of shaped fakes the numbers of their shape."""
        return {} if self.shaped_fakes is None else self.shaped_fakes.shape.facts()

    def facts(self) -> dict[str, float]:
        """What it is sent over, and of shaped fakes their shape and how many mixes draw them."""
        mixes = {} if self.shaped_fakes is None else {"mixes_adding": self.shaped_fakes.mixes}
        return {**self.encoding_facts, **self.noise_facts(), **mixes}

    def get_parameter_values(self, parameter: Parameter) -> dict[str, float]:
        """Of a shape all that people give for it, as a search may choose the decay itself."""
        if parameter != Parameter.SHIFT:
            return super().get_parameter_values(parameter)
        return {name: one for name, one in self.noise_facts().items() if name != "shape_ratio"}

    @property
    def local_epsilon(self) -> float:
        """Infinite: a message that is known to be someone's tells their value."""
        return math.inf

    def with_parameter(self, parameter: Parameter, value: int) -> Self:
        """With another number of uniform fakes, or another shift of shaped ones."""
        match self.fakes:
            case UniformFakes() if parameter == Parameter.FAKES:
                fakes: UniformFakes | ShapedFakes = UniformFakes(value)
            case ShapedFakes() if parameter == Parameter.SHIFT:
                shape = msgspec.structs.replace(self.fakes.shape, shift=value)
                fakes = msgspec.structs.replace(self.fakes, shape=shape)
            case _:
                return super().with_parameter(parameter, value)
        return msgspec.structs.replace(self, fakes=fakes)

    def parameter_value(self, parameter: Parameter) -> int:
        """The number of uniform fakes, or the shift of shaped ones."""
        match self.fakes:
            case UniformFakes(count) if parameter == Parameter.FAKES:
                return count
            case ShapedFakes(shape=shape) if parameter == Parameter.SHIFT:
                return shape.shift
        return super().parameter_value(parameter)

    @property
    def noise_by_count(self) -> bool:
        """Over planes: whoever holds a value does not point at it by chance."""
        return self.planes is not None

    @property
    def gain(self) -> float:
        """A person in clear is one count, as often as they send it, less what others would be."""
        return self.repeats * (1.0 - self.max_set * self.collision_probability)

    def offset(self, messages: int) -> float:
        """N q + K / p of uniform fakes; of shaped ones the mean of every mix's table."""
        if isinstance(self.fakes, UniformFakes):
            return (messages - self.fakes_sent) * self.collision_probability + self.true_fakes
        return self.repeats * self.fakes.mixes * self.fakes.shape.mean

    def variance(self, messages: int) -> float:
        """N q (1 - q) + (K / p) (1 - 1/p) over (1 - k q)^2, or the variance of the mixes'
        shape.

        Source: notes 004, standard error below (5.10); ``model.planes``.
        """
        if isinstance(self.fakes, UniformFakes):
            spread = self.true_fakes * (1.0 - 1.0 / self.cells)
            spread += (
                (messages - self.fakes_sent)
                * self.collision_probability
                * (1.0 - self.collision_probability)
            )
        else:
            spread = self.repeats * self.fakes.mixes * self.fakes.shape.spread
        return spread / self.gain**2

    def variance_given_total(self, messages: int, bins: int, count: int = 0) -> float:
        """Return the variance of a count once the sum of ``bins`` counts is used.

        Shaped fakes are independent and alike in every bin: V (1 - 1/d) is left of their variance
        V. Uniform fakes and people add up to the messages, so that the sum tells nothing.
        """
        found = self.variance_at(messages, count)
        return found if self.shaped_fakes is None else found * (1.0 - 1.0 / bins)

    def noise_of_bins(self, messages: int, bins: int, count: int) -> Noise:  # noqa: ARG002
        """Return the noise of several bins together: the fakes that name one of them."""
        if self.shaped_fakes is None:
            return Noise(0, ((self.fakes_promised, bins / self.cells),))
        draws = self.repeats * bins * self.shaped_fakes.mixes
        return Noise(0, tables=((self.shaped_fakes.shape.weights, draws),))

    def noise(self, messages: int, count: int) -> Noise:
        """Fakes that point at the value, and people whose plane holds theirs and it."""
        more = (self.repeats - 1) * count
        if isinstance(self.fakes, UniformFakes):
            gained = [(self.fakes_promised, 1.0 / self.cells)]
            if self.planes is not None:
                others = self.max_set * max(0, self.people_among(messages) - count)
                gained.append((others, self.collision_probability))
            return Noise(more, tuple(gained))
        return Noise(more, tables=((self.fakes.shape.weights, self.repeats * self.fakes.mixes),))
