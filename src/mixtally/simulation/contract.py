"""Play a round under a contract in one process: people, every hop in its order, the collector.

Parts are streams of their own, played one after the other. Every honest hop adds its recipe to all
that it received and shuffles. The collector drops impossible messages, tallies the others, and
concludes from what came. Dishonest hops may be among them: what they do is their ``Conduct``.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from mixtally.data.population import Population
from mixtally.data.progress import Progress, quiet
from mixtally.errors import DataError, MessageError, ParameterError, PlanError
from mixtally.estimate.analysis import COUNTS_ALONE, Analysis
from mixtally.estimate.conclude import conclude_received
from mixtally.ground.bits import Rows
from mixtally.ground.chance import Chance
from mixtally.ground.draw import permutation
from mixtally.ground.memo import Memo
from mixtally.mixing import added, shuffle
from mixtally.mixing.shuffle import room_for
from mixtally.privacy.accountant import Accountant
from mixtally.privacy.terms import verify
from mixtally.randomize import part_fakes, part_reports
from mixtally.randomize.messages import Records
from mixtally.records.contract import BlanksRecipe, Contract, Part, ShapedRecipe
from mixtally.records.received import PartReceived, Received
from mixtally.records.result import ContractResult
from mixtally.records.results import Tally
from mixtally.simulation.conduct import HONEST, WORST, Conduct, Hops
from mixtally.simulation.parts import parts
from mixtally.simulation.run import check_pairs
from mixtally.simulation.simulate import MOST_BATCH_BYTES
from mixtally.simulation.truth import Truth, truth_of
from mixtally.tally.fold import add, tally_messages
from mixtally.tally.sift import sift

_MEMO_BYTES = 1_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Played:
    """A round as it was played, one tally a part.

    where
      told      what dishonest hops drew and told the observer, a tally a part
      result    what the collector releases; None where the numbers do not add up
      refusal   why nothing is released; None where something is
      truth     None in what may be published
    """

    contract: Contract
    received: Received
    tallies: tuple[Tally, ...]
    told: tuple[Tally, ...]
    truth: Truth | None
    result: ContractResult | None
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
        terms = self.contract.terms
        streams = [
            _play(part, crowd.records, terms.hops, _Scene(hops, chance, progress, analysis.pairs))
            for part, crowd in zip(terms.parts, self.crowds, strict=True)
        ]
        came = tuple(stream.received for stream in streams)
        received = Received(contributors=self.population.users, parts=came)
        tallies = tuple(stream.tally for stream in streams)
        told = tuple(stream.told for stream in streams)
        result, refusal, truth = None, None, Truth(self.population.truth)
        try:
            result = conclude_received(terms, received, tallies, analysis)
            truth = truth_of(self.population, result)
        except MessageError as error:
            refusal = str(error)
        return Played(self.contract, received, tallies, told, truth, result, refusal)

    def _check(self, analysis: Analysis) -> None:
        terms = self.contract.terms
        analysis.check_sums(terms.question)
        if analysis.pairs:
            check_pairs(terms.question, [part.layout for part in terms.parts])


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
    if strange := sorted(set(dishonest) - set(range(1, contract.terms.hops + 1))):
        raise ParameterError(
            "dishonest hops",
            wanted=f"numbers in 1..{contract.terms.hops}",
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
    terms = contract.terms
    if terms.question != population.question:
        raise PlanError(
            "contract",
            wanted=f"one that asks {population.question.name!r} with its "
            f"{population.question.bins:,} bins",
            got=f"one for the {terms.question.bins:,} bins of {terms.question.name!r}",
            do="make a contract for this data",
        )
    if population.users < terms.minimum_crowd:
        raise DataError(
            "round",
            wanted=f"at least {terms.minimum_crowd:,} people, the minimum crowd of the contract",
            got=f"{population.users:,}",
            do="the round is destroyed: ask again, or make a contract for fewer people",
        )
    for part in terms.parts:
        most = _most(part, population.users, terms.hops)
        room_for(most, part.layout.message_bytes, MOST_BATCH_BYTES)
    verify(terms, accountant)
    return Stage(contract, population, tuple(parts(population, terms.questions)))


def _most(part: Part, users: int, hops: int) -> int:
    """Messages of a part; of shaped fakes their mean."""
    own = users * (1 + (0 if part.own is None else part.own.most))
    return own + hops * _mean_added(part)


def _mean_added(part: Part) -> int:
    match part.recipe:
        case BlanksRecipe():
            return part.recipe.count
        case ShapedRecipe():
            return part.bins * part.recipe.shift
        case _:
            return 0


@dataclass(frozen=True, slots=True, eq=False)
class _Scene:
    """What all parts of a round are played with; ``pairs`` are counted where that is wanted."""

    hops: Hops
    chance: Chance
    progress: Progress
    pairs: bool


@dataclass(frozen=True, slots=True, eq=False)
class _Stream:
    """A part as it came, and what dishonest hops told."""

    received: PartReceived
    tally: Tally
    told: Tally


def _play(part: Part, records: Records, number: int, scene: _Scene) -> _Stream:
    """One part, from people over ``number`` hops to its tally."""
    hops, chance = scene.hops, scene.chance
    batch, own = _sent(part, records, chance)
    if 1 in hops.dishonest:
        batch = _left_out(batch, own, hops.conduct.leaves_out, chance)
    told = tally_messages(part.layout, part.layout.blank(0))
    declared: list[int | None] = []
    for hop in range(1, number + 1):
        honest = hop not in hops.dishonest
        drawn = part.layout.blank(0)
        if honest or hops.conduct.draws:
            drawn = added(part.recipe, part.layout, chance)
        declared.append(_declared(part, len(drawn), hops.conduct, honest=honest))
        if not honest:
            told = add(told, tally_messages(part.layout, drawn))
        batch = np.concatenate([batch, drawn])
        del drawn  # a shuffle holds the batch twice
        batch = shuffle(batch, chance) if honest else batch
        scene.progress("mix", hop, number)
    sifted = sift(part.layout, batch)
    received = PartReceived(
        declared=tuple(declared), received=len(sifted.rows), dropped=sifted.dropped
    )
    tally = tally_messages(part.layout, sifted.rows, pairs=scene.pairs)
    return _Stream(received, tally, told)


def _sent(part: Part, records: Records, chance: Chance) -> tuple[Rows, int]:
    """Everybody's messages, the first person's in front, and how many these are."""
    memo = Memo(_MEMO_BYTES)
    first, rest = records[:1], records[1:]
    own = [part_reports(part, first, chance, memo), part_fakes(part, 1, chance, memo)[0]]
    others = [
        part_reports(part, rest, chance, memo),
        part_fakes(part, len(rest), chance, memo)[0],
    ]
    return np.concatenate([*own, *others]), sum(map(len, own))


def _left_out(batch: Rows, own: int, share: float, chance: Chance) -> Rows:
    """The batch with a ``share`` of all but its first ``own`` messages left out, at random."""
    others = len(batch) - own
    stay = own + permutation(chance, others)[: others - round(share * others)]
    return np.concatenate([batch[:own], batch[stay]])


def _declared(part: Part, drawn: int, conduct: Conduct, *, honest: bool) -> int | None:
    """What a hop says it added; one that drew nothing says what is likely."""
    if not part.by_mixes or not (honest or conduct.declares):
        return None
    return drawn if honest or conduct.draws else _mean_added(part)
