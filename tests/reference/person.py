"""One person's messages under a contract, and one hop's fakes, word by word as SPEC.md has them.

The reference for clients: given the same words they give the same bytes. Batches (``messages``)
have the same distribution and use words otherwise.
"""

from collections.abc import Callable, Sequence
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from mixtally.model.contract import (
    BlanksRecipe,
    FakeRecord,
    Part,
    Plan,
    Recipe,
    Shape,
    UniformRecipe,
)
from mixtally.model.layout import Form, Layout
from mixtally.model.planes import plane_messages
from mixtally.primitives.bits import Rows
from mixtally.primitives.chance import Chance
from mixtally.primitives.wide import draw_numbers, make_numbers


def person_messages(
    plan: Plan, answer: Callable[[Chance], Sequence[Sequence[int]]], chance: Chance
) -> list[list[bytes]]:
    """The messages of one person, a list for each part, in random order among themselves.

    where
      answer   for each part the bins that the record sets, where numbers are rounded by chance
    """
    many = [_fakes(part, chance) for part in plan.parts]
    records = answer(chance)
    sent: list[list[bytes]] = []
    for part, bins, fakes in zip(plan.parts, records, many, strict=True):
        sent.append(_record(part, bins, chance))
        for _ in range(fakes):
            uniform = part.own is not None and part.own.record is FakeRecord.UNIFORM
            content = draw_numbers(chance, part.layout.bins, 1) if uniform else []
            sent[-1].append(_fake(part, content, chance))
    return [_in_order(several, chance) for several in sent]


def hop_fakes(recipe: Recipe, layout: Layout, chance: Chance) -> list[bytes]:
    """What a hop adds, in the order in which it is drawn.

    Shaped fakes take one word a bin, or one for both if they are paired; blanks one word a bit.
    """
    if isinstance(recipe, Shape):
        ends = [sum(recipe.weights[: k + 1]) for k in range(len(recipe.weights))]
        sent: list[bytes] = []
        for place, word in enumerate(chance.words(1 if recipe.paired else layout.bins).tolist()):
            count = sum(end <= word for end in ends)
            if recipe.paired:
                both = np.repeat([0, 1], [count, 2 * recipe.shift - count])
                return [layout.rows(both[[at]]).tobytes() for at in range(len(both))]
            sent += [layout.rows(np.array([place])).tobytes()] * count
        return sent
    if isinstance(recipe, BlanksRecipe):
        return [_flipped(layout, [], recipe.threshold, chance) for _ in range(recipe.count)]
    if isinstance(recipe, UniformRecipe):
        every = [draw_numbers(chance, layout.bins, 1) for _ in range(recipe.count)]
        return [layout.rows(one).tobytes() for one in every]
    return []


def _fakes(part: Part, chance: Chance) -> int:
    if part.own is None:
        return 0
    return part.own.whole + int(int(chance.words(1)[0]) < part.own.coin)


def _record(part: Part, bins: Sequence[int], chance: Chance) -> list[bytes]:
    if part.threshold is None and part.most_set != 1:
        lacking = (part.most_set or 0) - len(bins)
        cells = [*sorted(bins), *range(part.bins, part.bins + lacking)]
        if part.planes is not None:
            return _set(part, cells, chance)
        if part.slots is not None:
            cells = _slots(cells, part.slots, chance)
        return [_message(part, [cell], chance) for cell in cells]
    return [_message(part, bins, chance) for _ in range(part.repeats)]


def _slots(cells: list[int], count: int, chance: Chance) -> list[int]:
    """The first of the cells, each exchanged with one of those from it on."""
    left, sent = list(cells), []
    for _ in range(count):
        place = int(draw_numbers(chance, len(left), 1)[0])
        sent.append(left[place])
        left[place] = left[0]  # what stood first takes the place of what is sent
        del left[0]
    return sent


def _fake(part: Part, content: Sequence[int], chance: Chance) -> bytes:
    if part.threshold is None:
        return part.layout.rows(np.array(content)).tobytes()
    return _flipped(part.layout, content, part.threshold, chance)


def _message(part: Part, bins: Sequence[int], chance: Chance) -> bytes:
    if part.replaced is not None and int(chance.words(1)[0]) < part.replaced:
        return part.layout.rows(draw_numbers(chance, part.layout.bins, 1)).tobytes()
    if part.planes is not None:
        number = draw_numbers(chance, part.planes.device_planes.directions, 1)
        p, digits = part.planes.prime, part.planes.digits
        point = np.array([_point(bins[0], part.bins, p, digits)])
        return part.layout.rows(plane_messages(point, number, p, digits)).tobytes()
    return _fake(part, bins, chance)


def _point(number: int, values: int, prime: int, digits: int) -> int:
    """Permute the number of a label, and move its last digit by the square of its first."""
    if values > 10**7:
        return number
    side = next(one for one in range(1, values) if one * one >= values)
    while True:
        for one in range(6):
            text = b"mixtally point %d %d %d" % (one, values, number // side)
            shift = int.from_bytes(sha256(text).digest(), "big")
            number = (number % side + shift) % side * side + number // side
        if number < values:
            break
    unit = prime ** (digits - 1)
    last = (number // unit + pow(number % prime, 2)) % prime
    return number % unit + last * unit


def _set(part: Part, cells: Sequence[int], chance: Chance) -> list[bytes]:
    """Planes of the points of a set, none of which holds two of them."""
    p, digits = part.planes.prime, part.planes.digits
    hashed = [int.from_bytes(sha256(b"%d" % cell).digest(), "big") for cell in cells]
    points = make_numbers((one % p**digits for one in hashed), p**digits)
    if part.bins == p**digits:
        points = np.where(np.array(cells) < part.bins, cells, points)
    assert len({*points.tolist()}) == len(points)
    sent = []
    for place in range(len(points)):
        if part.replaced is not None and int(chance.words(1)[0]) < part.replaced:
            sent.append(part.layout.rows(draw_numbers(chance, part.layout.bins, 1)).tobytes())
            continue
        held = 0
        while held != 1:
            number = np.repeat(
                draw_numbers(chance, part.planes.device_planes.directions, 1), len(points)
            )
            named = plane_messages(points, number, p, digits)
            held = int((named == named[place]).sum())
        sent.append(part.layout.rows(named[[place]]).tobytes())
    return sent


def _flipped(layout: Layout, bins: Sequence[int], threshold: int, chance: Chance) -> bytes:
    record = np.zeros(layout.bins, dtype=np.bool_)
    record[list(bins)] = True
    while True:
        sent = record ^ (chance.words(layout.bins) < np.uint64(threshold))
        if layout.cap is None or np.count_nonzero(sent) <= layout.cap:
            return _row(layout, sent).tobytes()


def _row(layout: Layout, ones: NDArray[np.bool_]) -> Rows:
    if layout.form is Form.BITS:
        return np.packbits(ones, bitorder="little")
    named = np.flatnonzero(ones)
    return layout.write_positions(np.zeros(len(named), dtype=np.int64), named, 1)


def _in_order(several: list[bytes], chance: Chance) -> list[bytes]:
    """Fisher-Yates, from the last place down."""
    order = list(several)
    for last in range(len(order) - 1, 0, -1):
        other = int(draw_numbers(chance, last + 1, 1)[0])
        order[last], order[other] = order[other], order[last]
    return order
