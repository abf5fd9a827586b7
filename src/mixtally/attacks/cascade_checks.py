"""Whether devices and hops draw what their contract says: how many messages, and which bits.

Exact binomial tests. Caps are left out of the distributions: under plan that promise anything they
change fewer counts than any of these tests can see.
"""

import numpy as np

from mixtally.attacks.checks import Checks
from mixtally.attacks.outcome import Lab
from mixtally.attacks.senders import first_positions
from mixtally.ground.bits import Rows
from mixtally.ground.fixed import SCALE
from mixtally.records.contract import (
    BlanksRecipe,
    FakeRecord,
    OwnFakes,
    Part,
    Plan,
    ShapedRecipe,
)
from mixtally.records.layout import Form, Layout
from mixtally.tally.fold import tally_messages

_MOST_BYTES = 1 << 26
_DEVICES, _BLANKS = 20_000, 100_000
_MOST_AGAIN = 100
_SHAPED = 1_000_000
"""Fakes of a shaped recipe, about."""


def drawn_checks(plan: Plan, lab: Lab) -> tuple[list[Checks], int]:
    """Tests of every different part, and how many messages were drawn."""
    checks, messages = list[Checks](), 0
    for part in dict.fromkeys(plan.parts):
        name = f"part {plan.parts.index(part) + 1}"
        draws = [_reports(name, part, lab)]
        if isinstance(part.recipe, ShapedRecipe):
            draws.append(_shaped(name, part.recipe, lab))
        elif isinstance(part.recipe, BlanksRecipe):
            draws.append(_blanks(name, part, part.recipe, lab))
        elif part.own is not None:
            draws.append(_own(name, part, part.own, lab))
        checks += [check for found, _ in draws for check in found]
        messages += sum(drawn for _, drawn in draws)
    return checks, messages


def _reports(name: str, part: Part, lab: Lab) -> tuple[list[Checks], int]:
    """Of people who are in one bin each, or of records with no bit set and with all of them."""
    count = _many(part.layout, _DEVICES)
    if part.most_set == 1:
        return _of_one(name, part, np.arange(count) % part.bins, lab)
    checks, drawn = list[Checks](), 0
    q = (part.threshold or 0) / SCALE
    for held in (0, 1) if part.most_set is None else (0,):
        bits = np.packbits(np.full(part.bins, held, dtype=np.uint8), bitorder="little")
        rows = lab.device.part_reports(part, np.tile(bits, (count, 1)), lab.chance)
        rate, label = (1.0 - q if held else q), f"reports of {name} whose bits are all {held}"
        checks += [
            Checks.exact(f"{label}, more or fewer", len(rows) - count),
            Checks.of(f"bit of {label}", _counts(part.layout, rows), len(rows), rate),
        ]
        drawn += len(rows)
    return checks, drawn


def _of_one(name: str, part: Part, codes: np.ndarray, lab: Lab) -> tuple[list[Checks], int]:
    rows = lab.device.part_reports(part, codes, lab.chance)
    checks = [Checks.exact(f"reports of {name}, more or fewer", len(rows) - len(codes))]
    rows, codes = rows[: len(codes)], codes[: len(rows)]
    if part.threshold is None:
        lies = int((part.layout.codes(rows) != codes).sum())
        return [*checks, Checks.exact(f"reports of {name} that name another bin", lies)], len(rows)
    own, q = _own_bits(part.layout, rows, codes), part.threshold / SCALE
    others = int(_counts(part.layout, rows).sum()) - own
    clear = len(rows) * (part.bins - 1)
    return [
        *checks,
        Checks.of(f"own bits of reports of {name}", own, len(rows), 1.0 - q),
        Checks.of(f"other bits of reports of {name}", others, clear, q),
    ], len(rows)


def _own_bits(layout: Layout, rows: Rows, codes: np.ndarray) -> int:
    """In how many reports the record's own bit is set."""
    if layout.form is Form.POSITIONS:
        many, named = layout.positions(rows)
        return int((named == np.repeat(codes, many)).sum())
    bits = first_positions(layout, rows, layout.bins)
    return int((bits[np.arange(len(rows)), codes >> 3] >> (codes & 7) & 1).sum())


def _shaped(name: str, recipe: ShapedRecipe, lab: Lab) -> tuple[list[Checks], int]:
    """In how many bins k fakes fell, for every k, and whether any bin had more than there are."""
    bins = max(100, _SHAPED // recipe.shift)
    layout = Layout(Form.INDEX, bins)
    rows = lab.device.added(recipe, layout, lab.chance)
    numbers = tally_messages(layout, rows).counts
    shares = np.array(recipe.weights, dtype=np.float64) / SCALE
    seen = np.bincount(numbers, minlength=len(shares))
    return [
        Checks.of(f"bins with so many fakes of a hop, {name}", seen[: len(shares)], bins, shares),
        Checks.exact(f"bins with more fakes than {name} has", int(seen[len(shares) :].sum())),
    ], len(rows)


def _blanks(name: str, part: Part, recipe: BlanksRecipe, lab: Lab) -> tuple[list[Checks], int]:
    """How many a hop adds by a recipe of no more blanks, again if they are few; their bits."""
    most = _many(part.layout, _BLANKS)
    count = min(recipe.count, most)
    times = max(1, min(_MOST_AGAIN, most // count))
    fewer = BlanksRecipe(count, recipe.threshold)
    rows = np.concatenate([lab.device.added(fewer, part.layout, lab.chance) for _ in range(times)])
    counts, rate = _counts(part.layout, rows), recipe.threshold / SCALE
    return [
        Checks.exact(f"blanks of a hop, more or fewer, {name}", len(rows) - times * count),
        Checks.of(f"bit of a hop's blanks, {name}", counts, len(rows), rate),
    ], len(rows)


def _own(name: str, part: Part, own: OwnFakes, lab: Lab) -> tuple[list[Checks], int]:
    """How many fakes devices draw by their coins, and how often each bit of these is set."""
    devices = max(1, _many(part.layout, _DEVICES) // (own.whole + 1))
    rows, number = lab.device.part_fakes(part, devices, lab.chance)
    more = number - devices * own.whole
    outside = max(0, -more) + max(0, more - devices)
    q = 0.0 if part.threshold is None else part.threshold / SCALE
    rate = q + ((1.0 - 2.0 * q) / part.bins if own.record is FakeRecord.UNIFORM else 0.0)
    counts, tossed = _counts(part.layout, rows), min(max(0, more), devices)
    return [
        Checks.exact(f"fakes of devices beyond what coins give, {name}", outside),
        Checks.exact(f"fakes of devices that are not there, {name}", len(rows) - number),
        Checks.of(f"coins of devices, {name}", tossed, devices, own.coin / SCALE),
        Checks.of(f"bit of devices' fakes, {name}", counts, len(rows), rate),
    ], len(rows)


def _counts(layout: Layout, rows: Rows) -> np.ndarray:
    return tally_messages(layout, rows).counts


def _many(layout: Layout, most: int) -> int:
    """``most`` messages, fewer where they are long."""
    return max(1, min(most, _MOST_BYTES // max(layout.message_bytes, 1)))
