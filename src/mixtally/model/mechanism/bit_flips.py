"""Independent flips of every bit of a record, with no fakes, blank fakes or uniform fakes.

Each bit is flipped with probability q, and p = 1 - q. The bits of fakes are flipped as well. Let N
be the number of messages, and p - q the contrast. A bin is set in N q messages on average, plus p -
q for every record that sets it. So the estimate of an empty bin has variance N p q / (p - q)^2. A
uniform fake sets one of d bins. After its flips, it shows a given bit as set with probability s = q
+ (p - q) / d. So K uniform fakes add K / d to the estimate of each bin before the correction, and
they add variance.

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
from mixtally.primitives.fixed_point import (
    LEAST_THRESHOLD,
    MOST_THRESHOLD,
    SCALE,
    check_threshold,
    round_loss_up,
)


class BitFlips(Shuffled, frozen=True, kw_only=True, tag="bit-flips"):
    """A mechanism that flips bits.

    Raises ParameterError if a number is outside its range, or the divergence of the combination is
    not derived.

    Attributes
    ----------
    threshold : int
        The flip probability q times 2^64, in [2^24, 2^63].
    max_set : int or None
        The maximum number of bits that a record sets, in [1, 16]. None for free bits.
    fakes : NoFakes, BlankFakes or UniformFakes
        Without fakes a crowd is required. Uniform fakes require records of one value. Free bits
        have no fakes, except that a single bit may have blank ones.
    crowd : int
        The number of honest people on whose flips the proof relies; 0 for none.
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
        ParameterSpec("ones", "Other people known to have a one", low=0, high="users"),
        parameters.SET_SIZE,
        parameters.REPEATS,
        ParameterSpec(
            "observer",
            "What the observer sees: messages or sums",
            kind=str,
            metavar="WHO",
            choices=(Observer.MESSAGES.value, Observer.SUMS.value),
            default=Observer.MESSAGES.value,
        ),
        ParameterSpec(
            "background",
            "zero: all other people are known to have zeros; needs --bits",
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
        in_range("max set", self.max_set, 1, most, "it is the maximum number of bits in a set")

    def _check_cover(self) -> None:
        # Without fakes only the flips of at least two people protect a person.
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
                do="send every bit as a message of its own, or count only on the crowd",
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
        """The name of the protocol: flip-uniform, single-bit, flip or flip-blank."""
        if isinstance(self.fakes, UniformFakes):
            return "flip-uniform"
        if self.max_set is None and self.bins == 1:
            return "single-bit"
        return "flip" if isinstance(self.fakes, NoFakes) else "flip-blank"

    @property
    def least_bins(self) -> int:
        """The minimum number of bins: a single bit is allowed."""
        return 1 if self.max_set is None else 2

    def noise_facts(self) -> dict[str, float]:
        """Return the flip probability and its integer over 2^64."""
        return {"flip_probability": self.flip_probability, "flip_threshold": self.threshold}

    def facts(self) -> dict[str, float]:
        """Return the flip probability, the crowd and, for free bits, the repeats."""
        facts: dict[str, float] = {**self.noise_facts(), "crowd_counted": self.crowd}
        if self.name == "flip" and self.max_set is None:
            facts["repeats"] = self.repeats
        return facts

    @property
    def layout(self) -> Layout:
        """The format of one bit per bin, packed."""
        return Layout(Form.BITS, self.bins)

    @property
    def flip_threshold(self) -> int:
        """The flip probability times 2^64."""
        return self.threshold

    @property
    def flip_probability(self) -> float:
        """The probability q that a bit is flipped."""
        return self.threshold / SCALE

    @property
    def odds(self) -> float:
        """ln(p/q), the maximum privacy loss of one flipped bit."""
        if 4 * self.threshold < SCALE:
            return math.log((SCALE - self.threshold) / self.threshold)
        # The integers are subtracted first, so that no digits are lost for q near 1/2.
        return math.log1p((SCALE - 2 * self.threshold) / self.threshold)

    @property
    def local_epsilon(self) -> float:
        """The sum of ln(p/q) over all bits in which two records can differ, and all repeats.

        It is rounded up.
        """
        differ = self.bins if self.max_set is None else 2 * self.max_set
        return round_loss_up(self.repeats * differ * self.odds)

    @property
    def fakes_promised(self) -> int:
        """The number of fakes of the whole collection, over all repeats."""
        return self.repeats * self.fakes.count

    @property
    def uniform_fakes(self) -> bool:
        """Whether the fakes are records of random bins."""
        return isinstance(self.fakes, UniformFakes)

    def with_honest(self, honest_share: float) -> "BitFlips":
        """Return this mechanism with the fakes on which a guarantee may rely; see the base class.

        The crowd stays the same.
        """
        if isinstance(self.fakes, NoFakes):
            return self
        honest = type(self.fakes)(count_arriving(self.fakes.count, honest_share))
        return msgspec.structs.replace(self, fakes=honest)

    def with_parameter(self, parameter: Parameter, value: int) -> Self:
        """Return this mechanism with another threshold, or another number of the same fakes."""
        if parameter == Parameter.FAKES and not isinstance(self.fakes, NoFakes):
            return msgspec.structs.replace(self, fakes=type(self.fakes)(value))
        return super().with_parameter(parameter, value)

    def parameter_value(self, parameter: Parameter) -> int:
        """Return the threshold, or the number of fakes."""
        return (
            self.fakes.count if parameter == Parameter.FAKES else super().parameter_value(parameter)
        )

    @property
    def takes_fakes(self) -> bool:
        """Whether the number of people's fakes is a parameter of the protocol; it may be zero."""
        return not isinstance(self.fakes, NoFakes)

    @property
    def contrast(self) -> float:
        """The probability that a set bit is shown as set, minus that for an unset bit: p - q."""
        return (SCALE - 2 * self.threshold) / SCALE  # integers, so no cancellation near q = 1/2

    @property
    def gain(self) -> float:
        """The contrast times the number of repeats. Source: notes 004 (5.20)."""
        return self.repeats * self.contrast

    @property
    def fake_bits(self) -> tuple[tuple[int, float], ...]:
        """One pair for uniform fakes, otherwise nothing.

        The pair is the number of fakes and the probability that a fake sets a given bit after its
        flips.
        """
        if not self.uniform_fakes:
            return ()
        return ((self.fakes_promised, self.flip_probability + self.contrast / self.bins),)

    def _others(self, messages: int) -> int:
        """Return the number of messages that are not uniform fakes."""
        return messages - sum(many for many, _ in self.fake_bits)

    def offset(self, messages: int) -> float:
        """Return N q, plus (p - q) K / d for K uniform fakes."""
        own = self._others(messages) * self.flip_probability
        return own + sum(many * shown for many, shown in self.fake_bits)

    def variance(self, messages: int) -> float:
        """Return the variance of the estimate of an empty bin, infinite at q = 1/2.

        The variance is N p q / (p - q)^2, plus (K / d) (1 - 1/d) for K uniform fakes, because the
        variance s (1 - s) of a uniform fake's bit equals p q + (p - q)^2 (1/d) (1 - 1/d).

        Source: notes 004, below (5.20) and below (5.10).
        """
        q = self.flip_probability
        if not self.gain:
            return math.inf
        fakes = sum(many * s * (1.0 - s) for many, s in self.fake_bits)
        return self._others(messages) * q * (1.0 - q) / self.gain**2 + fakes / self.gain**2

    def variance_given_total(self, messages: int, bins: int, count: int = 0) -> float:  # noqa: ARG002
        """Return the variance of a bin's estimate if the known sum of ``bins`` counts is used.

        Flips add independent errors with variance F = N q (1 - q) / gain^2 to all bins. Using the
        sum of d bins reduces F to F (1 - 1/d). K uniform fakes add (K / d) (1 - 1/d). Their sum
        over all bins is always K, so the known sum does not reduce their variance.
        """
        rate = self.true_fakes / self.repeats**2
        return (self.variance(messages) + rate / self.bins) * (1.0 - 1.0 / bins)

    def noise_of_bins(self, messages: int, bins: int, count: int) -> Noise:
        """Return the noise of the total of several bins; a uniform fake names at most one."""
        ones, q = self.repeats * count, self.flip_probability
        fakes = sum(many for many, _ in self.fake_bits)
        shown = q + self.contrast * bins / self.bins
        rising = messages * bins - ones - fakes
        return Noise(ones - count, ((rising, q), (fakes, shown)), ((ones, q),))

    def noise(self, messages: int, count: int) -> Noise:
        """Return the noise of a bin with ``count`` people.

        It is the number of unset bits that flips set, minus the number of set bits that they clear,
        plus the bits of uniform fakes.
        """
        ones, q = count * self.repeats, self.flip_probability
        sent = self._others(messages)
        return Noise(ones - count, ((sent - ones, q), *self.fake_bits), ((ones, q),))
