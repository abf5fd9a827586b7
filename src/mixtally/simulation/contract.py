"""Play a round under a contract in one process, once nothing speaks against it."""

from collections.abc import Collection
from dataclasses import dataclass, replace

from mixtally.data.population import Population
from mixtally.data.progress import Progress, quiet
from mixtally.errors import DataError, MessageError, ParameterError, PlanError
from mixtally.estimate.analysis import COUNTS_ALONE, Analysis
from mixtally.estimate.conclude import conclude
from mixtally.ground.chance import Chance
from mixtally.privacy.accountant import Accountant
from mixtally.privacy.terms import verify
from mixtally.records.contract import Contract
from mixtally.records.result import Result
from mixtally.simulation.conduct import HONEST, WORST, Conduct, Hops
from mixtally.simulation.parts import parts
from mixtally.simulation.play import Round, check_room, play
from mixtally.simulation.run import check_pairs
from mixtally.simulation.truth import Truth, truth_of


@dataclass(frozen=True, slots=True, eq=False)
class Played:
    """A round under a contract as it was played.

    where
      result    what the collector releases; None where the numbers do not add up
      refusal   why nothing is released; None where something is
      truth     None in what may be published
    """

    contract: Contract
    round: Round
    truth: Truth | None
    result: Result | None
    refusal: str | None

    def published(self) -> "Played":
        """What may be published of it."""
        return replace(self, truth=None)


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """A contract and a crowd that fit, to be played as often as one likes; made by ``staged``.

    where
      crowds   the crowd as it answers each part
    """

    contract: Contract
    population: Population
    crowds: tuple[Population, ...]

    def play(
        self,
        chance: Chance,
        progress: Progress = quiet,
        hops: Hops = HONEST,
        analysis: Analysis = COUNTS_ALONE,
    ) -> Played:
        """One round in which everybody takes part, and what is wanted of its tallies.

        Raises ParameterError for what cannot be told of these records, before the work.
        """
        self._check(analysis)
        plan, records = self.contract.plan, [crowd.records for crowd in self.crowds]
        played = play(plan, records, chance, progress, hops=hops, pairs=analysis.pairs)
        result, refusal, truth = None, None, Truth(self.population.truth)
        try:
            result = conclude(plan, played.tallies, analysis, received=played.received)
            truth = truth_of(self.population, result)
        except MessageError as error:
            refusal = str(error)
        return Played(self.contract, played, truth, result, refusal)

    def _check(self, analysis: Analysis) -> None:
        analysis.check_sums(self.contract.plan.question)
        check_pairs(self.contract.plan, analysis)


def play_contract(
    contract: Contract,
    population: Population,
    chance: Chance,
    progress: Progress = quiet,
    dishonest: Collection[int] = frozenset(),
    *,
    conduct: Conduct = WORST,
    analysis: Analysis = COUNTS_ALONE,
) -> Played:
    """One round of ``contract`` in which everybody of ``population`` takes part.

    where
      dishonest   hops, counted from 1, that do not keep to their recipe
      conduct     what these do
      analysis    what is wanted of the tallies

    Raises ParameterError for hops that are not there and for what cannot be told of these records,
    and as ``staged``, before the work.
    """
    if strange := sorted(set(dishonest) - set(range(1, contract.plan.hops + 1))):
        raise ParameterError(
            "dishonest hops",
            wanted=f"numbers in 1..{contract.plan.hops}",
            got=", ".join(map(str, strange)),
            do="hops are counted from 1",
        )
    stage = staged(contract, population)
    return stage.play(chance, progress, Hops(dishonest, conduct), analysis)


def staged(
    contract: Contract, population: Population, accountant: Accountant | None = None
) -> Stage:
    """The two together, once nothing speaks against playing them.

    Raises PlanError for a contract whose promise is false or for another question, DataError for
    fewer people than its minimum crowd, ParameterError for a part that memory cannot hold.
    """
    plan = contract.plan
    if plan.question != population.question:
        raise PlanError(
            "contract",
            wanted=f"one that asks {population.question.name!r} with its "
            f"{population.question.bins:,} bins",
            got=f"one for the {plan.question.bins:,} bins of {plan.question.name!r}",
            do="make a contract for this data",
        )
    if population.users < plan.minimum_crowd:
        raise DataError(
            "round",
            wanted=f"at least {plan.minimum_crowd:,} people, the minimum crowd of the contract",
            got=f"{population.users:,}",
            do="the round is destroyed: ask again, or make a contract for fewer people",
        )
    for part in plan.parts:
        check_room(part, population.users, plan.hops)
    verify(plan, accountant)
    return Stage(contract, population, tuple(parts(population, plan.questions)))
