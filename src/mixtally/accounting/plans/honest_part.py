"""Delta of one message of a part of a plan, given the fakes and people that certainly protect.

A *plan* states how a question is asked: its *parts* (streams of messages), the *cover* (who adds
fakes) and the *hops* (mixes in a row). ``terms`` composes the parts. The proofs rely only on honest
people and honest mixes.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from mixtally.accounting.accountant import Accountant, Record
from mixtally.accounting.composition.directed_losses import DirectedLosses
from mixtally.accounting.composition.losses import LossDistribution
from mixtally.accounting.composition.pld import (
    Tightness,
    choose_points,
    connect_points,
    loss_distribution,
    prove_points,
)
from mixtally.accounting.divergence import Bound, clear_uniform, in_clear, k_hot, set_in_clear
from mixtally.accounting.divergence.set_in_clear import HiddenSet
from mixtally.accounting.numerics import blanket
from mixtally.accounting.numerics.bracket import Bracket, join_ends
from mixtally.accounting.numerics.coins import Fakes
from mixtally.model.contract import CountedRecipe, Part, Shape
from mixtally.model.mechanism import Shuffled
from mixtally.primitives.fixed_point import SCALE

_UNLIKELY, _CELLS = 1e-5, 6.0
"""Share of delta that very unlikely numbers of fakes may add, and cells per standard deviation of
the number of fakes."""


@dataclass(frozen=True, slots=True)
class HonestPart:
    """A part of a plan, and the honest people that protect it, which determine its delta.

    Attributes
    ----------
    part
        The part, with its bins reduced to the fewest that have the same delta.
    people
        The number of honest people who certainly take part.
    flips
        Whether the proof relies on the flips or replaced values of these people.
    """

    part: Part
    people: int
    flips: bool

    def mechanism(self, fakes: int) -> Shuffled:
        """Return the mechanism with ``fakes`` fakes of people, or with the fakes of one hop."""
        if isinstance(self.part.recipe, CountedRecipe):
            fakes = self.part.recipe.count
        own_replacement = int(
            self.part.replaced is not None
        )  # the person's own replacement always counts
        return self.part.mechanism(
            fakes=fakes, crowd=self.people if self.flips else own_replacement
        )

    @property
    def fakes(self) -> Fakes:
        """The distribution of the number of fakes that people send."""
        own = self.part.own
        return Fakes(self.people, own.whole, own.coin) if own is not None else Fakes(0, 0, 0)

    def bounds(self, accountant: Accountant, epsilon: float) -> Bracket:
        """Return bounds of delta for one message of the part, or for a whole set in clear."""
        hidden = self.hidden_set
        if hidden is not None:
            return set_in_clear.delta(hidden, epsilon, accountant.distributions)

        def bounds_for_fakes(fakes: int) -> Bracket:
            return accountant.delta(self._record(fakes), epsilon).bounds

        # The exact average is tried first, as cells are slower and less tight.
        if (exact := self._bounds_in_two_cells(accountant, epsilon)) is not None:
            if self.part.planes is None:
                return exact
            least = self.fakes.average_one_pair(
                lambda k: bounds_for_fakes(k).lower, _UNLIKELY * exact.upper
            )
            return join_ends(least, exact.upper)
        if self.part.replaced is not None and self.fakes.coin:
            return self._bounds_in_cells(accountant, epsilon)
        if not self.has_one_worst_pair and (
            near := self._average_over_coins(accountant, self.fakes, [epsilon])
        ):
            least = self.fakes.average_lower(lambda fakes: bounds_for_fakes(fakes).lower)
            return join_ends(least, *near)
        return self.fakes.average(bounds_for_fakes, one_pair=self.has_one_worst_pair)

    def _bounds_in_two_cells(self, accountant: Accountant, epsilon: float) -> Bracket | None:
        """Return the exact average over coins for values in clear; None for other parts.

        Over few planes only its upper end is proved, and the lower end is 0.
        """
        fakes, mechanism = self.fakes, self.mechanism(self.fakes.certain)
        if not fakes.coin or not mechanism.is_in_clear:
            return None
        memo = accountant.distributions
        given = fakes.certain, mechanism.hiding_cells, epsilon, fakes.binomial
        exact = clear_uniform.average_over_coins(*given, memo)
        if exact is None or not in_clear.has_few_planes(mechanism):
            return exact
        near = in_clear.near_upper(mechanism, fakes.certain, epsilon, *fakes.binomial)
        return Bracket(0.0, min(exact.upper, near))

    def _bounds_in_cells(self, accountant: Accountant, epsilon: float) -> Bracket:
        """Return bounds for replaced values among fakes whose number is random.

        The number of fakes is divided into cells, over which delta is averaged.
        """
        usual = self.fakes.certain + round(self.fakes.people * self.fakes.coin / SCALE)
        (usual_upper,) = accountant.one_message_upper(self._record(usual), [epsilon], Bound.EXACT)

        def upper_for_fakes(fakes: int) -> Sequence[float]:
            return accountant.one_message_upper(self._record(fakes), [epsilon], Bound.EXACT)

        lower_for_fakes = partial(self._lower_for_fakes, accountant, epsilon)
        negligible = _UNLIKELY * usual_upper
        upper = float(self.fakes.average_upper(upper_for_fakes, negligible, _CELLS)[0])
        if self.part.bins == 2:  # the worse order depends on the number of fakes
            return join_ends(self.fakes.average_lower(lower_for_fakes), upper)
        return join_ends(self.fakes.average_one_pair(lower_for_fakes, negligible), upper)

    def lower(self, accountant: Accountant, epsilon: float, times: int) -> float:
        """Return a fast lower bound of delta for ``times`` messages of the part.

        Except among shaped fakes, this is the lower bound of one message.
        """
        if isinstance(self.part.recipe, Shape):
            return accountant.lower(self._record(0), epsilon, times)
        if self.hidden_set is not None:
            return self.bounds(accountant, epsilon).lower
        return self.fakes.average_lower(partial(self._lower_for_fakes, accountant, epsilon))

    def _lower_for_fakes(self, accountant: Accountant, epsilon: float, fakes: int) -> float:
        """Return the lower bound of delta among this number of fakes."""
        return accountant.delta(self._record(fakes), epsilon).bounds.lower

    @property
    def hidden_set(self) -> HiddenSet | None:
        """A set in clear among the fakes of people, including coins; None for other parts."""
        mechanism, fakes = self.mechanism(self.fakes.certain), self.fakes
        if self.part.record_messages == 1 or self.part.threshold is not None or self.part.by_mixes:
            return None
        return set_in_clear.hide_set(mechanism, fakes.certain, fakes.binomial)

    @property
    def has_one_worst_pair(self) -> bool:
        """Whether one pair of records is the worst for every number K of fakes.

        This is so for one sampled slot. It is also so for exchangeable values, if the proof does
        not rely on the flips or replaced values of other people.
        """
        if self.part.slots == 1:
            return True
        return self.part.most_set == 1 and self.part.bins > 1 and not self.flips

    def directed_losses(
        self, accountant: Accountant, negligible: float, tightness: Tightness
    ) -> LossDistribution | DirectedLosses:
        """Return ``losses``, or the losses of both orders of the neighbors if the orders differ."""
        either = self.losses(accountant, negligible, tightness)
        if accountant.directional_upper(self._record(self.fakes.certain), []) is None:
            return either
        found = [self._directional_points(accountant, negligible, tightness, way) for way in (0, 1)]
        step = min(one for one, _ in found)
        fitted = [
            {place * round(own / step): delta for place, delta in points.items()}
            for own, points in found
        ]
        most = max(points[0] for points in fitted)  # delta(0) is the same in both orders
        forward, backward = (
            connect_points(step, {**points, 0: most}, tightness.rise) for points in fitted
        )
        return DirectedLosses.of(forward, backward, either)

    def _directional_points(
        self, accountant: Accountant, negligible: float, tightness: Tightness, way: int
    ) -> tuple[float, dict[int, float]]:
        fakes = self.fakes

        def curve(epsilon: float) -> float:
            def upper_for_fakes(count: int) -> Sequence[float]:
                found = accountant.directional_upper(self._record(count), [epsilon])
                return [1.0] if found is None else found[way]

            return float(fakes.average_upper(upper_for_fakes, negligible)[0])

        return choose_points(curve, self.mechanism(0).local_epsilon, tightness)

    def losses(
        self, accountant: Accountant, negligible: float, tightness: Tightness
    ) -> LossDistribution:
        """Return losses that dominate one message of the part.

        Numbers of fakes that are less probable than ``negligible`` are bounded coarsely.
        """
        fakes, reach = self.fakes, self.mechanism(0).local_epsilon
        if not fakes.coin:
            found, times = accountant.losses(self._record(fakes.certain), tightness)
            if times == 1:
                return found
        if self._average_over_coins(accountant, fakes, []) is not None:
            return loss_distribution(self.curve(accountant, negligible), reach, tightness)

        def upper(bound: Bound, epsilons: Sequence[float]) -> list[float]:
            return self._upper_at_several(accountant, fakes, negligible, epsilons, bound)

        step, points = prove_points(
            lambda epsilon: upper(Bound.ROUGH, [epsilon])[0],
            partial(upper, Bound.NEAR),
            reach,
            tightness,
        )
        return connect_points(step, points, tightness.rise)

    def curve(self, accountant: Accountant, negligible: float) -> Callable[[float], float]:
        """Return the upper bound of one message's delta as a function of epsilon.

        Numbers of fakes that are less probable than ``negligible`` are bounded coarsely.
        """
        fakes = self.fakes
        return lambda epsilon: self._upper_at_several(accountant, fakes, negligible, [epsilon])[0]

    def _upper_at_several(
        self,
        accountant: Accountant,
        fakes: Fakes,
        negligible: float,
        epsilons: Sequence[float],
        bound: Bound = Bound.NEAR,
    ) -> list[float]:
        averaged = self._average_over_coins(accountant, fakes, epsilons)
        if averaged is not None:
            return averaged

        def upper_for_fakes(count: int) -> Sequence[float]:
            return accountant.one_message_upper(self._record(count), epsilons, bound)

        return list(map(float, fakes.average_upper(upper_for_fakes, negligible)))

    def _average_over_coins(
        self, accountant: Accountant, fakes: Fakes, epsilons: Sequence[float]
    ) -> list[float] | None:
        """Return upper bounds averaged over all coins in one sum; None if cells are necessary.

        If the proof relies on flips too, they are ignored if they add few blanks to the people's
        fakes.
        """
        bins, certain, coins = self.part.bins, fakes.certain, fakes.binomial
        if not fakes.coin:
            return None
        if (hidden := self.hidden_set) is not None:
            memo = accountant.distributions
            return [set_in_clear.upper(hidden, one, memo, near=True) for one in epsilons]
        one = self.mechanism(certain)
        if one.is_in_clear and one.uniform_fakes:
            return [in_clear.near_upper(one, certain, epsilon, *coins) for epsilon in epsilons]
        q, most = one.flip_threshold, one.max_set
        if q is None or most is None or one.uniform_fakes or not one.takes_fakes:
            return None
        if one.crowd * k_hot.blank_share(q, most) <= blanket.RARE_SHARE * (
            certain + math.prod(coins)
        ):
            return k_hot.upper_over_coins(certain, most, q, epsilons, bins, *coins)
        return None

    def _record(self, fakes: int) -> Record:
        return Record.of(self.mechanism(fakes))
