"""Small random plans of every mechanism, whose outcomes can all be enumerated."""

from collections.abc import Callable
from random import Random

from msgspec.structs import replace

from accounting import random_contracts
from helpers import contracts as c
from mixtally.model.contract import FakeRecord, OwnFakes, Part, Plan, UniformRecipe
from mixtally.model.grid import Grid
from mixtally.model.question import Kind, Question, make_attributes_question
from mixtally.model.shape import ratio_of
from mixtally.primitives.fixed_point import SCALE

Made = tuple[Part, ...]
FINE = (SCALE // 3, SCALE - 1, 12345678901234567890)
"""Coins and shares of 64 bits."""


def several(seed: int, count: int, *names: str) -> list[tuple[str, Plan]]:
    """``count`` of them, each with its mechanism, all or those ``names`` in turn."""
    draw, names = Random(seed), names or tuple(MECHANISMS)
    return [(names[i % len(names)], plan(draw, names[i % len(names)])) for i in range(count)]


def plan(draw: Random, name: str) -> Plan:
    """One of the mechanism: users, least crowd, honest share, hops and epsilon are random too."""
    people, grid, collections = draw.choice((2, 2, 3, 4)), None, 1
    parts = MECHANISMS[name](draw, people)
    if name in SMALL_ENOUGH and draw.random() < 0.3:
        parts, people, collections = MECHANISMS[name](Random(draw.random()), 0), 2, 2
        if draw.random() < 0.3:
            parts, collections = (parts[0], replace(parts[0])), 1
    question = question_of(draw, parts, name)
    if question.kind is Kind.ONE and name != "flips" and draw.random() < 0.2:
        grid = Grid(low=-1.0, high=3.5, points=question.bins)
    crowd, share = honest(draw, people)
    return c.plan_of(
        question,
        parts,
        epsilon=draw.choice((0.02, 0.3, 1.0, round(draw.uniform(0.01, 4.0), 3))),
        users=crowd + draw.randint(0, 5),
        minimum_crowd=crowd,
        honest_share=share,
        collections=collections,
        grid=grid,
        hops=draw.randint(1, 5),
        count_flips=name in COUNTED,
    )


def honest(draw: Random, people: int) -> tuple[int, float]:
    """A least crowd and a share of it that are so many honest people."""
    while True:
        crowd, share = draw.randint(people, 2 * people + 2), draw.randint(20, 100) / 100
        if int(crowd * round(100 * share) // 100) == people:
            return crowd, share


def question_of(draw: Random, parts: Made, name: str) -> Question:
    """One whose parts these are."""
    first = parts[0]
    if len(parts) > 1:
        if first.most_set is None:
            return Question(name="q", bins=len(parts), kind=Kind.BITS)
        return make_attributes_question("q", tuple(part.bins for part in parts))
    if first.most_set is None:
        return Question(name="q", bins=first.bins, kind=Kind.BITS)
    if first.is_full:
        return Question(name="q", bins=first.most_set, kind=Kind.BITS)
    if first.most_set > 1:
        return Question(name="q", bins=first.bins, kind=Kind.SET, max_set=first.most_set)
    return Question(name="q", bins=first.bins)


def coin(draw: Random) -> int:
    """A chance of one more, of few digits or of all."""
    return draw.choice((draw.randint(1, 15) << 60, *FINE))


def own(draw: Random, most: int) -> dict[str, int]:
    """Fakes of a device, of so many whole ones at most."""
    whole = draw.randint(0, most)
    return {"whole": whole, "coin": draw.choice((0, coin(draw))) if whole else coin(draw)}


def share(draw: Random) -> int:
    """The chance of a replaced value."""
    return draw.choice((draw.randint(1, 15) << 60, SCALE >> 6, SCALE - (SCALE >> 5), *FINE))


def fake(draw: Random, most: int) -> OwnFakes:
    return OwnFakes(FakeRecord.UNIFORM, **own(draw, most))


def uniform(draw: Random, people: int) -> Made:
    bins = draw.randint(2, 4) if people else 2
    return (c.uniform(bins, **own(draw, 2 if people == 2 else 1 if people else 0)),)


def uniform_by_mixes(draw: Random, people: int) -> Made:
    bins, drawn = draw.randint(2, 4) if people else 2, draw.randint(1, 8 if people else 3)
    return (replace(c.uniform(bins), own=None, recipe=UniformRecipe(drawn)),)


def planes(draw: Random, people: int) -> Made:
    bins, prime = family(draw, people) if people < 4 else (4, 2)
    return (c.over_planes(bins, prime, **own(draw, int(bins <= 4 and people == 2))),)


def planes_by_mixes(draw: Random, people: int) -> Made:
    bins, prime = family(draw, people)
    most = {2: 6 if bins <= 4 else 3, 3: 4, 5: 2}[prime] if people else 2
    return (c.over_planes(bins, prime, drawn=draw.randint(1, most)),)


def family(draw: Random, people: int) -> tuple[int, int]:
    """Bins and a prime below them."""
    if not people:
        return draw.choice(((3, 2), (4, 2)))
    return draw.choice(((3, 2), (4, 2), (5, 2), (7, 2), (8, 2), (4, 3), (9, 3), (6, 5)))


def sets(draw: Random, people: int) -> Made:
    sizes = ((2, 2), (3, 2), (4, 2), (4, 2), (5, 2), (3, 3)) if people else ((2, 2), (3, 2))
    bins, most = draw.choice(sizes)
    return (c.uniform(bins, most_set=most, **own(draw, {2: 4, 3: 2}.get(people, 1))),)


def slots(draw: Random, people: int) -> Made:
    """Of a set and its pads, or of bits, which have two bins each."""
    if draw.random() < 0.5:
        bins, most, full = draw.choice(((2, 2, False), (3, 2, False), (3, 3, False)))
    else:
        bins, most, full = draw.choice(((4, 2, True), (6, 3, True)))
    given = own(draw, int(people == 2 and bins < 6))
    return (c.sampled(bins, most, draw.randint(1, most - 1), **given, full=full),)


def slots_by_mixes(draw: Random, people: int) -> Made:
    bins, most, full = draw.choice(((2, 2, False), (3, 2, False), (4, 2, True), (6, 3, True)))
    drawn = draw.randint(1, 4 if bins < 6 and people else 2)
    return (c.sampled(bins, most, full=full, drawn=drawn),)


def laplace(draw: Random, people: int) -> Made:
    if not people:
        return (c.shaped(2, ratio=draw.choice((SCALE >> 12, 7 << 51)), shift=draw.randint(1, 2)),)
    ratio = draw.choice((draw.randint(1, SCALE >> 4), ratio_of(draw.uniform(0.4, 3.0))))
    return (c.shaped(draw.randint(2, 5), ratio=ratio, shift=draw.randint(1, 25)),)


def gaussian(draw: Random, people: int) -> Made:
    if not people:
        return (c.gaussian(2, variance=1, shift=draw.randint(1, 2)),)
    variance, shift = draw.randint(1, 40), draw.randint(1, 30)
    return (c.gaussian(draw.randint(2, 5), variance=variance, shift=shift),)


def paired(draw: Random, people: int) -> Made:
    if draw.random() < 0.5:
        return (c.paired_gaussian(variance=1, shift=draw.randint(1, 3)),)
    shift = draw.randint(1, 25 if people else 3)
    return (c.paired(ratio=ratio_of(draw.uniform(0.4, 3.0)), shift=shift),)


def sets_among_shapes(draw: Random, people: int) -> Made:
    bins, most = draw.choice(((2, 2), (3, 2), (5, 2), (3, 3)))
    shift = draw.randint(1, 4 if most == 2 else 2)
    if draw.random() < 0.5 and most == 2:
        return (c.gaussian(bins, variance=1, shift=min(shift, 2), most_set=most),)
    ratio = draw.choice((SCALE >> 10, SCALE >> 13)) if most == 2 else SCALE >> 21
    return (c.shaped(bins, ratio=ratio | 5, shift=shift, most_set=most),)


def replaced(draw: Random, people: int) -> Made:
    bins = draw.randint(2, 4) if people else 2
    return (replace(c.replaced(bins), replaced=share(draw)),)


def replaced_among_fakes(draw: Random, people: int) -> Made:
    bins, most = draw.randint(2, 4) if people else 2, int(people in (2, 3))
    return (replace(c.replaced(bins, own=fake(draw, most)), replaced=share(draw)),)


def replaced_over_planes(draw: Random, people: int) -> Made:
    bins, prime = draw.choice(((3, 2), (4, 2)))
    if people == 2:
        bins, prime = draw.choice(((3, 2), (4, 2), (6, 2), (8, 2), (4, 3), (9, 3)))
    part = replace(c.over_planes(bins, prime), own=None, replaced=share(draw))
    if prime == 2 and bins <= 4 and people == 2 and draw.random() < 0.5:
        part = replace(part, own=fake(draw, 0))
    return (part,)


def replaced_sets(draw: Random, people: int) -> Made:
    """Of two people some beside fakes; of more the fewest cells."""
    bins = draw.choice((2, 3)) if people == 2 else 2
    given = fake(draw, int(bins == 2)) if people == 2 and draw.random() < 0.4 else None
    return (replace(c.replaced(bins, most_set=2, own=given), replaced=share(draw)),)


def flips(draw: Random, people: int) -> Made:
    return (random_contracts.part(draw, "flips", small=people > 2),)


def flips_among_fakes(draw: Random, people: int) -> Made:
    kind = draw.choice(("own", "own-bit"))
    return (random_contracts.part(draw, kind, small=people > 2),)


def blanks_by_mixes(draw: Random, people: int) -> Made:
    return (random_contracts.part(draw, draw.choice(("blanks", "bit")), small=people > 2),)


MECHANISMS: dict[str, Callable[[Random, int], Made]] = {
    "clear-uniform of people": uniform,
    "clear-uniform of mixes": uniform_by_mixes,
    "planes of people": planes,
    "planes of mixes": planes_by_mixes,
    "sets among uniform": sets,
    "slots of people": slots,
    "slots of mixes": slots_by_mixes,
    "sets among shapes": sets_among_shapes,
    "Laplace, one cut": laplace,
    "Gaussian": gaussian,
    "paired": paired,
    "k-ary": replaced,
    "k-ary among fakes": replaced_among_fakes,
    "k-ary over planes": replaced_over_planes,
    "k-ary sets": replaced_sets,
    "flips": flips,
    "flips among fakes": flips_among_fakes,
    "blanks of mixes": blanks_by_mixes,
}
COUNTED = {"k-ary", "k-ary among fakes", "k-ary over planes", "k-ary sets", "flips"}
"""Where other people's own noise is part of the cover."""
SMALL_ENOUGH = {
    "clear-uniform of people", "clear-uniform of mixes", "planes of mixes", "Laplace, one cut",
    "Gaussian", "k-ary", "k-ary among fakes",
}  # fmt: skip
"""Two of them, in turn or side by side, can still be enumerated."""
