"""All that can be had: offers that no other one beats in error, messages and bytes at once."""

from mixtally.planner.answer import Offer
from mixtally.planner.choose import Planner
from mixtally.planner.wish import Wish


def front(wish: Wish, planner: Planner | None = None) -> list[Offer]:
    """Offers within the wish's budget from good to bad, none of them beaten.

    Besides the whole budget smaller ones are tried: fakes are what a person pays with. The first
    is what ``choose`` chooses.
    """
    offers = (planner or Planner()).within(wish)
    kept = [offer for offer in offers if not any(_beats(other, offer) for other in offers)]
    distinct = {offer.cost: offer for offer in reversed(kept)}
    return sorted(distinct.values(), key=lambda offer: offer.standard_error)


def _beats(one: Offer, other: Offer) -> bool:
    """Whether ``one`` is nowhere worse and somewhere better."""
    pairs = list(zip(one.cost, other.cost, strict=True))
    return all(a <= b for a, b in pairs) and any(a < b for a, b in pairs)
