"""The least-error offer of all protocols, with the reason."""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from mixtally.errors import EffortError, InfeasibleError
from mixtally.ground.fixed import decimal
from mixtally.ground.memo import Memo
from mixtally.planner.answer import Answer, Misfit, Offer
from mixtally.planner.any_offer import fewest_of
from mixtally.planner.clear_offers import clear_hashed, clear_shaped, clear_uniform
from mixtally.planner.offers import Result, flip, flip_blank, single_bit
from mixtally.planner.reason import budget, reason
from mixtally.planner.uniform_flips import flip_uniform
from mixtally.planner.ways import Way, ways
from mixtally.planner.wish import Wish
from mixtally.privacy.accountant import Accountant
from mixtally.records.question import Kind

KINDS = {
    Kind.ONE: "it cannot hold one value of many",
    Kind.SET: "it cannot hold sets",
    Kind.BITS: "it cannot hold free bits in one message",
}
OFFERS: dict[str, Callable[[Wish, Way, Accountant], Result]] = {
    "clear-shaped": clear_shaped,
    "clear-uniform": clear_uniform,
    "flip-blank": flip_blank,
    "single-bit": single_bit,
    "flip": flip,
}
"""What every protocol has to offer; in this order where errors are equal."""

Survey = tuple[tuple[Offer, ...], tuple[Misfit, ...]]
_MOST_BYTES = 16_000_000
_BUDGETS = (1, 1.01, 1.1, 1.5, 2, 3, 5, 10, 30, 100, 300, 1000)


class Planner:
    """What is computed while wishes are looked at: every number once, forgotten with it.

    Hand one to all calls about wishes that are alike.
    """

    def __init__(self) -> None:
        self.accountant = Accountant()
        self._memo = Memo(_MOST_BYTES)

    def within(self, wish: Wish) -> list[Offer]:
        """Every offer for the wish's budget and, after these, for smaller ones.

        The choice is the best of them and the front is what none of them beats.
        """
        return [offer for budgeted in _budgeted(wish) for offer in self.survey(budgeted)[0]]

    def fits(self, wish: Wish) -> bool:
        """Whether there is anything to choose; nothing is looked at beyond the first offer."""
        looked = (
            one for budgeted in _budgeted(wish) for one in _results(budgeted, self.accountant)
        )
        return any(isinstance(one, Offer) for one in looked)

    def survey(self, wish: Wish) -> Survey:
        """Every offer for the whole budget from good to bad, and what does not fit."""
        found: Survey = self._memo.get(wish, lambda: _survey(wish, self.accountant))
        return found


def choose(wish: Wish, planner: Planner | None = None) -> Answer:
    """The plan of least standard error that keeps the guarantee within the budget.

    Smaller budgets are tried as well: where crowds are tiny or epsilon is large, a fake brings more
    noise than it hides.

    Raises InfeasibleError when none does; its message names what would.
    """
    planner = planner or Planner()
    offers, (whole, misfits) = _distinct(planner.within(wish)), planner.survey(wish)
    if not offers:
        raise InfeasibleError(
            "plan",
            wanted=f"epsilon {wish.guarantee.epsilon:g} and delta {wish.guarantee.delta:g} for "
            f"{wish.users:,} users and {wish.question.bins:,} bins",
            got=f"a budget of {budget(wish)}" + " and a mix that draws fakes" * wish.mix_fakes,
            do="; ".join(f"{m.protocol} needs {m.needs}" for m in misfits)
            or f"choose another --protocol for records of kind {wish.question.kind}",
        )
    best, *others = offers
    fit_smaller = {o.plan.protocol for o in offers} - {o.plan.protocol for o in whole}
    lacking = [misfit for misfit in misfits if misfit.protocol not in fit_smaller]
    return Answer(best, tuple(others), tuple(lacking), reason(wish, best, others, lacking))


def _budgeted(wish: Wish) -> Iterator[Wish]:
    """The wish, then the same with smaller budgets."""
    limit = decimal(wish.messages_per_user)
    smaller = {decimal(one) for one in (*_BUDGETS, len(ways(wish.question)[-1].parts))}
    for most in [limit, *sorted(one for one in smaller if one < limit)]:
        yield replace(wish, messages_per_user=most)


def _distinct(offers: list[Offer]) -> list[Offer]:
    """The best of each protocol and way, from good to bad; the cheapest of several as good."""
    kept: dict[tuple[str, bool, bool, bool], Offer] = {}
    for offer in sorted(offers, key=lambda offer: offer.cost):
        plan = offer.plan
        again = plan.mechanism.repeats > 1
        hashed = plan.question.hashed is not None
        kept.setdefault((plan.protocol, len(offer.plans) > 1, hashed, again), offer)
    return list(kept.values())


def _survey(wish: Wish, accountant: Accountant) -> Survey:
    results = list(_results(wish, accountant))
    if wish.protocol and not any(results):
        needs = f"another question: {KINDS[wish.question.kind]}"
        if wish.protocol == "flip":  # the only record it cannot hold
            needs = "several bits: one alone is flipped by single-bit"
        results.append(Misfit(wish.protocol, needs))
    offers = [result for result in results if isinstance(result, Offer)]
    misfits = [result for result in results if isinstance(result, Misfit)]
    offers.sort(key=lambda offer: offer.standard_error)
    return tuple(offers), tuple(dict.fromkeys(misfits))


def _results(wish: Wish, accountant: Accountant) -> Iterator[Result]:
    """What every protocol and way comes to, one by one; what takes too long says so."""
    for name, look in _looks(wish, accountant):
        try:
            yield look()
        except EffortError as error:
            yield Misfit(name, f"less work ({error})")


def _looks(wish: Wish, accountant: Accountant) -> Iterator[tuple[str, Callable[[], Result]]]:
    """What is to be looked at, by name."""
    every = ways(wish.question)
    for way in every:
        for name, made in OFFERS.items():
            if wish.protocol in (None, name):
                yield name, partial(made, wish, way, accountant)
    if wish.protocol in (None, "clear-uniform") and not wish.mix_fakes:
        yield "clear-uniform", partial(clear_hashed, wish, every[0], accountant)
    if wish.protocol in (None, "flip"):
        for times in _repeats(wish):
            yield "flip", partial(flip, wish, every[0], accountant, times)
    if wish.protocol in (None, "flip-uniform"):
        for way in every:
            yield "flip-uniform", partial(flip_uniform, wish, way, accountant)
    if wish.protocol is not None and wish.protocol not in ("flip-uniform", *OFFERS):
        for way in every:
            yield wish.protocol, partial(fewest_of, wish.protocol, wish, way, accountant)


def _repeats(wish: Wish) -> list[int]:
    """As often as the budget allows, while there are not messages enough to send every bit alone.

    Splitting a vector errs less than sending it whole as often: then there is nothing to try.
    """
    bits = wish.question.bins if wish.question.kind is Kind.BITS else 1
    affordable = math.floor(wish.messages_per_user)
    return [affordable] if 1 < affordable < bits else []
