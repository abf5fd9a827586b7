"""The least-error offer of all protocols, with the reason."""

import math

from mixtally.errors import InfeasibleError
from mixtally.planner.answer import Answer, Misfit, Offer
from mixtally.planner.offers import OFFERS, clear_hashed, flip
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


def choose(wish: Wish) -> Answer:
    """The plan of least standard error that keeps the guarantee within the budget.

    Raises InfeasibleError when none does; its message names what would.
    """
    offers, misfits = survey(wish)
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
    return Answer(best, tuple(others), tuple(misfits), reason(wish, best, others, misfits))


def survey(wish: Wish) -> tuple[list[Offer], list[Misfit]]:
    """Every offer from good to bad, and what does not fit."""
    results = [
        OFFERS[name](wish, way)
        for way in ways(wish.question)
        for name in OFFERS
        if wish.protocol in (None, name)
    ]
    (whole, *_) = ways(wish.question)
    if wish.protocol in (None, ClearUniform.name) and not wish.mix_fakes:
        results.append(clear_hashed(wish, whole))
    if wish.protocol in (None, FlipVector.name):
        results += [flip(wish, whole, times) for times in _repeats(wish)]
    if wish.protocol in (None, FlipUniform.name):
        results += [flip_uniform(wish, way) for way in ways(wish.question)]
    if wish.protocol and not any(results):
        needs = f"another question: {KINDS[wish.question.kind]}"
        if wish.protocol == FlipVector.name:  # the only record it cannot hold
            needs = "several bits: one alone is flipped by single-bit"
        results.append(Misfit(wish.protocol, needs))
    offers = [result for result in results if isinstance(result, Offer)]
    misfits = [result for result in results if isinstance(result, Misfit)]
    return sorted(offers, key=lambda offer: offer.standard_error), list(dict.fromkeys(misfits))


def _repeats(wish: Wish) -> list[int]:
    """As often as the budget allows, while there are not messages enough to send every bit alone.

    Splitting a vector errs less than sending it whole as often: then there is nothing to try.
    """
    bits = wish.question.bins if wish.question.kind is Kind.BITS else 1
    affordable = math.floor(wish.messages_per_user)
    return [affordable] if 1 < affordable < bits else []
