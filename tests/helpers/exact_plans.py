"""The true delta of a plan: every multiset of messages that a mix may show, in exact integers.

From the definition alone. A distribution is a dict from how often each message came, packed six
bits a message, to an integer weight. What is seen of all streams and collections is compared for
every two answers of a person, in both orders, whatever others hold.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache, reduce
from itertools import combinations, combinations_with_replacement, pairwise, permutations, product
from math import gcd, prod
from random import Random

from mixtally.accounting.plans.terms import PrivacyTerms
from mixtally.model.contract import (
    BlanksRecipe,
    Cover,
    FakeRecord,
    Part,
    Plan,
    Shape,
    UniformRecipe,
)
from mixtally.primitives.fixed_point import SCALE
from oracle import exp_exactly, total

Law = dict[int, int]
Losses = dict[tuple[int, int], int]
"""Chances of an outcome under one answer and under another, reduced, -> how much there is of it."""
NOTHING: Law = {0: 1}
MOST_CROWDS = 40
"""Of more datasets than that so many are looked at, all in which others are alike among them."""


def mixed(shares: Iterable[tuple[Law, int]]) -> Law:
    """Each law with its integer weight: all of them are brought to one total."""
    some = [(law, weight) for law, weight in shares if weight]
    every = prod({sum(law.values()) for law, _ in some})
    found: Law = {}
    for law, weight in some:
        grown = weight * (every // sum(law.values()))
        for seen, chance in law.items():
            found[seen] = found.get(seen, 0) + grown * chance
    return found


def seen(message: int) -> int:
    """One message of this number, packed."""
    return 1 << 6 * message


def directions(part: Part) -> list[tuple[int, ...]]:
    """Vectors whose first digit other than 0 is 1."""
    every = product(range(part.planes.prime), repeat=part.planes.digits)
    return [one for one in every if next((digit for digit in one if digit), 0) == 1]


def messages(part: Part) -> int:
    """Different messages of the stream."""
    if part.threshold is not None:
        return 1 << part.bins
    if part.planes is not None:
        return len(directions(part)) * part.planes.prime
    return part.bins + part.pads


def uniform(part: Part) -> Law:
    """A message in clear that is any of all, each as likely."""
    return {seen(one): 1 for one in range(messages(part))}


def in_clear(part: Part, value: int) -> Law:
    """The message of a bin: itself, or its plane in a uniform direction."""
    if part.planes is None:
        return {seen(value): 1}
    p, law = part.planes.prime, {}
    digits = [value // p**place % p for place in range(part.planes.digits)]
    for number, vector in enumerate(directions(part)):
        law[seen(number * p + sum(map(int.__mul__, vector, digits)) % p)] = 1
    return law


def flipped(part: Part, held: Iterable[int]) -> Law:
    """A string of bits of which each is flipped; what passes the cap is drawn again."""
    record = sum(1 << one for one in held)
    cap = part.bins if part.layout.cap is None else part.layout.cap
    q = Fraction(part.threshold, SCALE)
    return {
        seen(string): q.numerator ** (record ^ string).bit_count()
        * (q.denominator - q.numerator) ** (part.bins - (record ^ string).bit_count())
        for string in range(1 << part.bins)
        if string.bit_count() <= cap
    }  # fmt: skip


def held(part: Part) -> list[tuple[int, ...]]:
    """All that a person may hold; with a slot for each bit, one of its two bins."""
    if part.is_full:
        return list(product(*((2 * bit, 2 * bit + 1) for bit in range(part.most_set))))
    most = part.bins if part.most_set is None else part.most_set
    least = 1 if most == 1 and part.most_set else 0
    return [c for size in range(least, most + 1) for c in combinations(range(part.bins), size)]


def sent(part: Part, contents: tuple[int, ...]) -> Law:
    """What a record adds to what is seen."""
    if part.threshold is not None:
        return total([flipped(part, contents)] * part.repeats)
    if part.most_set > 1:
        pads = range(part.bins, part.bins + part.most_set - len(contents))
        if part.slots is not None:
            drawn = list(combinations((*contents, *pads), part.slots))
            return {sum(map(seen, cells)): 1 for cells in drawn}
        return total([named(part, {seen(one): 1}) for one in (*contents, *pads)])
    return named(part, in_clear(part, contents[0]))


def named(part: Part, own: Law) -> Law:
    """A message of one's own, or any in its place."""
    if part.replaced is None:
        return own
    return mixed([(own, SCALE - part.replaced), (uniform(part), part.replaced)])


def records(part: Part, *, rounded: bool) -> list[Law]:
    """What any record adds; of numbers also what some between two points of the grid do."""
    found = [sent(part, one) for one in held(part)]
    if rounded:
        between = [(1, 1), (2, 1), (1, 5)]
        pairs = list(pairwise(found))
        found += [
            mixed(zip(pair, share, strict=True))
            for pair, share in zip(pairs, between, strict=False)
        ]
    return found


