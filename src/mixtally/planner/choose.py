"""The least-error offer of all protocols, with the reason."""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache, partial

from mixtally.errors import EffortError, InfeasibleError
from mixtally.ground.fixed import decimal
from mixtally.planner.answer import Answer, Misfit, Offer
from mixtally.planner.offers import OFFERS, Result, clear_hashed, flip
from mixtally.planner.reason import budget, reason
from mixtally.planner.uniform_flips import flip_uniform
from mixtally.planner.ways import ways
from mixtally.planner.wish import Wish
from mixtally.protocols.clear_uniform import ClearUniform
from mixtally.protocols.flip_uniform import FlipUniform
from mixtally.protocols.flip_vector import FlipVector
from mixtally.records.question import Kind

KINDS = {
    Kind.ONE: "it cannot hold one value of many",
    Kind.SET: "it cannot hold sets",
    Kind.BITS: "it cannot hold free bits in one message",
}
_BUDGETS = (1, 1.01, 1.1, 1.5, 2, 3, 5, 10, 30, 100, 300, 1000)


def choose(wish: Wish) -> Answer:
    """The plan of least standard error that keeps the guarantee within the budget.

    Smaller budgets are tried as well: where crowds are tiny or epsilon is large, a fake brings more
    noise than it hides.

    Raises InfeasibleError when none does; its message names what would.
    """
    offers, (whole, misfits) = _distinct(within(wish)), survey(wish)
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


def within(wish: Wish) -> list[Offer]:
    """Every offer for the wish's budget and, after these, for smaller ones.

    The choice is the best of them and the front is what none of them beats.
    """
    return [offer for budgeted in _budgeted(wish) for offer in survey(budgeted)[0]]


def fits(wish: Wish) -> bool:
    """Whether there is anything to choose; nothing is looked at beyond the first offer."""
    results = (result for budgeted in _budgeted(wish) for result in _results(budgeted))
    return any(isinstance(result, Offer) for result in results)


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
        again = plan.integers.get("repeats", 1) > 1
        hashed = plan.question.hashed is not None
        kept.setdefault((plan.protocol, len(offer.plans) > 1, hashed, again), offer)
    return list(kept.values())


@lru_cache(maxsize=64)
def survey(wish: Wish) -> tuple[tuple[Offer, ...], tuple[Misfit, ...]]:
    """Every offer for the whole budget from good to bad, and what does not fit."""
    results = list(_results(wish))
    if wish.protocol and not any(results):
        needs = f"another question: {KINDS[wish.question.kind]}"
        if wish.protocol == FlipVector.name:  # the only record it cannot hold
            needs = "several bits: one alone is flipped by single-bit"
        results.append(Misfit(wish.protocol, needs))
    offers = [result for result in results if isinstance(result, Offer)]
    misfits = [result for result in results if isinstance(result, Misfit)]
    offers.sort(key=lambda offer: offer.standard_error)
    return tuple(offers), tuple(dict.fromkeys(misfits))


def _results(wish: Wish) -> Iterator[Result]:
    """What every protocol and way comes to, one by one; what takes too long says so."""
    for name, look in _looks(wish):
        try:
            yield look()
        except EffortError as error:
            yield Misfit(name, f"less work ({error})")


def _looks(wish: Wish) -> Iterator[tuple[str, Callable[[], Result]]]:
    """What is to be looked at, by name."""
    (whole, *split) = ways(wish.question)
    for way in (whole, *split):
        for name, made in OFFERS.items():
            if wish.protocol in (None, name):
                yield name, partial(made, wish, way)
    if wish.protocol in (None, ClearUniform.name) and not wish.mix_fakes:
        yield ClearUniform.name, partial(clear_hashed, wish, whole)
    if wish.protocol in (None, FlipVector.name):
        for times in _repeats(wish):
            yield FlipVector.name, partial(flip, wish, whole, times)
    if wish.protocol in (None, FlipUniform.name):
        for way in (whole, *split):
            yield FlipUniform.name, partial(flip_uniform, wish, way)


def _repeats(wish: Wish) -> list[int]:
    """As often as the budget allows, while there are not messages enough to send every bit alone.

    Splitting a vector errs less than sending it whole as often: then there is nothing to try.
    """
    bits = wish.question.bins if wish.question.kind is Kind.BITS else 1
    affordable = math.floor(wish.messages_per_user)
    return [affordable] if 1 < affordable < bits else []
