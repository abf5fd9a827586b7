"""k-ary randomized response: with probability g a uniform bin is sent in place of one's own.

"Uniform" includes one's own bin, so that a value is kept with probability 1 - g + g/d and every
other bin is named with g/d. Uniform fakes may stand beside. Of n people z hold a bin, which is then
counted

    Bin(z, 1 - g + g/d) + Bin(n - z, g/d) + Bin(m, 1/d)

times, three independent binomials, so that (count - (n g + m) / d) / (1 - g) is unbiased, with the
variance [z (1 - g + g/d) g (1 - 1/d) + (n - z)(g/d)(1 - g/d) + m (1/d)(1 - 1/d)] / (1 - g)^2: about
z g / (1 - g) more for a bin that people hold than for an empty one.

Over planes of Z_p^t (``planes``) a message of another points at a value with
(1 - g) kappa + g/p in place of g/d, a fake with 1/p, and 1 - g becomes (1 - g)(1 - kappa).

Sets of at most k values travel as in clear (``in_clear``), each of their k messages replaced by
itself: of a bin's z holders the other (k - 1) z messages name it when replaced alone, and of
n - z others k (n - z) with g/D, or over planes 1/p. So k (n - z) and (k - 1) z stand for n - z, and
1 - kappa becomes 1 - k/p.

Source: Warner, Randomized Response (1965); Kairouz, Bonawitz, Ramage, Discrete Distribution
Estimation under Local Privacy (2016), section 3 (k-ary).
"""

import math
from collections.abc import Mapping
from typing import ClassVar, Self

import msgspec

from mixtally.errors import ParameterError, in_range
from mixtally.model.guarantee import MOST_USERS
from mixtally.model.mechanism import parameters
from mixtally.model.mechanism.base import Noise
from mixtally.model.mechanism.fakes import UniformFakes
from mixtally.model.mechanism.in_clear import IndexMechanism
from mixtally.model.mechanism.parameters import (
    Parameter,
    ParameterRules,
    ParameterSpec,
    parse_rules,
)
from mixtally.primitives.fixed_point import SCALE


