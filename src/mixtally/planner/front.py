"""All that can be had: offers that no other one beats in error, messages and bytes at once."""

from dataclasses import replace

from mixtally.planner.answer import Offer
from mixtally.planner.choose import survey
from mixtally.planner.wish import Wish, decimal

_BUDGETS = (1, 1.01, 1.1, 1.5, 2, 3, 5, 10, 30, 100, 300, 1000)


def front(wish: Wish) -> list[Offer]:
    """Offers within the wish's budget from good to bad, none of them beaten.

    Besides the whole budget smaller ones are tried: fakes are what a person pays with.
    """
    limit = decimal(wish.messages_per_user)
    budgets = [budget for budget in map(decimal, _BUDGETS) if budget < limit]
    offers = [
        offer
        for budget in [*budgets, limit]
        for offer in survey(replace(wish, messages_per_user=budget))[0]
    ]
    kept = [offer for offer in offers if not any(_beats(other, offer) for other in offers)]
    distinct = {_cost(offer): offer for offer in reversed(kept)}
    return sorted(distinct.values(), key=lambda offer: offer.standard_error)


def _cost(offer: Offer) -> tuple[float, float, float]:
    return offer.standard_error, offer.messages_per_user, offer.bytes_per_user


def _beats(one: Offer, other: Offer) -> bool:
    """Whether ``one`` is nowhere worse and somewhere better."""
    pairs = list(zip(_cost(one), _cost(other), strict=True))
    return all(a <= b for a, b in pairs) and any(a < b for a, b in pairs)
