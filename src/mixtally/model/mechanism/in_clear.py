"""Records in clear among fakes: a message is the number of a bin or of a plane.

A fake is a dummy message. N is the number of messages, and K the number of uniform fakes.

*Sets.* A set of at most k bins is sent as k messages with different cells. The cells are its
members, and one of k additional cells, the pads, for each missing member.

*Fakes.* K uniform fakes add K / p counts on average to each of p cells, with variance (K / p)(1 -
1/p), independently of people's records. Shaped fakes of a mix add the mean and the variance of
their table to every cell. Means and variances add up over the mixes. Paired fakes add X to one of
two bins and a constant minus X to the other, so the errors of the two counts are opposite.

*Sampled slots.* A record has k different cells, its slots: one value of each attribute or bit, or
the members of a set and its pads. The device draws m of them anew each time, and sends only these.
Of c people with a bin, Bin(c, m/k) send it. Let S be the number of messages that name the bin, and
D the number of cells. Then (k/m) (S - K / D) is an unbiased estimate of c, with variance

    c (k/m - 1) + (k/m)^2 K (1/D) (1 - 1/D).

Suppose that each of n people has exactly one of d bins: the values of one attribute or bit. Then
the sum Z of the unbiased counts of these bins has the variance

    V = n (k/m - 1) + (k/m)^2 K (d/D) (1 - d/D).

Let w be the share of the first term in V, the *sampling share*. The covariance of Z and the count
of a bin with c people is b V, where b = w c/n + (1 - w)/d. So the count minus b (Z - n) is
uncorrelated with Z, and its variance is smaller than that of the count by b^2 V.
``protocol.estimate.projection`` computes this estimate.

*Planes* (``model.planes``). A message points at a given value that its sender does not have with
probability q. Here q is kappa for k = 1, and 1/p for k > 1. If messages name bins, q is 0. For n
people and K fakes, let S be the number of messages that point at the value. Then the unbiased
count is

    (S - k n q - K / p) / (1 - k q).

If nobody has the value, its variance is [k n q (1 - q) + (K / p)(1 - 1/p)] / (1 - k q)^2. If all
mixes collude, no privacy remains.

Source: notes 004 section 5.1 (uniform fakes).
"""

import math
from collections.abc import Mapping
from typing import ClassVar, Self

import msgspec

from mixtally.device.contract.shape import MOST_SHIFT, MOST_VARIANCE
from mixtally.errors import ParameterError, in_range
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
from mixtally.model.question import MOST_BINS, MOST_BITS, MOST_SET
from mixtally.model.shape import LEAST_DECAY, MOST_DECAY

_LEAST_DRAWN = 400.0
"""The known sum of a slot is used only if the number of people who send this slot has at least this
variance. The delta method then states variances with an error of about one percent or less, and no
plausible sum is near zero."""
MOST_CELLS = MOST_BINS + MOST_SET
"""The maximum number of bins and pads."""


