"""Tests that reports in clear name the cells of their records, and that directions are uniform.

A *cell* is one of the messages that can be sent: a bin, or a pad for a missing member of a set. The
audits ``randomizer`` and ``collection`` call this module. It does not test flips.
"""

import numpy as np

from mixtally.lab.attacks.audit import Checks
from mixtally.lab.attacks.outcome import AttackLab
from mixtally.lab.attacks.records import cells_in_clear, records_in_clear
from mixtally.lab.attacks.senders import planes_hold_points, points_of
from mixtally.model.contract import Part
from mixtally.primitives.fixed_point import SCALE
from mixtally.primitives.wide import Numbers, divide, is_below, make_numbers

_BLOCKS = 64
"""The number of blocks into which a range of numbers is divided for counting."""
_MOST_COUNTED_NUMBERS = 1 << 20
"""The most numbers that are counted one by one; larger ranges are counted in blocks."""


def slot_checks(name: str, part: Part, lab: AttackLab, count: int) -> list[Checks]:
    """Return tests of a part that sends some sampled cells (slots) of each record.

    The cells must be different, must belong to the record, and must be sampled equally often.
    """
    sent, size = part.record_messages, part.most_set or 1
    codes = np.arange(count // sent) % part.bins
    named = part.layout.codes(lab.device.reports(part, records_in_clear(part, codes), lab.chance))
    lost = len(named) - sent * len(codes)
    if lost:  # messages cannot be matched with their records
        codes, named = codes[:0], named[:0]
    rows = named.reshape(-1, sent)
    is_cell = rows[:, :, None] == cells_in_clear(part, codes)[:, None, :]
    place = is_cell.argmax(axis=2)
    pairs = len(place) // 2
    again = int((place[0 : 2 * pairs : 2, 0] == place[1 : 2 * pairs : 2, 0]).sum())
    ordered = np.sort(rows, axis=1)
    return [
        Checks.of_difference(f"report that is missing or too many{name}", lost),
        Checks.of_difference(
            f"report that names another cell{name}", int((~is_cell.any(axis=2)).sum())
        ),
        Checks.of_difference(
            f"slot that is sent twice{name}", int((ordered[:, 1:] == ordered[:, :-1]).sum())
        ),
        Checks.of(
            f"slot k of a record{name}",
            np.bincount(place.ravel(), minlength=size),
            len(named),
            1.0 / size,
        ),
        Checks.of(f"the same slot of two records in a row{name}", again, pairs, 1.0 / size),
    ]


def report_checks(name: str, part: Part, lab: AttackLab, count: int) -> list[Checks]:
    """Return tests of reports of whole records in clear."""
    g, cells, most = (part.replaced or 0) / SCALE, part.layout.bins, part.record_messages
    codes = (np.arange(count // most) + first_code(part.bins, count // most)) % part.bins
    named = part.layout.codes(lab.device.reports(part, codes, lab.chance))
    pads = (np.full_like(codes, part.bins + place) for place in range(most - 1))
    expected = np.column_stack([codes, *pads]).ravel()
    some, true_codes = named[: len(expected)], expected[: len(named)]
    if part.planes is None:
        right = some == true_codes
    else:
        points, cells = points_of(part, part.planes, true_codes), part.planes.prime
        right = planes_hold_points(part.planes, some, points)
    wrong, due = int((~right).sum()), g * (1.0 - 1.0 / cells)
    checks = [
        Checks.of_difference(
            f"report that is missing or too many{name}", len(named) - len(expected)
        ),
        Checks.of(f"report that names another bin{name}", wrong, len(expected), due),
    ]
    if part.planes is not None:
        every = part.planes.device_planes.directions
        checks += uniformity_checks(
            f"direction of a report{name}", divide(some, part.planes.prime)[0], every
        )
    elif part.replaced is not None:
        off = np.bincount((some - true_codes) % cells, minlength=cells)[1:]
        checks.append(Checks.of(f"report k bins from its own{name}", off, len(expected), g / cells))
    return checks


def uniformity_checks(what: str, drawn: Numbers, bound: int) -> list[Checks]:
    """Return tests that the numbers in ``drawn`` are uniform below ``bound``.

    The tests count the numbers in each of several blocks, and pairs of equal successive numbers. If
    ``bound`` is small, they also count each number.
    """
    inside = drawn[is_below(drawn, bound)]
    ends = [-(-bound * block // _BLOCKS) for block in range(1, _BLOCKS + 1)]
    sizes = np.diff(np.array([0, *ends], dtype=np.float64))
    place = np.searchsorted(make_numbers(ends[:-1], bound), inside, side="right")
    blocks = np.bincount(place, minlength=_BLOCKS)
    pairs = len(drawn) // 2
    same = int((drawn[0 : 2 * pairs : 2] == drawn[1 : 2 * pairs : 2]).sum())
    found = [
        Checks.of_difference(f"{what} past the last", len(drawn) - len(inside)),
        Checks.of(f"{what} in a block", blocks, len(drawn), sizes / bound),
        Checks.of(f"{what} like the one before", same, pairs, 1.0 / bound),
    ]
    if bound <= _MOST_COUNTED_NUMBERS:
        seen = np.bincount(inside, minlength=bound)
        found.append(Checks.of(f"{what} in a bin", seen, len(drawn), 1.0 / bound))
    return found


def first_code(bins: int, count: int) -> int:
    """Return the bin of the first report, if ``count`` reports are in successive bins.

    With fewer reports than bins, the last report is in the last bin. Otherwise the first report is
    in bin 0.
    """
    return bins - count if count < bins else 0
