"""The senders of a game's messages: the plan's devices, and the hops that draw fakes.

The games call ``Senders`` to draw messages with the production code. A game looks only at the first
positions of a message, as packed bits, whatever the form of the message is. A message in clear sets
the bit of its bin, or no bit if its bin is not among these positions. Messages that people reveal
to the attacker are not drawn, because the attacker subtracts them.

Flipped bits are drawn without the cap on the set bits of a message, because delta already includes
the cost of the cap.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from msgspec import structs

from mixtally.lab.attacks.device import Device
from mixtally.lab.attacks.multinomial import Binomials
from mixtally.model.contract import CountedRecipe, FakeRecord, OwnFakes, Part, Planes, UniformRecipe
from mixtally.model.layout import Form, Layout
from mixtally.model.planes import bin_points, directions, multiply, points_at
from mixtally.primitives.bits import Counts, Rows, row_bytes, spans
from mixtally.primitives.chance import Chance
from mixtally.primitives.draw import draw_below
from mixtally.primitives.fixed_point import SCALE
from mixtally.primitives.wide import Numbers, digits_in_base, divide

Bits = tuple[int, ...]
"""The bits of a record in the positions that a game looks at."""
SPAN_PEOPLE = 1 << 18
"""The number of people whose records or fakes are drawn at once, which limits memory."""


@dataclass(frozen=True)
class Senders:
    """The person under attack, the people who hide the person, and the hops that draw fakes.

    Attributes
    ----------
    part : Part
        The stream of messages.
    people : int
        The number of other people whose flips or replaced values hide the person; all of them have
        the same record. It is 0 in clear, because the attacker knows the records of others.
    honest : int
        The number of people whose fakes hide the person. The person is one of them.
    mixes : int
        The number of hops whose fakes hide the person.
    """

    part: Part
    people: int
    honest: int
    mixes: int = 1

    @property
    def fakes(self) -> int:
        """The mean number of fakes that hide the person, rounded up, without shaped fakes."""
        if isinstance(self.part.recipe, CountedRecipe):
            return self.mixes * self.part.recipe.count
        own = self.part.own
        return 0 if own is None else -(-self.honest * (own.whole * SCALE + own.coin) // SCALE)

    @property
    def times(self) -> int:
        """How often every person sends their record, each time with new noise."""
        return self.part.repeats

    @property
    def messages(self) -> int:
        """The number of messages of one run."""
        return self.part.record_messages * (self.people + 1) + self.fakes

    @property
    def threshold(self) -> int:
        """The probability that a bit is flipped, times 2^64; 0 in clear."""
        return self.part.threshold or 0

    @property
    def has_uniform_fakes(self) -> bool:
        """Whether each fake is a record with one uniformly drawn bin."""
        if isinstance(self.part.recipe, UniformRecipe):
            return True
        return self.part.own is not None and self.part.own.record is FakeRecord.UNIFORM

    def draw_fake_numbers(self, runs: int, draw: Binomials) -> int | Counts:
        """Return the number of fakes of each run, shape (runs,), or one number for all runs."""
        own = self.part.own
        if own is None or not own.coin:
            return self.fakes
        more = draw(np.full(runs, self.honest, dtype=np.int64), own.coin / SCALE)
        return self.honest * own.whole + more

    def draw_reports(self, record: Bits, count: int, chance: Chance, device: Device) -> Rows:
        """Return ``count`` messages of people who hold ``record``, one message each.

        The record has the positions that the game looks at.
        """
        width = len(record)
        if not self.threshold:
            return self.draw_reports_of_bins(np.full(count, record.index(1)), width, chance, device)
        part = structs.replace(self._narrow_part(width), repeats=1)
        bits = np.zeros(part.bins, dtype=np.uint8)
        bits[:width] = record
        rows = np.tile(np.packbits(bits, bitorder="little"), (count, 1))
        return first_positions(part.layout, device.reports(part, rows, chance), width)

    def draw_reports_of_bins(
        self, codes: Counts, width: int, chance: Chance, device: Device
    ) -> Rows:
        """Return the first ``width`` positions of one message of each person.

        ``codes`` has the bin of each person, which is below ``width``.
        """
        part = self._narrow_part(width) if self.threshold else self.part
        part = structs.replace(part, repeats=1)
        return select_positions(part, device.reports(part, codes, chance), width)

    def draw_fakes(self, width: int, chance: Chance, device: Device) -> Iterator[Rows]:
        """Yield the first ``width`` positions of the fakes of one run, in blocks."""
        part = self._narrow_part(width) if self.threshold else self.part
        for rows in self.draw_whole_fakes(part, chance, device):
            if self.has_uniform_fakes and part.bins < self.part.bins:
                rows = self._redraw_far_fakes(part, rows, chance, device)
            yield select_positions(part, rows, width)

    def draw_whole_fakes(self, part: Part, chance: Chance, device: Device) -> Iterator[Rows]:
        """Yield all fakes of one run as whole messages, in blocks; hops or devices add them."""
        if isinstance(part.recipe, CountedRecipe):
            for _ in range(self.mixes):
                yield device.added(part.recipe, part.layout, chance)
        yield from self.draw_own_fakes(part, chance, device)

    def draw_own_fakes(self, part: Part, chance: Chance, device: Device) -> Iterator[Rows]:
        """Yield the fakes of people's devices in one run, in blocks."""
        for span in spans(self.honest if part.own else 0, SPAN_PEOPLE):
            yield device.fakes(part, span.stop - span.start, chance)[0]

    def _redraw_far_fakes(self, part: Part, rows: Rows, chance: Chance, device: Device) -> Rows:
        """Replace uniform fakes whose bin is not among the drawn positions by blanks.

        How many fakes are replaced is drawn at random; their order is not kept. The distribution is
        exact, because positions are flipped independently.
        """
        inside = int((draw_below(chance, self.part.bins, len(rows)) < part.bins).sum())
        blank = structs.replace(part, own=OwnFakes(FakeRecord.BLANK, 1, 0))
        blanks, _ = device.fakes(blank, len(rows) - inside, chance)
        return np.concatenate([rows[:inside], blanks])

    def _narrow_part(self, bins: int) -> Part:
        """Return the part with only the first ``bins`` bins.

        Messages have no cap on their set bits, unless their form needs one.
        """
        part, form = self.part, self.part.layout.form
        bins = max(bins, 1 if part.most_set is None else 2)
        return structs.replace(
            part,
            bins=bins,
            most_set=None if part.most_set is None else min(part.most_set, bins),
            layout=Layout(form, bins, bins if form is Form.POSITIONS else None),
        )


