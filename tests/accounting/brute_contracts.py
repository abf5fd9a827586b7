"""Divergences of whole contracts by enumeration: coins, caps, recipes, repeats, parts and
collections.

From the definition alone: what one part shows is how often each message came, and with it how many
came. Everything that others add independently is post-processing. Sums of some thousand positive
terms: the last three digits may be wrong.
"""

import math
from itertools import combinations, product
from math import comb

from mixtally.accounting.plans.terms import PrivacyTerms
from mixtally.model.contract import BlanksRecipe, FakeRecord, Part, Shape
from mixtally.primitives.fixed_point import SCALE

Law = dict[tuple[int, ...], float]


def message(part: Part, contents: tuple[int, ...]) -> Law:
    """Which message a record of these bins becomes, one of all strings of bits."""
    if part.threshold is None:
        return {_seen(part, sum(1 << one for one in contents)): 1.0}
    held, flip = sum(1 << one for one in contents), part.threshold / SCALE
    cap = part.bins if part.layout.cap is None else part.layout.cap
    law = {}
    for string in range(1 << part.bins):
        if string.bit_count() <= cap:  # what has more is drawn again
            flips = (string ^ held).bit_count()
            law[_seen(part, string)] = flip**flips * (1 - flip) ** (part.bins - flips)
    total = sum(law.values())
    return {seen: chance / total for seen, chance in law.items()}


def _seen(part: Part, string: int) -> tuple[int, ...]:
    return tuple(int(other == string) for other in range(1 << part.bins))


def added(one: Law, other: Law) -> Law:
    """The law of the sum of two independent vectors."""
    total: Law = {}
    for seen, chance in one.items():
        for more, share in other.items():
            both = tuple(map(int.__add__, seen, more))
            total[both] = total.get(both, 0.0) + chance * share
    return total


def times(law: Law, count: int, start: Law) -> Law:
    """``start`` and ``count`` independent draws of ``law``."""
    for _ in range(count):
        start = added(start, law)
    return start


def fake(part: Part) -> Law:
    """One fake of a device, or one blank of a hop."""
    if part.own is None or part.own.record is FakeRecord.BLANK:
        return message(part, ())
    mixed: Law = {}
    for one in range(part.bins):
        for seen, chance in message(part, (one,)).items():
            mixed[seen] = mixed.get(seen, 0.0) + chance / part.bins
    return mixed


def cover(part: Part, people: int) -> Law:
    """All fakes that are counted on."""
    nothing: Law = {(0,) * (1 << part.bins): 1.0}
    if isinstance(part.recipe, BlanksRecipe):
        return times(fake(part), part.recipe.count, nothing)
    if isinstance(part.recipe, Shape):
        law = nothing
        for one in range(part.bins):
            bin_law = {
                tuple(k * c for c in _seen(part, 1 << one)): weight / SCALE
                for k, weight in enumerate(part.recipe.weights)
            }
            law = added(law, bin_law)
        return law
    if part.own is None:
        return nothing
    phi, mixed = part.own.coin / SCALE, {}
    law = times(fake(part), people * part.own.whole, nothing)
    for shown in range(people + 1):
        chance = comb(people, shown) * phi**shown * (1 - phi) ** (people - shown)
        for seen, share in law.items():
            mixed[seen] = mixed.get(seen, 0.0) + chance * share
        law = added(law, fake(part))
    return mixed


def records(part: Part) -> list[tuple[int, ...]]:
    """Everything that a person may hold."""
    most = part.bins if part.most_set is None else part.most_set
    least = 1 if part.most_set == 1 else 0
    return [c for size in range(least, most + 1) for c in combinations(range(part.bins), size)]


def one_way(one: Law, other: Law, grow: float) -> float:
    """sum of (P - e^epsilon Q)_+ over all outcomes."""
    return math.fsum(max(0.0, p - grow * other.get(seen, 0.0)) for seen, p in one.items())


def laws(part: Part, terms: PrivacyTerms) -> list[list[Law]]:
    """For every crowd that may be around: what is seen for each record of the person."""
    hiding = cover(part, terms.people)
    crowds: list[tuple[tuple[int, ...], ...]] = [()]
    if terms.count_flips:
        crowds = list(product(records(part), repeat=terms.people - 1))
    found = []
    for crowd in crowds:
        around = hiding
        for held in crowd:
            around = times(message(part, held), part.repeats, around)
        found.append([times(message(part, held), part.repeats, around) for held in records(part)])
    return found


def joint(several: list[Law]) -> Law:
    """Independent observations side by side."""
    total = several[0]
    for law in several[1:]:
        total = {
            seen + more: chance * share
            for seen, chance in total.items()
            for more, share in law.items()
        }
    return total


def delta(*several: PrivacyTerms, epsilon: float | None = None) -> float:
    """The true delta of all parts and collections: over all answers, crowds and directions."""
    grow = math.exp(several[0].guarantee.epsilon if epsilon is None else epsilon)
    every = [
        laws(part, terms)
        for terms in several
        for part in terms.parts
        for _ in range(terms.collections)
    ]
    worst = 0.0
    for crowds in product(*every):
        pairs = [[(u, v) for u in crowd for v in crowd] for crowd in crowds]
        for answers in product(*pairs):
            one, other = joint([u for u, _ in answers]), joint([v for _, v in answers])
            worst = max(worst, one_way(one, other, grow))
    return worst