class KaryResponse(IndexMechanism, frozen=True, kw_only=True, tag="kary-response"):
    """Values, or members of sets, of which some are replaced.

    where
      replaced   the chance g that a uniform bin takes the place of one's own, times 2^64, in
                 [1, 2^64)
      fakes      uniform ones beside, of people; 0 for none
      crowd      honest people whose own replacements are counted on, the person among them, in
                 [1, 10^10]

    Raises ParameterError outside these ranges.
    """

    PARAMETERS: ClassVar[tuple[ParameterSpec, ...]] = (
        parameters.USERS,
        parameters.FAKES,
        parameters.BINS,
        ParameterSpec(
            "replaced",
            "Chance that a uniform bin is sent in place of the own",
            kind=float,
            low=0,
            high=1,
            metavar="G",
            sought=Parameter.REPLACED,
        ),
        parameters.SET_SIZE,
    )
    PROTOCOLS: ClassVar[Mapping[str, ParameterRules]] = {
        "kary-response": parse_rules(
            "users bins replaced",
            "fakes max_set",
            sought="replaced fakes",
            sets=True,
            claim="users bins replaced [fakes]",
        )
    }

    replaced: int
    fakes: UniformFakes = UniformFakes(0)
    crowd: int

    def __post_init__(self) -> None:
        super().__post_init__()
        check_replacement_threshold(self.replaced)
        in_range("crowd", self.crowd, 1, MOST_USERS, "the person is one of them")

    @property
    def hit_probability(self) -> float:
        """The chance that another's message points at a value."""
        return (
            self.keep_probability * self.collision_probability
            + self.replacement_probability / self.cells
        )

    @property
    def replacement_probability(self) -> float:
        """The chance g that a value is replaced."""
        return self.replaced / SCALE

    @property
    def keep_probability(self) -> float:
        """1 - g, to all digits where g is near one."""
        return (SCALE - self.replaced) / SCALE

    def noise_facts(self) -> dict[str, float]:
        """The chance of a replacement and the integer over 2^64 behind it."""
        return {
            "replace_probability": self.replacement_probability,
            "replace_threshold": self.replaced,
        }

    def facts(self) -> dict[str, float]:
        """What it is sent over, the replacements, the crowd."""
        return {**self.encoding_facts, **self.noise_facts(), "crowd_counted": self.crowd}

    @property
    def own_fakes(self) -> bool:
        """Whether a part of a plan that sends it has people's fakes: where there are any."""
        return self.fakes.count > 0

    @property
    def local_epsilon(self) -> float:
        """ln(1 + (1 - g) d / g) a message: one's own bin against any other; of sets at most."""
        return self.record_messages * math.log1p(
            self.keep_probability * self.hiding_cells / self.replacement_probability
        )

    @property
    def hiding_cells(self) -> float:
        """One over the least chance that a uniform message is one of a member: the cells, of sets
        over planes p / (1 - (k-1) kappa), as a member's are those that hold no other.
        """
        if self.planes is None:
            return float(self.cells)
        return self.cells / (1.0 - (self.max_set - 1) * self.planes.collision_probability)

    def with_parameter(self, parameter: Parameter, value: int) -> Self:
        """With another chance of a replacement, or another number of fakes."""
        if parameter == Parameter.FAKES:
            return msgspec.structs.replace(self, fakes=UniformFakes(value))
        return super().with_parameter(parameter, value)

    def parameter_value(self, parameter: Parameter) -> int:
        """The chance of a replacement times 2^64, or the number of fakes."""
        return (
            self.fakes.count if parameter == Parameter.FAKES else super().parameter_value(parameter)
        )

    @property
    def noise_by_count(self) -> bool:
        """Values are replaced where people hold them."""
        return True

    @property
    def gain(self) -> float:
        """(1 - g)(1 - kappa), as often as a person sends their record; of sets (1 - g)(1 - k/p)."""
        return (
            self.repeats * self.keep_probability * (1.0 - self.max_set * self.collision_probability)
        )

    def _reports(self, messages: int) -> int:
        """Messages of people, their fakes aside."""
        return messages - self.fakes_promised

    def offset(self, messages: int) -> float:
        """N ((1 - g) kappa + g/d) + m/d."""
        return self._reports(messages) * self.hit_probability + self.true_fakes

    def variance(self, messages: int) -> float:
        """[n (g/d)(1 - g/d) + m (1/d)(1 - 1/d)] / (1 - g)^2: of an empty bin."""
        return self.variance_at(messages, 0)

    def variance_at(self, messages: int, count: int) -> float:
        """The same with what is lost of ``count`` people's values, about count g / (1 - g) more."""
        noise = self.noise(messages, count)
        spread = sum(n * q * (1.0 - q) for n, q in (*noise.gained, *noise.lost))
        return spread / self.gain**2

    def noise_of_bins(self, messages: int, bins: int, count: int) -> Noise:
        """Return the noise of several bins together: a replacement may name another of them."""
        share, lost = bins / self.cells, self.replacement_probability
        gained = ((self._reports(messages) - count, lost * share), (self.fakes_promised, share))
        return Noise(0, gained, ((count, lost * (1.0 - share)),))

    def noise(self, messages: int, count: int) -> Noise:
        """Of those who hold the bin some name another; some others name it, and some fakes.

        Of ``count`` people 1 - g + g/d keep it: one less a binomial of g (1 - 1/d). Of their other
        members' messages those name it that are replaced.
        """
        ones, share = count * self.repeats, 1.0 / self.cells
        own = (self.max_set - 1) * ones
        gained = [(self._reports(messages) - ones - own, self.hit_probability)]
        if own:
            gained.append((own, self.replacement_probability * share))
        return Noise(
            ones - count,
            (*gained, (self.fakes_promised, share)),
            ((ones, self.replacement_probability * (1.0 - share)),),
        )


def check_replacement_threshold(replaced: int) -> int:
    """``replaced`` itself when it lies in [1, 2^64); raises ParameterError otherwise."""
    if isinstance(replaced, bool) or not 1 <= replaced < SCALE:
        raise ParameterError(
            "replacement chance",
            expected="a number above 0 and below 1, an integer over 2^64 in [1, 2^64)",
            got=replaced / SCALE,
            do="0 is clear-uniform, and 1 tells nothing",
        )
    return replaced


def replacement_threshold(chance: float) -> int:
    """``chance`` times 2^64, to the nearest integer; raises ParameterError unless in (0, 1)."""
    if not 0.0 < chance < 1.0:  # NaN fails both
        raise ParameterError(
            "replacement chance",
            expected="a number above 0 and below 1",
            got=chance,
            do="0 is clear-uniform, and 1 tells nothing",
        )
    return check_replacement_threshold(round(chance * SCALE))
