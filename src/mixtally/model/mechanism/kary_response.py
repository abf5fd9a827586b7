"""k-ary randomized response: with probability g a uniformly random bin replaces the answer.

The random bin may be the answer itself. So the answer is sent with probability 1 - g + g/d, and
every other bin with probability g/d. Uniform fakes may be added. Let z of n people have a bin, and
let there be m fakes. The count of this bin is the sum of three independent binomials,

    Bin(z, 1 - g + g/d) + Bin(n - z, g/d) + Bin(m, 1/d).

The first two are people's messages, and the third is the fakes. So (count - (n g + m) / d) /
(1 - g) is an unbiased estimate of z. Its variance is

    [z (1 - g + g/d) g (1 - 1/d) + (n - z)(g/d)(1 - g/d) + m (1/d)(1 - 1/d)] / (1 - g)^2,

which is about z g / (1 - g) more than for an empty bin.

*Planes of Z_p^t* (``model.planes``). A message points at a given value that its sender does not
have with probability (1 - g) kappa + g/p, in place of g/d. A fake points at the value with
probability 1/p. The factor 1 - g becomes (1 - g)(1 - kappa).

*Sets* of at most k values are sent as in ``in_clear``. Each of the k messages is replaced
independently. The z people with a bin send (k - 1) z messages of other members, which name the bin
only if they are replaced. The n - z other people send k (n - z) messages. Each replaced message
names the bin with probability 1/D for D cells, or 1/p over planes. So n - z becomes k (n - z) +
(k - 1) z, and the factor 1 - kappa becomes 1 - k/p.

Source: Warner, Randomized Response (1965); Kairouz, Bonawitz, Ramage, Discrete Distribution
Estimation under Local Privacy (2016), section 3 (k-ary).
"""

import math
from collections.abc import Mapping
from typing import ClassVar

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
from mixtally.primitives.fixed_point import SCALE, round_loss_up


class KaryResponse(IndexMechanism, frozen=True, kw_only=True, tag="kary-response"):
    """Values, or members of sets, that are replaced with a given probability.

    Raises ParameterError if a number is outside its range.

    Attributes
    ----------
    replaced : int
        The probability g that a value is replaced by a uniform bin, times 2^64, in [1, 2^64).
    fakes : UniformFakes
        Additional uniform fakes of people; possibly 0.
    crowd : int
        The number of honest people on whose replacements the proof relies, in [1, 10^10]. The
        person whose answer is protected is one of them.
    """

    PARAMETERS: ClassVar[tuple[ParameterSpec, ...]] = (
        parameters.USERS,
        parameters.FAKES,
        parameters.BINS,
        ParameterSpec(
            "replaced",
            "Probability of sending a uniformly random answer instead of the true one",
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
        """The probability that a message points at a given value that its sender does not have."""
        return (
            self.keep_probability * self.collision_probability
            + self.replacement_probability / self.cells
        )

    @property
    def replacement_probability(self) -> float:
        """The probability g that a value is replaced."""
        return self.replaced / SCALE

    @property
    def keep_probability(self) -> float:
        """The probability 1 - g, from the integers, so that no digits are lost for g near 1."""
        return (SCALE - self.replaced) / SCALE

    def noise_facts(self) -> dict[str, float]:
        """Return the replacement probability and its integer over 2^64."""
        return {
            "replace_probability": self.replacement_probability,
            "replace_threshold": self.replaced,
        }

    def facts(self) -> dict[str, float]:
        """Return the parameters of planes and sets, the replacement probability and the crowd."""
        return {**self.encoding_facts, **self.noise_facts(), "crowd_counted": self.crowd}

    @property
    def own_fakes(self) -> bool:
        """Whether people draw fakes in a part of a plan with this mechanism."""
        return self.fakes.count > 0

    @property
    def local_epsilon(self) -> float:
        """The largest privacy loss of all messages of a record: ln(1 + (1 - g) d / g) for each.

        It is rounded up. For sets this number is an upper bound.
        """
        # log1p, because the argument is small if nearly all values are replaced.
        return round_loss_up(
            self.record_messages
            * math.log1p(self.keep_probability * self.hiding_cells / self.replacement_probability)
        )

    @property
    def hiding_cells(self) -> float:
        """The inverse of the least probability that a uniform message hides a given member.

        Without planes, or for one value, this is the number of cells. For sets over planes it is p
        / (1 - (k-1) kappa), because a member's message names a plane that contains no other member
        of the set.
        """
        if self.planes is None:
            return float(self.cells)
        return self.cells / (1.0 - (self.max_set - 1) * self.planes.collision_probability)

    @property
    def noise_by_count(self) -> bool:
        """True, because the noise of a bin depends on the number of values that may be replaced."""
        return True

    @property
    def gain(self) -> float:
        """The number of repeats times (1 - g)(1 - kappa) or, for sets, times (1 - g)(1 - k/p)."""
        return (
            self.repeats * self.keep_probability * (1.0 - self.max_set * self.collision_probability)
        )

    def _reports(self, messages: int) -> int:
        """Return the number of messages that are not fakes."""
        return messages - self.fakes_promised

    def offset(self, messages: int) -> float:
        """Return the expected count of an empty bin: N ((1 - g) kappa + g/d) + m/d.

        N is the number of messages that are not fakes, and m the number of fakes.
        """
        return self._reports(messages) * self.hit_probability + self.true_fakes

    def variance(self, messages: int) -> float:
        """Return the variance of the unbiased estimate of an empty bin, in counts squared.

        Without planes it is [n (g/d)(1 - g/d) + m (1/d)(1 - 1/d)] / (1 - g)^2.
        """
        return self.variance_at(messages, 0)

    def variance_at(self, messages: int, count: int) -> float:
        """Return the variance of the estimate of a bin with ``count`` people, in counts squared.

        It is about count g / (1 - g) larger than for an empty bin.
        """
        noise = self.noise(messages, count)
        spread = sum(n * q * (1.0 - q) for n, q in (*noise.gained, *noise.lost))
        return spread / self.gain**2

    def noise_of_bins(self, messages: int, bins: int, count: int) -> Noise:
        """Return the noise of the total of several bins; a replacement may name any of the bins."""
        share, lost = bins / self.cells, self.replacement_probability
        gained = ((self._reports(messages) - count, lost * share), (self.fakes_promised, share))
        return Noise(0, gained, ((count, lost * (1.0 - share)),))

    def noise(self, messages: int, count: int) -> Noise:
        """Return the noise of a bin with ``count`` people.

        Each of these people is lost with probability g (1 - 1/d): a random bin replaces the bin.
        Three kinds of messages are added if they name the bin by chance: those of other people,
        those for other members of these people's sets, and fakes.
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
    """Return a replacement threshold, or raise ParameterError if it is not in [1, 2^64)."""
    if isinstance(replaced, bool) or not 1 <= replaced < SCALE:
        raise ParameterError(
            "replacement chance",
            expected="a number above 0 and below 1, an integer over 2^64 in [1, 2^64)",
            got=replaced / SCALE,
            do="for 0 choose clear-uniform; an answer replaced with certainty says nothing",
        )
    return replaced


def replacement_threshold(chance: float) -> int:
    """Return the integer nearest to ``chance`` times 2^64, for a chance in (0, 1).

    Raise ParameterError for other numbers.
    """
    if not 0.0 < chance < 1.0:  # NaN fails both
        raise ParameterError(
            "replacement chance",
            expected="a number above 0 and below 1",
            got=chance,
            do="for 0 choose clear-uniform; an answer replaced with certainty says nothing",
        )
    return check_replacement_threshold(round(chance * SCALE))
