"""From parts with their integers to an option: terms with their certificate."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from mixtally.errors import EffortError, ParameterError
from mixtally.ground.fixed import MOST_THRESHOLD
from mixtally.planner.cascade.option import CascadeOption
from mixtally.planner.cascade.request import CascadeRequest
from mixtally.planner.noise import capped, least_flips
from mixtally.planner.options import Infeasible
from mixtally.privacy.accountant import Accountant, Record
from mixtally.privacy.calibrate import calibrate
from mixtally.privacy.composition.pld import CLOSE, Tightness
from mixtally.privacy.terms import (
    Stake,
    capped_cost,
    certified,
    composed,
    counted,
    delta_of,
    local_epsilon_of,
)
from mixtally.records.contract import Cover, Part, Terms
from mixtally.records.encodings import Encoding
from mixtally.records.guarantee import Guarantee
from mixtally.records.mechanism import BitFlips, Parameter

Result = CascadeOption | Infeasible | None
"""None when the protocol cannot hold such a record at all."""

FOR_CAPS = 1e-3
"""Of delta, for drawing again what has more ones than the cap."""
_ROOMS = (0.0, 1e-6, 1e-4, 1e-3, 1e-2)
"""Relative rises of a flip probability: parts and caps together may cost a hair more."""


@dataclass(frozen=True, slots=True)
class Desk:
    """A request and what is computed for it."""

    wanted: CascadeRequest
    accountant: Accountant

    def stake(self, cover: Cover, parts: Sequence[Part], *, count_flips: bool = False) -> Stake:
        """What the price of ``parts`` depends on."""
        request, people = self.wanted.request, self.wanted.people or 0
        return Stake(
            parts=tuple(parts),
            guarantee=request.guarantee,
            collections=request.collections,
            people=people if cover is Cover.PEOPLE else 0,
            count_flips=count_flips,
            hops=self.wanted.hops,
        )

    def upper(self, stake: Stake, tightness: Tightness = CLOSE) -> float:
        """The upper bound of delta at the epsilon of the guarantee; with a lesser ``tightness``
        sooner and a little more.
        """
        groups = counted(stake)
        if groups.total() == 1:
            return delta_of(stake, self.accountant).upper
        total = composed(groups, stake, self.accountant, tightness)
        return min(1.0, total + capped_cost(stake))

    def kept(self, stake: Stake) -> CascadeOption | None:
        """The option of ``stake``; None when it misses the guarantee."""
        found, wanted = certified(stake, self.accountant), self.wanted
        if not found.upper <= stake.guarantee.delta:
            return None
        request, crowd = wanted.request, wanted.request.minimum_crowd
        terms = Terms(
            question=request.question,
            edges=wanted.edges,
            prefixes=wanted.prefixes,
            guarantee=request.guarantee,
            users=request.users,
            minimum_crowd=1 if crowd is None else crowd,
            honest_share=request.honest_fraction,
            count_flips=stake.count_flips,
            collections=request.collections,
            hops=wanted.hops,
            cover=Cover.PEOPLE if stake.people else Cover.MIXES,
            parts=stake.parts,
            certificate=found,
            local_epsilon=local_epsilon_of(stake),
        )
        return CascadeOption(terms)

    def least_noise(self, record: Record, parameter: Parameter, parts: int) -> Record | None:
        """``record`` with the least ``parameter`` for so many parts; None when none will do."""
        request = self.wanted.request
        try:
            return calibrate(
                self.accountant,
                record,
                parameter,
                request.guarantee.epsilon,
                request.guarantee.delta,
                collections=parts * request.collections,
            )
        except EffortError:
            raise
        except ParameterError:
            return None

    def least_flips(self, encoding: Encoding, sure: BitFlips, fakes: int) -> int | None:
        """The least flip probability of ``sure`` times 2^64, with room for caps; None for none.

        ``fakes`` are all that will come.
        """
        request = self.wanted.request
        guarantee = request.guarantee
        smaller = Guarantee(epsilon=guarantee.epsilon, delta=guarantee.delta * (1.0 - FOR_CAPS))
        inner = replace(request, guarantee=smaller, mix_fakes=False, mixes=1)
        found = least_flips(self.accountant, inner, encoding, sure, fakes)
        return None if found is None else max(found, self.fewest_flips(encoding, sure))

    def fewest_flips(self, encoding: Encoding, sure: BitFlips) -> int:
        """The flip probability, times 2^64, that a local epsilon wants; 0 without one."""
        differ = sure.bins if sure.max_set is None else 2 * sure.max_set
        return capped(self.wanted.request, differ * len(encoding.parts))

    def first_kept(
        self, make: Callable[[int], Stake], threshold: int, otherwise: Infeasible
    ) -> CascadeOption | Infeasible:
        """The option of the least flip probability from ``threshold`` on that keeps its promise."""
        for room in _ROOMS:
            raised = threshold + round(threshold * room)
            if raised >= MOST_THRESHOLD:
                break
            option = self.kept(make(raised))
            if option is not None:
                return option
        return otherwise
