"""Small random stakes of every kind that can be enumerated."""

from random import Random

from mixtally.ground.fixed import SCALE
from mixtally.privacy.terms import Stake
from mixtally.records.contract import (
    BlanksRecipe,
    FakeRecord,
    NoRecipe,
    OwnFakes,
    Part,
    ShapedRecipe,
)
from mixtally.records.guarantee import Guarantee
from mixtally.records.layout import Form, Layout

EPSILONS = (0.05, 0.3, 1.0, 2.5)


def stakes(seed: int, count: int) -> list[Stake]:
    """``count`` of them; the same for the same seed."""
    draw = Random(seed)
    return [stake(draw) for _ in range(count)]


def stake(draw: Random) -> Stake:
    """One, of two or three bins, with one or two messages."""
    kind = draw.choice(("shaped", "blanks", "bit", "uniform", "own", "own-bit", "flips", "both"))
    people = draw.randint(2, 3)
    crowd = kind in ("flips", "both")
    parts = 1 if crowd else draw.choice((1, 1, 2))
    collections = 1 if parts == 2 or crowd else draw.choice((1, 1, 2))
    small = parts * collections > 1
    by_mixes = kind in ("shaped", "blanks", "bit")
    guarantee = Guarantee(epsilon=draw.choice(EPSILONS), delta=0.1)
    made = tuple(part(draw, kind, small=small) for _ in range(parts))
    return Stake(made, guarantee, collections, 0 if by_mixes else people, crowd, 3)


def part(draw: Random, kind: str, *, small: bool) -> Part:
    """A part of two bins where several are enumerated together."""
    bins = 1 if kind in ("bit", "own-bit") else 2 if small else draw.randint(2, 3)
    threshold = draw.choice((SCALE // 1000, SCALE // 50, SCALE // 7, SCALE // 3))
    if kind in ("shaped", "uniform"):
        recipe = ShapedRecipe(draw.choice((SCALE // 20, SCALE // 3, SCALE - 1)), 1)
        return Part(
            bins=bins,
            most_set=1,
            threshold=None,
            own=_own(draw, FakeRecord.UNIFORM, small=small) if kind == "uniform" else None,
            recipe=recipe if kind == "shaped" else NoRecipe(),
            layout=Layout(Form.INDEX, bins),
        )
    free = bins == 1 or (kind == "flips" and draw.random() < 0.5)
    most = None if free else draw.choice((1, 1, 2))
    own = None
    if kind in ("own", "own-bit", "both"):
        uniform = kind == "own" and most == 1 and not small and draw.random() < 0.4
        record = FakeRecord.UNIFORM if uniform else FakeRecord.BLANK
        own = _own(draw, record, small=small or kind == "both")
    return Part(
        bins=bins,
        most_set=most,
        threshold=threshold,
        own=own,
        recipe=BlanksRecipe(draw.randint(1, 2 if small else 4), threshold)
        if kind in ("blanks", "bit")
        else NoRecipe(),
        layout=_layout(draw, bins, most),
    )


def _own(draw: Random, record: FakeRecord, *, small: bool) -> OwnFakes:
    whole = draw.randint(0, 0 if small else 1)
    coin = draw.choice((0, SCALE // 5, SCALE // 2, SCALE - 1))
    return OwnFakes(record, whole, coin if whole or coin else SCALE // 5)


def _layout(draw: Random, bins: int, most: int | None) -> Layout:
    least = bins if most is None else most
    cap = draw.choice([None, *range(least, bins + 1)])
    if cap is not None and draw.random() < 0.5 and bins > 1:
        return Layout(Form.POSITIONS, bins, cap=cap)
    return Layout(Form.BITS, bins, cap=cap)
