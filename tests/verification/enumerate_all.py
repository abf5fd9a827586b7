"""What an observer of shuffled messages sees, multiset by multiset, in fractions.

A law is a dict from a message, a tuple of bits, to its chance.
"""

from collections import defaultdict
from fractions import Fraction
from itertools import product

from oracle import exp_exactly

SCALE = 1 << 64


def flipped(record, threshold, cap=None):
    """The law of a flipped record, given that it has at most ``cap`` ones."""
    q = Fraction(threshold, SCALE)
    law = {}
    for seen in product((0, 1), repeat=len(record)):
        chance = Fraction(1)
        for held, shown in zip(record, seen, strict=True):
            chance *= q if held != shown else 1 - q
        law[seen] = chance
    if cap is None:
        return law
    kept = {seen: chance for seen, chance in law.items() if sum(seen) <= cap}
    total = sum(kept.values())
    return {seen: chance / total for seen, chance in kept.items()}


def hot(place, bins):
    return tuple(int(i == place) for i in range(bins))


def uniform(bins):
    return {hot(place, bins): Fraction(1, bins) for place in range(bins)}


def bag(laws):
    """Multisets of one message of each of ``laws``, and their chances."""
    seen = {(): Fraction(1)}
    for law in laws:
        longer = defaultdict(Fraction)
        for messages, chance in seen.items():
            for message, share in law.items():
                longer[tuple(sorted((*messages, message)))] += chance * share
        seen = longer
    return seen


def mixed(*weighted):
    """The mixture of distributions given as (chance, distribution)."""
    found = defaultdict(Fraction)
    for weight, law in weighted:
        for outcome, chance in law.items():
            found[outcome] += weight * chance
    return found


def delta(first, second, epsilon):
    """The hockey-stick divergence, the larger of both directions, to 50 digits."""
    return max(one_way(first, second, epsilon), one_way(second, first, epsilon))


def one_way(first, second, epsilon):
    grow = exp_exactly(epsilon)
    return sum(
        max(Fraction(0), first.get(key, 0) - grow * second.get(key, 0))
        for key in first.keys() | second.keys()
    )


def by_coins(people, whole, coin, law, person):
    """What is seen when each of ``people`` sends ``whole`` fakes and one more by a coin."""
    phi = Fraction(coin, SCALE)
    several = []
    for heads in product((0, 1), repeat=people):
        chance = Fraction(1)
        for head in heads:
            chance *= phi if head else 1 - phi
        several.append((chance, bag([law] * (people * whole + sum(heads)) + [person])))
    return mixed(*several)
