"""One offer a protocol: its least noise for the wish, or what it lacks."""

import math
from collections.abc import Callable

from mixtally.ground.fixed import MOST_THRESHOLD, SCALE
from mixtally.planner.answer import Misfit, Offer
from mixtally.planner.wish import MOST_MESSAGES, Wish
from mixtally.privacy import price
from mixtally.protocols.base import Protocol
from mixtally.protocols.clear_shaped import ClearShaped
from mixtally.protocols.clear_uniform import ClearUniform
from mixtally.protocols.flip_blank import FlipBlank
from mixtally.records.guarantee import LEAST_USERS
from mixtally.records.plan import PLAN_VERSION, Plan

_IN_CLEAR = "no --local-epsilon: answers travel in clear, so nothing survives broken mixes"


def flip_blank(wish: Wish) -> Offer | Misfit:
    """All fakes the budget allows, and the least flip probability for those that surely arrive."""
    fakes = wish.most_fakes
    sure = math.floor(wish.honest_fraction * fakes)
    crowd = math.floor(wish.honest_fraction * wish.users) if wish.count_crowd else 0
    crowd = crowd if crowd >= LEAST_USERS else 0
    threshold = price.least_threshold(sure, wish.guarantee.epsilon, wish.guarantee.delta, crowd)
    if wish.local_epsilon is not None:
        # 2 ln(p/q) <= cap, rounded to the safe side
        least = SCALE / (1.0 + math.exp(wish.local_epsilon / 2.0))
        threshold = max(threshold, min(MOST_THRESHOLD, math.ceil(least * (1.0 + 1e-15)) + 1))
    if threshold == MOST_THRESHOLD:
        return Misfit(FlipBlank.name, "more fakes: with these every bit would be a fair coin")
    bins = wish.question.bins
    return _offer(wish, FlipBlank(bins=bins, fakes=fakes, threshold=threshold, crowd=crowd))


def clear_uniform(wish: Wish) -> Offer | Misfit:
    """As many fakes as the bins need: more would only add noise."""
    if wish.local_epsilon is not None:
        return Misfit(ClearUniform.name, _IN_CLEAR)
    bins = wish.question.bins
    sure = price.least_uniform_fakes(bins, wish.guarantee.epsilon, wish.guarantee.delta)
    fakes = math.ceil(sure / wish.honest_fraction)
    while math.floor(wish.honest_fraction * fakes) < sure:  # the product was rounded down
        fakes += 1
    if fakes > wish.most_fakes:
        need = f"{fakes:,} fakes, {fakes / bins:.4g} a bin"
        thousandths = 1000 + -(-1000 * fakes // wish.users)
        if thousandths <= 1000 * MOST_MESSAGES:
            return Misfit(
                ClearUniform.name, f"{need}: --messages-per-user {thousandths / 1000:.10g}"
            )
        users = -(-fakes // (round(MOST_MESSAGES) - 1))
        return Misfit(ClearUniform.name, f"{need}: at least {users:,} users")
    return _offer(wish, ClearUniform(bins=bins, fakes=fakes))


def clear_shaped(wish: Wish) -> Offer | Misfit:
    """The law of least spread, drawn by a mix: the users send nothing but their reports."""
    if wish.local_epsilon is not None:
        return Misfit(ClearShaped.name, _IN_CLEAR)
    if not wish.mix_fakes:
        return Misfit(ClearShaped.name, "a mix that is trusted to draw the fakes: --mix-fakes")
    shape = price.least_shape(wish.guarantee.epsilon, wish.guarantee.delta)
    return _offer(wish, ClearShaped.shaped(wish.question.bins, *shape))


OFFERS: dict[str, Callable[[Wish], Offer | Misfit]] = {
    ClearShaped.name: clear_shaped,
    ClearUniform.name: clear_uniform,
    FlipBlank.name: flip_blank,
}


def _offer(wish: Wish, protocol: Protocol) -> Offer | Misfit:
    error = protocol.standard_error(wish.users)
    if error >= wish.users:
        return Misfit(
            protocol.name,
            f"more users or a larger epsilon: its error would be {error:.3g} counts, more than the "
            f"{wish.users:,} people there are",
        )
    plan = Plan(
        version=PLAN_VERSION,
        question=wish.question,
        guarantee=wish.guarantee,
        users=wish.users,
        honest_fraction=wish.honest_fraction,
        protocol=protocol.name,
        integers=protocol.integers(),
        certificate=price.certify(protocol, wish.guarantee.epsilon, wish.honest_fraction),
    )
    return Offer(plan, protocol)