def select_positions(part: Part, rows: Rows, width: int) -> Rows:
    """Return the first ``width`` positions of a part's messages as packed bits.

    If messages name planes, a bit says whether the plane contains the value of that position.
    """
    if part.planes is not None:
        return contains_first_values(part, part.planes, part.layout.codes(rows), width)
    return first_positions(part.layout, rows, width)


def first_positions(layout: Layout, rows: Rows, width: int) -> Rows:
    """Return the first ``width`` positions of messages as packed bits; in clear, ``width`` < 64."""
    if layout.form is Form.INDEX:  # A message in clear sets one of these bits, or none.
        bits = np.left_shift(1, np.minimum(layout.codes(rows), width)) & ((1 << width) - 1)
        return bits.view(np.uint8).reshape(-1, 8)[:, : row_bytes(width)]
    rows = layout.to_packed_bits(rows)
    if width == layout.bins:
        return rows
    out = rows[:, : row_bytes(width)].copy()
    if width % 8:
        out[:, -1] &= np.uint8((1 << width % 8) - 1)
    return out


def points_of(part: Part, planes: Planes, values: Counts) -> Numbers:
    """Return the points of the geometry that stand for ``values``.

    For sets, the points of the pads for missing members are appended.
    """
    points = points_at if part.pads else bin_points
    return points(planes.device_planes, values, part.bins)


def contains_first_values(part: Part, planes: Planes, codes: Numbers, width: int) -> Rows:
    """Return whether the plane of each message contains each of the first values, as packed bits.

    The result has one row for each message and one bit for each of the first ``width`` values.
    """
    p, digits = planes.prime, planes.digits
    numbers, cells = divide(codes, p)
    values = digits_in_base(points_of(part, planes, np.arange(width)), p, digits)
    vectors = directions(numbers, p, digits)
    products = [multiply(vectors, one[:, None], p) for one in values.T]
    contained = np.stack(products, axis=1) == cells[:, None]
    return np.packbits(contained, axis=1, bitorder="little")


def planes_hold_points(planes: Planes, codes: Numbers, points: Numbers) -> np.ndarray:
    """Return whether the plane of message i contains the point ``points[i]``, for every i."""
    p, digits = planes.prime, planes.digits
    numbers, cells = divide(codes, p)
    products = multiply(directions(numbers, p, digits), digits_in_base(points, p, digits), p)
    return np.asarray(products == cells)
