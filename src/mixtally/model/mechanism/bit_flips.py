"""Every bit of a record is flipped with probability q, among no fakes, blank or uniform ones.

Fakes are flipped as records are. With N messages, p = 1 - q and contrast p - q, a bin is set in N q
messages plus p - q for every true one, so the count of an empty bin has the variance
N p q / (p - q)^2. A uniform fake sets a bit with s = q + (p - q) / d, so K of them add K / d true
ones a bin, with a variance of their own.

Source: notes 004 section 4 (one bit), 5.2 (uniform fakes), 5.3 (blank fakes); sufficient DP 000
section 2 (free bits without fakes); 003 (repeats).
"""

import math
from collections.abc import Mapping
from typing import ClassVar, Self

import msgspec

from mixtally.errors import ParameterError, in_range
from mixtally.model.guarantee import Observer, check_users, count_arriving
from mixtally.model.layout import Form, Layout
from mixtally.model.mechanism import parameters
from mixtally.model.mechanism.base import Noise, Shuffled
from mixtally.model.mechanism.fakes import BlankFakes, NoFakes, UniformFakes
from mixtally.model.mechanism.parameters import (
    Parameter,
    ParameterRules,
    ParameterSpec,
    parse_rules,
)
from mixtally.model.question import MOST_BITS, MOST_SET
from mixtally.primitives.fixed_point import LEAST_THRESHOLD, MOST_THRESHOLD, SCALE, check_threshold


