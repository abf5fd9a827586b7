"""Whose code writes the messages of a game: that of a plan, or of a contract's part behind one hop.

Either gives the first positions of every message alone, packed, in whatever form it travels: a
message in clear sets the bit of its bin, or none where that lies beyond. What the other hops and
the other people sent is known to the attackers and subtracted, so it is not drawn.

Flipped bits are drawn without the cap of a message: what that costs is part of delta.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
from msgspec import structs

from mixtally.attacks.device import Device
from mixtally.attacks.multinomial import Binomials
from mixtally.ground.bits import Counts, Rows, row_bytes, spans
from mixtally.ground.chance import Chance
from mixtally.ground.draw import below
from mixtally.ground.fixed import SCALE
from mixtally.records.contract import BlanksRecipe, FakeRecord, Part
from mixtally.records.guarantee import LEAST_USERS
from mixtally.records.layout import Form, Layout
from mixtally.records.mechanism import Shuffled
from mixtally.records.mechanism.named import flip_blank, flip_uniform

Bits = tuple[int, ...]
"""What a record holds in the positions that matter."""
_SPAN_MESSAGES, _SPAN_PEOPLE = 1 << 20, 1 << 18


@dataclass(frozen=True)
class Senders(ABC):
    """The person under attack, people beside them, and whoever draws fakes.

    where
      mechanism   how a record is sent, and among how many fakes
      people      others whose flips hide, all with the same record; none in clear, where what they
                  hold is known
      fakes       how many hide the person: on average, rounded up, where coins decide
    """

    mechanism: Shuffled
    people: int
    fakes: int

    @property
    def times(self) -> int:
        """How often every person sends their record, each time with fresh noise."""
        return self.mechanism.repeats

    @property
    def messages(self) -> int:
        """Messages of one run."""
        return self.times * (self.people + 1) + self.fakes

    @property
    def threshold(self) -> int:
        """The chance that a bit is flipped, times 2^64; 0 in clear."""
        return self.mechanism.flip_threshold or 0

    @abstractmethod
    def numbers(self, runs: int, draw: Binomials) -> int | Counts:
        """How many fakes each of ``runs`` runs has, shape (runs,), or one number for all."""

    @abstractmethod
    def reports(self, record: Bits, count: int, chance: Chance, device: Device) -> Rows:
        """``count`` messages of people who hold ``record``, in its positions, one message each."""

    @abstractmethod
    def drawn_fakes(self, width: int, chance: Chance, device: Device) -> Iterator[Rows]:
        """The first ``width`` positions of the fakes of one run, some at a time."""

    @abstractmethod
    def shaped(self, layout: Layout, chance: Chance, device: Device) -> Rows:
        """The shaped fakes of one mix or hop in all bins of ``layout``."""


@dataclass(frozen=True)
class PlanSenders(Senders):
    """By the code of a plan, with the people and fakes that the attacker cannot remove."""

    def numbers(self, runs: int, draw: Binomials) -> int:  # noqa: ARG002
        """The same in every run."""
        return self.fakes

    def reports(self, record: Bits, count: int, chance: Chance, device: Device) -> Rows:
        """One-hot records go the way of a device's reports, other bits that of its flips."""
        width = len(record)
        if sum(record) != 1 or width == 1:
            return device.flip(_copies(record, width, count), width, self.threshold, chance)
        codes = np.full(count, record.index(1), dtype=np.int64)
        return self.of_bins(codes, width, chance, device)

    def of_bins(self, codes: Counts, width: int, chance: Chance, device: Device) -> Rows:
        """Messages of people who are in the bins ``codes``, each one of the first ``width``."""
        if self.threshold:
            return device.reports(self._blanks(width, self.fakes), codes, chance)
        rows = device.reports(self.mechanism, codes, chance)
        return first_positions(self.mechanism.layout, rows, width)

    def drawn_fakes(self, width: int, chance: Chance, device: Device) -> Iterator[Rows]:
        """By the code that draws fakes, or that flips bits where a lone position matters."""
        for span in spans(self.fakes, _SPAN_MESSAGES):
            yield self._some(span.stop - span.start, width, chance, device)

    def _some(self, count: int, width: int, chance: Chance, device: Device) -> Rows:
        mechanism = self.mechanism
        if not self.threshold:
            return first_positions(mechanism.layout, device.fakes(mechanism, count, chance), width)
        if mechanism.uniform_fakes:
            return self._uniform(count, width, chance, device)
        if width > 1:
            return device.fakes(self._blanks(width, self.fakes), count, chance)
        return device.flip(np.zeros((count, 1), dtype=np.uint8), 1, self.threshold, chance)

    def _uniform(self, count: int, width: int, chance: Chance, device: Device) -> Rows:
        """In no order to rely on: a fake whose own bit lies beyond is a blank in these positions.

        That is exact, as positions are flipped independently.
        """
        inside, bins = count, self.mechanism.bins
        if width < bins:
            inside = int((below(chance, bins, count) < width).sum())
        own = flip_uniform(bins=width, fakes=inside, threshold=self.threshold)
        blank = self._blanks(width, count - inside)
        rows = device.fakes(own, inside, chance), device.fakes(blank, count - inside, chance)
        return np.concatenate(rows)

    def _blanks(self, width: int, fakes: int) -> Shuffled:
        return flip_blank(bins=width, fakes=fakes, threshold=self.threshold)

    def shaped(self, layout: Layout, chance: Chance, device: Device) -> Rows:
        """Of one mix."""
        assert self.mechanism.shaped is not None
        return device.shaped(self.mechanism.shaped.weights, layout, chance)


