"""Association rules with intervals: how many people who have some items also have another item.

The search for frequent item sets in ``lab.simulation.baskets`` calls ``derive_rules``. Let n be the
number of people, and z_S the number who have all items of a set S. Let b be an item of S. The rule
"people who have all other items of S also have b" has

    support z_S / n,   confidence z_S / z_{S-b},   lift n z_S / (z_{S-b} z_b).

Suppose that the intervals of all counts cover the true counts. Then each quotient is at least the
value with the lower end in the numerator and upper ends in the denominator. It is at most the value
with these ends exchanged. So the intervals of quotients hold whenever those of the counts do, for
any dependence between the estimates. They do not use this dependence, and are therefore wider than
necessary.

Source: Side Notes 002 section 5 names the task; Agrawal, Imielinski and Swami 1993 the rules.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

Items = tuple[int, ...]


class BoundedEstimate(NamedTuple):
    """An estimate and the ends of its interval, for a number or share of people or for a lift."""

    estimate: float
    lower: float
    upper: float


@dataclass(frozen=True, slots=True)
class Rule:
    """The rule that people who have all items of ``given`` also have ``then``.

    ``support`` is the share of all people who have ``given`` and ``then``. ``confidence`` is the
    share of people with ``then`` among those with all of ``given``. ``lift`` is the confidence
    divided by the share of all people with ``then``.
    """

    given: Items
    then: int
    support: BoundedEstimate
    confidence: BoundedEstimate
    lift: BoundedEstimate


def derive_rules(estimates: Mapping[Items, BoundedEstimate], people: int) -> list[Rule]:
    """Return the rules of every set of two or more items, with each item in turn as ``then``.

    Parameters
    ----------
    estimates : mapping
        For each set of items, the number of people who have the set. If a set is a key, all its
        subsets with one item less must be keys, too. The lower ends of sets with two or more items
        must be above zero.
    people : int
        The number of people.

    Returns
    -------
    list of Rule
        In descending order of the lower end of the confidence.
    """
    known = _tighten_ends(estimates)
    found = [
        _derive_rule(known, items, then, people)
        for items in known
        if len(items) > 1
        for then in items
    ]
    return sorted(found, key=lambda one: (-one.confidence.lower, one.given, one.then))


def _tighten_ends(estimates: Mapping[Items, BoundedEstimate]) -> dict[Items, BoundedEstimate]:
    """Tighten interval ends: the number of people with a set is at most that of each subset.

    Estimates change only if they are outside of their new interval.
    """
    upper = {one: ends.upper for one, ends in estimates.items()}
    lower = {one: ends.lower for one, ends in estimates.items()}
    for one in sorted(estimates, key=len):
        for part in _list_subsets(one):
            upper[one] = min(upper[one], upper[part])
    for one in sorted(estimates, key=len, reverse=True):
        for part in _list_subsets(one):
            lower[part] = max(lower[part], lower[one])
    return {
        one: BoundedEstimate(ends.estimate, lower[one], max(lower[one], upper[one]))
        for one, ends in estimates.items()
    }


def _list_subsets(one: Items) -> list[Items]:
    """Return every nonempty subset that lacks exactly one item."""
    return [one[:place] + one[place + 1 :] for place in range(len(one))] if len(one) > 1 else []


def _derive_rule(
    known: Mapping[Items, BoundedEstimate], items: Items, then: int, people: int
) -> Rule:
    """Derive one rule from the counts of its sets."""
    given = tuple(item for item in items if item != then)
    both, one, other = known[items], known[given], known[(then,)]
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
    """Move an estimate into its interval."""
    return ends._replace(estimate=min(max(ends.estimate, ends.lower), ends.upper))
