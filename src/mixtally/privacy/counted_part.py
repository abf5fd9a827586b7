"""A part of a contract with what is counted on to hide it, and the price of one message of it."""

from collections.abc import Callable
from dataclasses import dataclass

from mixtally.ground.fixed import SCALE
from mixtally.privacy.accountant import Accountant, Record
from mixtally.privacy.coins import MOST_LOOKS, Fakes
from mixtally.privacy.composition.pld import LossDistribution, Tightness, loss_distribution
from mixtally.privacy.divergence import clear_uniform, k_hot
from mixtally.privacy.numerics import blanket
from mixtally.privacy.numerics.bracket import Bracket
from mixtally.records.contract import BlanksRecipe, Part
from mixtally.records.mechanism import BitFlips, BlankFakes, InClear, Shuffled, UniformFakes


@dataclass(frozen=True, slots=True)
class Counted:
    """A part with what is counted on: its price depends on nothing else.

    where
      part     with as few bins as have its price
      people   honest people who surely take part
      flips    whether their flips count
    """

    part: Part
    people: int
    flips: bool

    def mechanism(self, fakes: int) -> Shuffled:
        """With so many fakes of people, or those of one hop."""
        if isinstance(self.part.recipe, BlanksRecipe):
            fakes = self.part.recipe.count
        return self.part.mechanism(fakes=fakes, crowd=self.people if self.flips else 0)

    @property
    def fakes(self) -> Fakes:
        """How many fakes of people arrive."""
        own = self.part.own
        return Fakes(self.people, own.whole, own.coin) if own is not None else Fakes(0, 0, 0)

    def bounds(self, accountant: Accountant, epsilon: float, looks: int = MOST_LOOKS) -> Bracket:
        """Of one message of the part; ``looks`` as ``Fakes.average`` has it."""

        def given(fakes: int) -> Bracket:
            return accountant.delta(Record.of(self.mechanism(fakes)), epsilon).bounds

        return self.fakes.average(given, one_pair=self.one_pair, looks=looks)

    @property
    def one_pair(self) -> bool:
        """Whether two worlds are worst for any K: all values are alike, and no answers count."""
        return self.part.most_set == 1 and self.part.bins > 1 and not self.flips

    def losses(
        self, accountant: Accountant, curve: Callable[[float], float], tightness: Tightness
    ) -> LossDistribution:
        """A privacy loss distribution that dominates one message of the part, of this ``curve``."""
        if not self.fakes.coin:
            record = Record.of(self.mechanism(self.fakes.sure))
            found, times = accountant.losses(record, tightness)
            if times == 1:
                return found
        return loss_distribution(curve, self.mechanism(0).local_epsilon, tightness)

    def curve(self, accountant: Accountant, negligible: float) -> Callable[[float], float]:
        """The upper bound of one message's delta, as a function of epsilon.

        Crowds of coins that are less likely than ``negligible`` are not looked at closely.
        """
        found = self.fakes
        if found.coin and (averaged := self._averaged()) is not None:
            return averaged

        def upper(epsilon: float) -> float:
            def given(fakes: int) -> float:
                return accountant.near(Record.of(self.mechanism(fakes)), epsilon)

            return found.average_upper(given, negligible)

        return upper

    def _averaged(self) -> Callable[[float], float] | None:
        """The upper bound for all coins at once; None where that would take cells of them.

        Flips that count as well are left out where they bring few blanks beside people's own.
        """
        bins, sure, people = self.part.bins, self.fakes.sure, self.fakes.people
        coin = self.fakes.coin / SCALE
        match self.mechanism(sure):
            case InClear(fakes=UniformFakes()):
                return lambda epsilon: clear_uniform.near(sure, bins, epsilon, people, coin)
            case BitFlips(fakes=BlankFakes(), max_set=int(most), threshold=q, crowd=crowd) if (
                crowd * k_hot.free_share(q, most) <= blanket.FEW * (sure + people * coin)
            ):
                return lambda epsilon: k_hot.near_coins(sure, most, q, epsilon, bins, people, coin)
        return None