@dataclass(frozen=True)
class HopSenders(Senders):
    """By the code of a contract's devices and of its honest hop; coins are tossed in each run.

    where
      honest   people whose fakes reach that hop, the person among them
    """

    part: Part
    honest: int

    @classmethod
    def of(cls, part: Part, honest: int, people: int) -> Self:
        """Those of a part behind the hop: its blanks, or what honest people add on average."""
        own, fakes = part.own, 0
        if isinstance(part.recipe, BlanksRecipe):
            fakes = part.recipe.count
        elif own is not None:
            fakes = -(-honest * (own.whole * SCALE + own.coin) // SCALE)
        mechanism = part.mechanism(fakes=fakes, crowd=max(LEAST_USERS, people + 1))
        return cls(mechanism, people if part.threshold else 0, fakes, part, honest)

    def numbers(self, runs: int, draw: Binomials) -> int | Counts:
        """As many as the coins of honest people show."""
        own = self.part.own
        if own is None:
            return self.fakes
        more = draw(np.full(runs, self.honest, dtype=np.int64), own.coin / SCALE)
        return self.honest * own.whole + more

    def reports(self, record: Bits, count: int, chance: Chance, device: Device) -> Rows:
        """Of flipped bits the positions of ``record`` alone."""
        if self.threshold:
            part = self._narrowed(len(record))
            rows = device.part_reports(part, _copies(record, part.bins, count), chance)
        else:
            part, codes = self.part, np.full(count, record.index(1), dtype=np.int64)
            rows = device.part_reports(part, codes, chance)
        return first_positions(part.layout, rows, len(record))

    def drawn_fakes(self, width: int, chance: Chance, device: Device) -> Iterator[Rows]:
        """Uniform ones are drawn with all their bins, blanks in the positions that matter."""
        own, part = self.part.own, self.part
        if own is None or own.record is not FakeRecord.UNIFORM:
            part = self._narrowed(width)
        if isinstance(part.recipe, BlanksRecipe):
            yield first_positions(
                part.layout, device.added(part.recipe, part.layout, chance), width
            )
            return
        for span in spans(self.honest if own else 0, _SPAN_PEOPLE):
            rows, _ = device.part_fakes(part, span.stop - span.start, chance)
            yield first_positions(part.layout, rows, width)

    def shaped(self, layout: Layout, chance: Chance, device: Device) -> Rows:
        """Of the honest hop."""
        return device.added(self.part.recipe, layout, chance)

    def _narrowed(self, bins: int) -> Part:
        """With so many of its bins, and no cap but what its form needs."""
        part, form = self.part, self.part.layout.form
        bins = max(bins, 1 if part.most_set is None else 2)
        return structs.replace(
            part,
            bins=bins,
            most_set=None if part.most_set is None else min(part.most_set, bins),
            layout=Layout(form, bins, bins if form is Form.POSITIONS else None),
        )


def first_positions(layout: Layout, rows: Rows, width: int) -> Rows:
    """The first ``width`` positions of messages as packed bits; in clear fewer than 64."""
    if layout.form is Form.BITS and width == layout.bins:
        return rows
    if layout.form is Form.BITS:
        out = rows[:, : row_bytes(width)].copy()
        if width % 8:
            out[:, -1] &= np.uint8((1 << width % 8) - 1)
        return out
    if layout.form is Form.INDEX:  # one bit, or none
        bits = np.left_shift(1, np.minimum(layout.codes(rows), width)) & ((1 << width) - 1)
        return bits.view(np.uint8).reshape(-1, 8)[:, : row_bytes(width)]
    many, named = layout.positions(rows)
    inside = np.flatnonzero(named < width)
    row, named = np.repeat(np.arange(len(rows)), many)[inside], named[inside]
    out = np.zeros((len(rows), row_bytes(width)), dtype=np.uint8)
    np.bitwise_or.at(out, (row, named >> 3), np.left_shift(1, named & 7).astype(np.uint8))
    return out


def _copies(record: Bits, width: int, count: int) -> Rows:
    """``count`` packed records of ``width`` positions, zero beyond what ``record`` holds."""
    held = np.zeros(width, dtype=np.uint8)
    held[: len(record)] = record
    return np.tile(np.packbits(held, bitorder="little"), (count, 1))
