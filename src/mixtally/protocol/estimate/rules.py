"""Association rules between items, with intervals: who holds these holds that, how often.

With n people, of whom z_S hold all items of a set S, the rule "who holds S without b holds b" has

    support z_S / n,   confidence z_S / z_{S-b},   lift n z_S / (z_{S-b} z_b).

Of intervals of all the counts, which hold at once, every quotient's interval follows: the least
value of the upper count over the greatest of the lower ones, and the other way around. They hold
whenever those of the counts do, however the estimates depend on each other, and are wider than
need be for it.

Source: Side Notes 002 section 5 names the task; Agrawal, Imielinski and Swami 1993 the rules.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

Items = tuple[int, ...]


class BoundedEstimate(NamedTuple):
    """An estimate in its interval; a number of people, or a quotient of such."""

    estimate: float
    lower: float
    upper: float


@dataclass(frozen=True, slots=True)
class Rule:
    """Who holds all of ``given`` holds ``then``, too.

    where
      support      share of all people that hold all of them
      confidence   share among those who hold ``given``
      lift         how many times as often as if they had nothing to do with each other
    """

    given: Items
    then: int
    support: BoundedEstimate
    confidence: BoundedEstimate
    lift: BoundedEstimate


def derive_rules(held: Mapping[Items, BoundedEstimate], people: int) -> list[Rule]:
    """The rules of every set of two items or more in ``held``, each of its items in turn last.

    where
      held     how many people hold each set; with a set its parts with one item less are there, and
               the sets of one item. The lower ends of sets of two items and more are above zero.
      people   how many there are

    The surest are first: by the lower end of the confidence.
    """
    known = _tighten_ends(held)
    found = [
        _derive_rule(known, together, then, people)
        for together in known
        if len(together) > 1
        for then in together
    ]
    return sorted(found, key=lambda one: (-one.confidence.lower, one.given, one.then))


def _tighten_ends(held: Mapping[Items, BoundedEstimate]) -> dict[Items, BoundedEstimate]:
    """No more people hold a set than a part of it, so that each end bounds those beside it.

    Estimates stay as they are, but within their ends.
    """
    upper = {one: ends.upper for one, ends in held.items()}
    lower = {one: ends.lower for one, ends in held.items()}
    for one in sorted(held, key=len):
        for part in _list_subsets(one):
            upper[one] = min(upper[one], upper[part])
    for one in sorted(held, key=len, reverse=True):
        for part in _list_subsets(one):
            lower[part] = max(lower[part], lower[one])
    return {
        one: BoundedEstimate(ends.estimate, lower[one], max(lower[one], upper[one]))
        for one, ends in held.items()
    }


def _list_subsets(one: Items) -> list[Items]:
    """Every part with one item less."""
    return [one[:place] + one[place + 1 :] for place in range(len(one))] if len(one) > 1 else []


def _derive_rule(
    known: Mapping[Items, BoundedEstimate], together: Items, then: int, people: int
) -> Rule:
    given = tuple(item for item in together if item != then)
    both, one, other = known[together], known[given], known[(then,)]
    confidence = BoundedEstimate(
        min(1.0, both.estimate / max(one.estimate, one.lower)),
        both.lower / one.upper,
        min(1.0, both.upper / one.lower),
    )
    lift = BoundedEstimate(
        people * both.estimate / (max(one.estimate, one.lower) * max(other.estimate, other.lower)),
        people * both.lower / (one.upper * other.upper),
        people * both.upper / (one.lower * other.lower),
    )
    support = BoundedEstimate(*(end / people for end in both))
    return Rule(given, then, support, _clamp_estimate(confidence), _clamp_estimate(lift))


def _clamp_estimate(ends: BoundedEstimate) -> BoundedEstimate:
    """An estimate stands in its interval."""
    return ends._replace(estimate=min(max(ends.estimate, ends.lower), ends.upper))