class IndexMechanism(Shuffled, frozen=True, kw_only=True):
    """Messages that are numbers of bins or planes, one message for each member of a set.

    A subclass sends the members themselves, or replaces some of them by random bins or planes.

    Attributes
    ----------
    fakes : UniformFakes or ShapedFakes
        Uniform fakes of people, or shaped fakes of mixes.
    planes : Planes or None
        The planes that messages name; None if they name bins.
    max_set : int
        The maximum number of bins in a record, in [1, 16]. Without planes it is at most the number
        of bins, and with planes at most half the number of planes of a direction.
    """

    fakes: UniformFakes | ShapedFakes
    planes: Planes | None = None
    max_set: int = 1

    def __post_init__(self) -> None:
        if self.planes is None:
            super().__post_init__()
        else:
            in_range("values", self.bins, 2, self.planes.points, "plan again")
        # The error bound in ``model.planes`` needs at least two planes for each member of a set.
        fitting = self.bins if self.planes is None else max(1, self.planes.prime // 2)
        most = min(self._most_members, fitting)
        in_range("max set", self.max_set, 1, most, "it is the maximum number of bins in a set")

    @property
    def _most_members(self) -> int:
        """The maximum of ``max_set`` for any number of bins."""
        return MOST_SET

    @property
    def cells(self) -> int:
        """The number of equally likely values of a uniform fake.

        With planes, these are the planes of one direction. Otherwise they are the bins and, for
        sets of several bins, the pads.
        """
        if self.planes is not None:
            return self.planes.prime
        return self.bins + self.pads

    @property
    def pads(self) -> int:
        """The number of additional bins that are sent for missing members of a set."""
        return self.max_set if self.max_set > 1 else 0

    @property
    def collision_probability(self) -> float:
        """The probability that a message points at a given value that its sender does not have.

        Messages that are replaced by random ones are not considered.
        """
        if self.planes is None:
            return 0.0
        return self.planes.collision_probability if self.max_set == 1 else 1.0 / self.planes.prime

    @property
    def encoding_facts(self) -> dict[str, float]:
        """The parameters p and t of the planes, and the maximum size of sets, by option name."""
        size: dict[str, float] = {"max_set": self.max_set} if self.max_set > 1 else {}
        over = self.planes
        return size if over is None else {**size, "prime": over.prime, "digits": over.digits}

    @property
    def layout(self) -> Layout:
        """The format of a message: the number of a cell or of a plane of some direction."""
        return Layout(Form.INDEX, self.cells if self.planes is None else self.planes.messages)

    @property
    def record_messages(self) -> int:
        """The number of messages of a record: one for each possible member of a set."""
        return self.repeats * self.max_set

    @property
    def true_fakes(self) -> float:
        """The mean number of uniform fakes that point at a given value: K / D for D cells."""
        return self.fakes_sent / self.cells if self.uniform_fakes else 0.0

    @property
    def fakes_promised(self) -> int:
        """The number of people's fakes, or the mean number of fakes of all mixes."""
        if isinstance(self.fakes, UniformFakes):
            return self.repeats * self.fakes.count
        return self.fakes.shape.mean_of(self.repeats * self.cells * self.fakes.mixes)

    @property
    def uniform_fakes(self) -> bool:
        """Whether people's fakes are records of random bins."""
        return isinstance(self.fakes, UniformFakes)

    @property
    def shaped_fakes(self) -> ShapedFakes | None:
        """The fakes of mixes, or None if people send the fakes."""
        return self.fakes if isinstance(self.fakes, ShapedFakes) else None

    def with_honest(self, honest_share: float) -> Self:
        """Return this mechanism with the people's fakes on which a guarantee may rely."""
        if isinstance(self.fakes, ShapedFakes):
            return self
        honest = UniformFakes(count_arriving(self.fakes.count, honest_share))
        return msgspec.structs.replace(self, fakes=honest)

    def with_parameter(self, parameter: Parameter, value: int) -> Self:
        """Return this mechanism with another value of a field, of the fakes, or of their shift."""
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
        """Return the value of a field, the number of uniform fakes, or the shift of shaped ones."""
        match self.fakes:
            case UniformFakes(count) if parameter == Parameter.FAKES:
                return count
            case ShapedFakes(shape=shape) if parameter == Parameter.SHIFT:
                return shape.shift
        return super().parameter_value(parameter)


class InClear(IndexMechanism, frozen=True, kw_only=True, tag="in-clear"):
    """A mechanism that does not randomize records, but may send only some slots of each.

    Attributes
    ----------
    slots : int or None
        The number m of slots that are sent of the ``max_set`` slots of a record, in [1, max_set).
        None if all are sent.
    full : bool
        Whether every record has exactly ``max_set`` bins, one for each attribute or bit, so that
        there are no pads. Only for sampled slots.
    """

    slots: int | None = None
    full: bool = False

    PARAMETERS: ClassVar[tuple[ParameterSpec, ...]] = (
        parameters.USERS,
        parameters.FAKES,
        parameters.BINS,
        parameters.SET_SIZE,
        parameters.SLOTS,
        parameters.REPEATS,
        ParameterSpec(
            "shape_decay",
            "Decay of the shaped distribution per fake, in nats",
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
            "shape_variance", "Variance of a Gaussian shape, not a decay", low=1, high=MOST_VARIANCE
        ),
        ParameterSpec(
            "paired",
            "The fakes of two bins add up to twice the mean of each",
            kind=bool,
            default=False,
        ),
        ParameterSpec("mixes", "Mixes that draw fakes", low=1, high=MOST_MIXES),
        parameters.SPLIT,
        parameters.COUNT_CROWD,
    )
    PROTOCOLS: ClassVar[Mapping[str, ParameterRules]] = {
        "clear-uniform": parse_rules(
            "fakes bins",
            "users max_set slots repeats split count_crowd",
            sought="fakes",
            sets=True,
            claim="users bins fakes [max_set] [slots]",
        ),
        "clear-shaped": parse_rules(
            "shape_decay shape_shift",
            "users bins max_set repeats paired mixes split count_crowd",
            sought="shape_shift",
            instead=(("shape_decay", "shape_variance"),),
            chosen="shape_decay",
            sets=True,
            claim="users bins shape_decay shape_shift [mixes] [max_set] [paired]",
        ),
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.has_paired_fakes and (self.cells != 2 or self.planes is not None):
            raise ParameterError(
                "paired fakes",
                expected="two bins, and records of one of them",
                got=f"{self.cells:,} cells",
                do="leave --paired out for other records",
            )
        if self.slots is None:
            if self.full:
                raise TypeError("full records: expected sampled slots")
            return
        check_slots(self.slots, self.max_set)
        if self.planes is not None or not isinstance(self.fakes, UniformFakes):
            raise ParameterError(
                "slots",
                expected="bins in clear among uniform fakes",
                got="planes" if self.planes is not None else "shaped fakes",
                do="leave the slots out: no proof covers this combination",
            )
        # Two records without a common bin are the worst case, and must exist.
        in_range("bins", self.cells, 2 * self.max_set, MOST_CELLS, "two bins or more for each slot")

    @property
    def _most_members(self) -> int:
        """The maximum of ``max_set``: 64 if each attribute or bit has a slot, otherwise 16."""
        return MOST_BITS if self.full else MOST_SET

    @property
    def set_messages(self) -> int:
        """The number of messages of one record, sent once: its sampled slots, or all slots."""
        return self.max_set if self.slots is None else self.slots

    @property
    def record_messages(self) -> int:
        """The number of messages of a record: one for each slot that is sent, times the repeats."""
        return self.repeats * self.set_messages

    @property
    def pads(self) -> int:
        """The number of additional bins that are sent for missing members of a set."""
        return 0 if self.full else super().pads

    @property
    def sent_share(self) -> float:
        """The probability m/k that a given member of a record is sent."""
        return 1.0 if self.slots is None else self.slots / self.max_set

    @property
    def hiding_cells(self) -> float:
        """``cells`` / k if only one of the k slots of a record is sent; otherwise ``cells``."""
        return self.cells / self.max_set if self.slots == 1 else float(self.cells)

    @property
    def encoding_facts(self) -> dict[str, float]:
        """The parameters of planes, the size of sets, and the slots that are sent."""
        slots: dict[str, float] = {} if self.slots is None else {"slots": self.slots}
        return {**super().encoding_facts, **slots}

    @property
    def name(self) -> str:
        """The name of the protocol: clear-uniform or clear-shaped."""
        return "clear-uniform" if isinstance(self.fakes, UniformFakes) else "clear-shaped"

    def noise_facts(self) -> dict[str, float]:
        """Return the parameters of the shape of shaped fakes; empty for other fakes."""
        return {} if self.shaped_fakes is None else self.shaped_fakes.shape.facts()

    def facts(self) -> dict[str, float]:
        """Return the parameters of planes, sets and shaped fakes, and the number of mixes."""
        mixes = {} if self.shaped_fakes is None else {"mixes_adding": self.shaped_fakes.mixes}
        return {**self.encoding_facts, **self.noise_facts(), **mixes}

    def get_parameter_values(self, parameter: Parameter) -> dict[str, float]:
        """Return the values that a calibration found for ``parameter``, by public name.

        For a shape the values include the decay, because a search may choose the decay itself.
        """
        if parameter != Parameter.SHIFT:
            return super().get_parameter_values(parameter)
        derived = ("shape_ratio", "shape_total")
        return {name: one for name, one in self.noise_facts().items() if name not in derived}

    @property
    def local_epsilon(self) -> float:
        """Infinity: a message in clear that is linked to its sender reveals the answer."""
        return math.inf

    @property
    def noise_by_count(self) -> bool:
        """Whether the noise of a bin depends on the number of people in it.

        Over planes it does, because only people without a value can point at it by chance. With
        sampled slots it does, because only some of the people in a bin send it.
        """
        return self.planes is not None or self.slots is not None

    @property
    def gain(self) -> float:
        """The number of repeats, times 1 - k q over planes and times m / k for sampled slots.

        Here q is ``collision_probability``, and m of the k slots of a record are sent.
        """
        kept = self.sent_share * (1.0 - self.max_set * self.collision_probability)
        return self.repeats * kept

    def offset(self, messages: int) -> float:
        """Return the expected count of an empty bin among ``messages`` messages.

        For K uniform fakes it is (N - K) q + K / D, where N is ``messages`` and D the number of
        cells. For shaped fakes it is the sum of the means of all mixes' tables.
        """
        if isinstance(self.fakes, UniformFakes):
            return (messages - self.fakes_sent) * self.collision_probability + self.true_fakes
        return self.repeats * self.fakes.mixes * self.fakes.shape.mean

    def variance(self, messages: int) -> float:
        """Return the variance of the unbiased estimate of an empty bin, in counts squared.

        For K uniform fakes it is [N q (1 - q) + (K / p) (1 - 1/p)] / (1 - k q)^2. Here N is the
        number of messages that are not fakes, q is ``collision_probability``, p is the number of
        cells, and k is ``max_set``. For shaped fakes it is the sum of the variances of all mixes'
        tables. Source: notes 004, standard error below (5.10); ``model.planes``.
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

    def variance_at(self, messages: int, count: int) -> float:
        """Return the variance of the estimate of a bin with ``count`` people, in counts squared.

        If slots are sampled, the variance exceeds that of an empty bin by c (k/m - 1) / r, where c
        is ``count`` and r the number of repeats. Otherwise both are equal.
        """
        missing = count * (1.0 / self.sent_share - 1.0) / self.repeats
        return self.variance(messages) + missing

    def variance_given_total(self, messages: int, bins: int, count: int = 0) -> float:
        """Return the variance of a bin's estimate if the known sum of ``bins`` counts is used.

        Shaped fakes are independent and identically distributed in all d bins, so using the sum
        reduces their variance V to V (1 - 1/d). With sampled slots, the variance is smaller by b^2
        V, as the docstring of the module derives. Uniform or paired fakes and whole records always
        add up to the number of messages, so their known sum carries no information.
        """
        found = self.variance_at(messages, count)
        share, people = self.sampling_share(messages, bins), self.people_among(messages)
        if share:
            part = share * count / people + (1.0 - share) / bins
            return found - part**2 * self._drawn_variance(people) / share / self.gain**2
        return found * (1.0 - 1.0 / bins) if self.has_independent_fakes else found

    def sampling_share(self, messages: int, bins: int) -> float:
        """Return the share w of sampling in the variance of a sum; see the module's docstring.

        It is 0 unless the mechanism is ``full``, and if too few people send the slot.
        """
        drawn = self._drawn_variance(self.people_among(messages))
        if not self.full or drawn < _LEAST_DRAWN:
            return 0.0
        return drawn / (drawn + self.fakes_promised * bins / self.cells * (1.0 - bins / self.cells))

    def _drawn_variance(self, people: int) -> float:
        """Return the variance of how many of ``people`` people send a given slot."""
        return people * self.repeats * self.sent_share * (1.0 - self.sent_share)

    def noise_of_bins(self, messages: int, bins: int, count: int) -> Noise:  # noqa: ARG002
        """Return the noise of the total count of several bins: the fakes that name one of the bins.

        With sampled slots, every member is treated as omitted independently. For a person with
        several of the bins, the true number of sent bins varies less (Hoeffding, 1963, theorem 4).
        """
        if self.shaped_fakes is None:
            return Noise(0, ((self.fakes_promised, bins / self.cells),), self._unsent(count))
        if self.has_paired_fakes and bins == self.bins:
            return Noise(self.fakes_promised)
        draws = self.repeats * bins * self.shaped_fakes.mixes
        return Noise(0, tables=((self.shaped_fakes.shape.weights, draws),))

    def noise(self, messages: int, count: int) -> Noise:
        """Return the noise of a bin with ``count`` people.

        Fakes that name the bin are added, and over planes also messages of other people that point
        at the value by chance. With sampled slots, the people who do not send the bin are
        subtracted.
        """
        more = (self.repeats - 1) * count
        if isinstance(self.fakes, UniformFakes):
            gained = [(self.fakes_promised, 1.0 / self.cells)]
            if self.planes is not None:
                others = self.max_set * max(0, self.people_among(messages) - count)
                gained.append((others, self.collision_probability))
            return Noise(more, tuple(gained), self._unsent(count))
        return Noise(more, tables=((self.fakes.shape.weights, self.repeats * self.fakes.mixes),))

    def _unsent(self, count: int) -> tuple[tuple[int, float], ...]:
        """Return the distribution of how many of ``count`` people do not send a given member.

        It is one binomial as a pair (trials, probability), or no pair if records are sent whole.
        """
        return () if self.slots is None else ((count * self.repeats, 1.0 - self.sent_share),)


def check_slots(slots: int, parts: int) -> int:
    """Return the number of sent slots, or raise ParameterError.

    Parameters
    ----------
    slots : int
        The number of slots that are sent, in [1, parts).
    parts : int
        The number of slots of a record.
    """
    if isinstance(slots, bool) or not 1 <= slots < parts:
        raise ParameterError(
            "slots",
            expected=f"an integer in [1, {parts - 1}], fewer than the {parts} slots of a record"
            if parts > 1
            else "a record of several members, attributes or bits",
            got=slots if parts > 1 else f"{slots} of a single value",
            do="leave the slots out to send a whole record",
        )
    return slots
