"""Small random terms of every kind that can be enumerated."""

from random import Random

from mixtally.accounting.plans.terms import PrivacyTerms
from mixtally.model.contract import BlanksRecipe, FakeRecord, LaplaceShape, NoRecipe, OwnFakes, Part
from mixtally.model.guarantee import Guarantee
from mixtally.model.layout import Form, Layout
from mixtally.primitives.fixed_point import SCALE

EPSILONS = (0.05, 0.3, 1.0, 2.5)
BY_MIXES = ("shaped", "blanks", "bit")
BY_PEOPLE = ("uniform", "own", "own-bit", "alone")


def several_terms(seed: int, count: int) -> list[PrivacyTerms]:
    """``count`` of them; the same for the same seed."""
    draw = Random(seed)
    return [terms(draw) for _ in range(count)]


def terms(draw: Random) -> PrivacyTerms:
    """Some, of two or three bins, with one or two messages, behind one mix to five."""
    kind = draw.choice((*BY_MIXES, *BY_PEOPLE, "flips", "flips", "both"))
    people = draw.randint(2, 3)
    crowd = kind in ("flips", "both")
    kinds = [kind]
    if not crowd and draw.random() < 0.35:
        kinds.append(draw.choice(BY_MIXES if kind in BY_MIXES else BY_PEOPLE))
    collections = 1 if len(kinds) == 2 or crowd else draw.choice((1, 1, 2))
    small = len(kinds) * collections > 1
    guarantee = Guarantee(epsilon=draw.choice(EPSILONS), delta=0.1)
    made = tuple(part(draw, one, small=small) for one in kinds)
    honest = 0 if kind in BY_MIXES else people
    return PrivacyTerms(made, guarantee, collections, honest, crowd, draw.randint(1, 5))


def part(draw: Random, kind: str, *, small: bool) -> Part:
    """A part of two bins where several are enumerated together."""
    repeats = draw.randint(2, 3) if kind in ("flips", "alone") and draw.random() < 0.4 else 1
    small = small or repeats > 1
    bins = 1 if kind in ("bit", "own-bit") else 2 if small else draw.randint(2, 3)
    threshold = draw.choice((SCALE // 1000, SCALE // 50, SCALE // 7, SCALE // 3))
    if kind in ("shaped", "uniform"):
        recipe = LaplaceShape(draw.choice((SCALE >> 22, SCALE >> 25, SCALE >> 33)), 1)
        return Part(
            bins=bins,
            most_set=1,
            threshold=None,
            own=_own(draw, FakeRecord.UNIFORM, small=small) if kind == "uniform" else None,
            recipe=recipe if kind == "shaped" else NoRecipe(),
            layout=Layout(Form.INDEX, bins),
            repeats=1,
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
        repeats=repeats,
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