class BitFlips(Shuffled, frozen=True, kw_only=True, tag="bit-flips"):
    """Flipped bits.

    where
      threshold   the flip probability q times 2^64, an integer in [2^24, 2^63]
      max_set     the most bits that a record sets, in [1, 16]; None for free bits, any of them set
      fakes       none only where the crowd is counted, uniform only for one-valued records; free
                  bits have none, a single one may have blank ones
      crowd       honest people whose own flips are counted on as fakes, 0 for none; some where
                  nothing else hides

    Raises ParameterError for numbers outside their ranges and for what has no divergence.
    """

    PARAMETERS: ClassVar[tuple[ParameterSpec, ...]] = (
        parameters.USERS,
        parameters.FAKES,
        ParameterSpec(
            "flip",
            "Flip probability",
            kind=float,
            low=LEAST_THRESHOLD / SCALE,
            high=MOST_THRESHOLD / SCALE,
            metavar="Q",
            sought=Parameter.FLIP,
        ),
        parameters.BINS,
        ParameterSpec("bits", "Bits of a free vector", low=1, high=MOST_BITS),
        ParameterSpec("ones", "Others known to hold a one", low=0, high="users"),
        parameters.SET_SIZE,
        parameters.REPEATS,
        ParameterSpec(
            "observer",
            "Who looks: messages or sums",
            kind=str,
            metavar="WHO",
            choices=(Observer.MESSAGES.value, Observer.SUMS.value),
            default=Observer.MESSAGES.value,
        ),
        ParameterSpec(
            "background",
            "zero: all others are known to hold zeros; with --bits",
            kind=str,
            metavar="WHICH",
            choices=("zero",),
        ),
        parameters.SPLIT,
        parameters.COUNT_CROWD,
    )
    PROTOCOLS: ClassVar[Mapping[str, ParameterRules]] = {
        "flip-blank": parse_rules(
            "fakes flip",
            "users bins max_set repeats split count_crowd",
            sought="flip fakes",
            sets=True,
            claim="users bins fakes flip [max_set] [count_crowd]",
        ),
        "flip-uniform": parse_rules(
            "users fakes bins flip",
            "max_set repeats observer split count_crowd",
            sought="flip fakes",
            claim="users bins fakes flip [count_crowd]",
        ),
        "single-bit": parse_rules(
            "users fakes flip",
            "ones repeats count_crowd",
            sought="flip fakes",
            claim="users flip [fakes]",
        ),
        "flip": parse_rules(
            "users flip",
            "bins bits max_set repeats observer background split count_crowd",
            sought="flip",
            sets=True,
            claim="users flip [bins] [bits] [max_set] [repeats]",
        ),
    }

    threshold: int
    max_set: int | None = 1
    fakes: NoFakes | BlankFakes | UniformFakes
    crowd: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_threshold(self.threshold)
        self._check_record()
        self._check_cover()

    def _check_record(self) -> None:
        if self.max_set is None:
            if self.bins > MOST_BITS:
                raise ParameterError(
                    "bits",
                    expected=f"an integer in [1, {MOST_BITS}]",
                    got=f"{self.bins:,}",
                    do="ask fewer bits at once",
                )
            return
        most = min(MOST_SET, self.bins)
        in_range("max set", self.max_set, 1, most, "it is the most bits that a set has")

    def _check_cover(self) -> None:
        one_among_fakes = self.bins == 1 and isinstance(self.fakes, BlankFakes)
        if (
            self.crowd
            or isinstance(self.fakes, NoFakes)
            or (self.max_set is None and not one_among_fakes)
        ):
            check_users(self.crowd)
        if self.max_set is None and self.bins > 1 and not isinstance(self.fakes, NoFakes):
            raise ParameterError(
                "fakes of free bits",
                expected="none",
                got=f"{self.fakes.count:,}",
                do="send every bit as a message of its own, or count on the crowd alone",
            )
        if isinstance(self.fakes, UniformFakes) and self.max_set != 1:
            raise ParameterError(
                "uniform fakes",
                expected="records that set one bin",
                got="free bits" if self.max_set is None else f"sets of {self.max_set}",
                do="use blank fakes",
            )

    @property
    def name(self) -> str:
        """One of flip-uniform, single-bit, flip and flip-blank."""
        if isinstance(self.fakes, UniformFakes):
            return "flip-uniform"
        if self.max_set is None and self.bins == 1:
            return "single-bit"
        return "flip" if isinstance(self.fakes, NoFakes) else "flip-blank"

    @property
    def least_bins(self) -> int:
        """A single bit may be asked."""
        return 1 if self.max_set is None else 2

    def noise_facts(self) -> dict[str, float]:
        """The flip probability and the integer over 2^64 behind it."""
        return {"flip_probability": self.flip_probability, "flip_threshold": self.threshold}

    def facts(self) -> dict[str, float]:
        """The flips, the crowd, what is special."""
        facts: dict[str, float] = {**self.noise_facts(), "crowd_counted": self.crowd}
        if self.name == "flip" and self.max_set is None:
            facts["repeats"] = self.repeats
        return facts

    @property
    def layout(self) -> Layout:
        """One bit a bin, packed."""
        return Layout(Form.BITS, self.bins)

    @property
    def flip_threshold(self) -> int:
        """Flip probability times 2^64."""
        return self.threshold

    @property
    def flip_probability(self) -> float:
        """The chance q that a bit is flipped."""
        return self.threshold / SCALE

    @property
    def odds(self) -> float:
        """ln(p/q), what one flipped bit tells at most."""
        return math.log((SCALE - self.threshold) / self.threshold)

    @property
    def local_epsilon(self) -> float:
        """ln(p/q) for every bit in which two records can differ, in every repeat."""
        differ = self.bins if self.max_set is None else 2 * self.max_set
        return self.repeats * differ * self.odds

    @property
    def fakes_promised(self) -> int:
        """In every repeat as many."""
        return self.repeats * self.fakes.count

    @property
    def uniform_fakes(self) -> bool:
        """Whether they hold a random bin."""
        return isinstance(self.fakes, UniformFakes)

    def with_honest(self, honest_share: float) -> "BitFlips":
        """With the fakes that certainly arrive; the crowd is counted as it is."""
        if isinstance(self.fakes, NoFakes):
            return self
        honest = type(self.fakes)(count_arriving(self.fakes.count, honest_share))
        return msgspec.structs.replace(self, fakes=honest)

    def with_parameter(self, parameter: Parameter, value: int) -> Self:
        """With another threshold, or another number of fakes of its kind."""
        if parameter == Parameter.FAKES and not isinstance(self.fakes, NoFakes):
            return msgspec.structs.replace(self, fakes=type(self.fakes)(value))
        return super().with_parameter(parameter, value)

    def parameter_value(self, parameter: Parameter) -> int:
        """The threshold, or the number of fakes."""
        return (
            self.fakes.count if parameter == Parameter.FAKES else super().parameter_value(parameter)
        )

    @property
    def takes_fakes(self) -> bool:
        """Whether there are people's fakes: one bit of several is a message with none."""
        return not isinstance(self.fakes, NoFakes)

    @property
    def contrast(self) -> float:
        """What a set bit of one message adds to its expected count: p - q."""
        return (SCALE - 2 * self.threshold) / SCALE

    @property
    def gain(self) -> float:
        """The contrast, as often as a person sends their record.

        Source: notes 004 (5.20).
        """
        return self.repeats * self.contrast

    @property
    def fake_bits(self) -> tuple[tuple[int, float], ...]:
        """Fakes that are no flipped blanks: how many, and how likely one sets a given bit."""
        if not self.uniform_fakes:
            return ()
        return ((self.fakes_promised, self.flip_probability + self.contrast / self.bins),)

    def _others(self, messages: int) -> int:
        """Messages whose bits are set with q unless they are a person's own."""
        return messages - sum(many for many, _ in self.fake_bits)

    def offset(self, messages: int) -> float:
        """N q, and (p - q) K / d more of uniform fakes."""
        own = self._others(messages) * self.flip_probability
        return own + sum(many * shown for many, shown in self.fake_bits)

    def variance(self, messages: int) -> float:
        """N p q / (p - q)^2 + (K / d) (1 - 1/d) of uniform fakes, infinite at q = 1/2.

        The variance s (1 - s) of a uniform fake's bit is p q + (p - q)^2 (1/d) (1 - 1/d).

        Source: notes 004, below (5.20) and below (5.10).
        """
        q = self.flip_probability
        if not self.gain:
            return math.inf
        fakes = sum(many * s * (1.0 - s) for many, s in self.fake_bits)
        return self._others(messages) * q * (1.0 - q) / self.gain**2 + fakes / self.gain**2

    def variance_given_total(self, messages: int, bins: int, count: int = 0) -> float:  # noqa: ARG002
        """Return the variance of a count once the sum of ``bins`` counts is used.

        Flips are independent with the same variance in every bin, F = N q (1 - q) / gain^2, and
        F (1 - 1/d) is left of d bins. Uniform fakes add K / d (1 - 1/d) and always sum to K, which
        tells nothing of them.
        """
        rate = self.true_fakes / self.repeats**2
        return (self.variance(messages) + rate / self.bins) * (1.0 - 1.0 / bins)

    def noise_of_bins(self, messages: int, bins: int, count: int) -> Noise:
        """Return the noise of several bins together: a uniform fake sets one of them at most."""
        ones, q = self.repeats * count, self.flip_probability
        fakes = sum(many for many, _ in self.fake_bits)
        shown = q + self.contrast * bins / self.bins
        rising = messages * bins - ones - fakes
        return Noise(ones - count, ((rising, q), (fakes, shown)), ((ones, q),))

    def noise(self, messages: int, count: int) -> Noise:
        """Zeros that rose, less ones that fell, and uniform fakes' bits."""
        ones, q = count * self.repeats, self.flip_probability
        sent = self._others(messages)
        return Noise(ones - count, ((sent - ones, q), *self.fake_bits), ((ones, q),))