def fakes(part: Part, people: int) -> Law:
    """All fakes that are counted on: of so many people, or of one mix."""
    if isinstance(part.recipe, UniformRecipe):
        return total([uniform(part)] * part.recipe.count)
    if isinstance(part.recipe, BlanksRecipe):
        return total([flipped(part, ())] * part.recipe.count)
    if part.own is None:
        return NOTHING
    if part.threshold is None:
        one = uniform(part)
    elif part.own.record is FakeRecord.UNIFORM:
        one = mixed([(flipped(part, (bin_,)), 1) for bin_ in range(part.bins)])
    else:
        one = flipped(part, ())
    coin = Fraction(part.own.coin, SCALE)
    maybe = mixed([(NOTHING, coin.denominator - coin.numerator), (one, coin.numerator)])
    return total([*[one] * part.own.whole, maybe] * people)


def losses(one: Law, other: Law) -> Losses:
    """Of two distributions, by what is the same."""
    of_one, of_other = sum(one.values()), sum(other.values())
    shared = gcd(of_one, of_other)
    found: Losses = {}
    for key in one.keys() | other.keys():
        p, q = one.get(key, 0) * (of_other // shared), other.get(key, 0) * (of_one // shared)
        many = gcd(p, q)
        if not many:  # a table may name numbers that are never drawn
            continue
        pair = (p // many, q // many)
        found[pair] = found.get(pair, 0) + many
    return found


def both(one: Losses, other: Losses) -> Losses:
    """Two independent observations."""
    found: Losses = {}
    for (p, q), many in one.items():
        for (r, s), more in other.items():
            a, b = p * r, q * s
            shared = gcd(a, b)
            if shared:
                pair = (a // shared, b // shared)
                found[pair] = found.get(pair, 0) + shared * many * more
    return found


def delta_of(found: Losses, grow: Fraction) -> Fraction:
    """sum of (P - e^epsilon Q)_+."""
    a, b = grow.denominator, grow.numerator
    whole = sum(p * many for (p, _), many in found.items())
    gain = sum((a * p - b * q) * many for (p, q), many in found.items() if a * p > b * q)
    return Fraction(gain, a * whole)


def crowds(answers: list[Law], others: int, draw: Random) -> Iterator[tuple[Law, ...]]:
    """What others send: every dataset of them, or some of very many."""
    every = list(combinations_with_replacement(range(len(answers)), others))
    if len(every) > MOST_CROWDS:
        alike = [one for one in every if len(set(one)) == 1]
        every = [*alike, *draw.sample(every, MOST_CROWDS)]
    return (tuple(answers[one] for one in crowd) for crowd in every)


def between_cells(part: Part) -> list[Losses]:
    """All pairs of records in clear among shaped fakes, whose cells are independent.

    Among paired fakes the first cell says all.
    """
    weights = part.recipe.weights
    if part.recipe.paired:
        law = dict(enumerate(weights))
        more = {many + 1: weight for many, weight in law.items()}
        return [losses(law, more), losses(more, law)]

    @cache
    def counted(own: int) -> Law:
        return {many + own: weight for many, weight in enumerate(weights) if weight}

    pairs = set()
    for one, other in permutations([next(iter(sent(part, c))) for c in held(part)], 2):
        cells = [(one >> 6 * cell & 63, other >> 6 * cell & 63) for cell in range(messages(part))]
        pairs.add(tuple(sorted((has, had) for has, had in cells if has != had)))
    return [
        reduce(both, [losses(counted(has), counted(had)) for has, had in pair])
        for pair in sorted(pairs)
    ]


def streams(
    part: Part, people: int, draw: Random, *, count_flips: bool, rounded: bool
) -> list[Losses]:
    """All that one message of the part may tell of any two answers among any crowd."""
    if isinstance(part.recipe, Shape):
        return between_cells(part)
    answers = records(part, rounded=rounded)
    hiding = fakes(part, people)
    around = crowds(answers, people - 1, draw) if count_flips else [()]
    found = []
    for crowd in around:
        background = total([hiding, *crowd])
        shown = [total([background, own]) for own in answers]
        found += [losses(*pair) for pair in permutations(shown, 2)]
    return different(found)


def different(several: list[Losses]) -> list[Losses]:
    """Each once."""
    return list({frozenset(one.items()): one for one in several}.values())


def honest_people(plan: Plan) -> int:
    """The share of the least crowd that is honest, rounded down; nobody where mixes cover."""
    if plan.cover is Cover.MIXES:
        return 0
    return int(Fraction(repr(plan.honest_share)) * plan.minimum_crowd)


def true_delta(plan: Plan, draw: Random) -> Fraction:
    """The largest over answers, crowds and directions, of all parts and collections together."""
    terms = replace(PrivacyTerms.of(plan), people=honest_people(plan))
    return true_sum(terms, draw=draw, rounded=plan.grid is not None)


def true_sum(
    *several: PrivacyTerms,
    epsilon: float | None = None,
    draw: Random | None = None,
    rounded: bool = False,
) -> Fraction:
    """The same of several plans together, at the epsilon of the first unless one is given."""
    grow = exp_exactly(several[0].guarantee.epsilon if epsilon is None else epsilon)
    worst: list[Losses] = [{(1, 1): 1}]
    for terms in several:
        given = {"count_flips": terms.count_flips, "rounded": rounded}
        for part in terms.parts:
            each = streams(part, terms.people, draw or Random(0), **given)
            for _ in range(terms.collections):
                worst = different([both(one, more) for one in worst for more in each])
    return max(delta_of(one, grow) for one in worst)
