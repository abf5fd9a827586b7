"""Games about what leaves the one honest hop of a contract: the person's messages, and what hides.

A run draws, by the code of devices and mixes, one record u or v, and the fakes of the honest hop or
of the people whose messages reach it; coins are tossed anew in each. What the other hops and people
sent is known to the attackers and subtracted, so it is not drawn. Of flipped bits the positions
that matter are drawn alone, without the cap of a message: what that costs is part of delta.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from msgspec import structs

from mixtally.attacks.clear import ShapedGame, UniformGame
from mixtally.attacks.counted import SHUFFLED, CountedGame
from mixtally.attacks.device import Device
from mixtally.attacks.flipped import Bits, FlippedGame
from mixtally.attacks.games import Game
from mixtally.attacks.multinomial import Binomials
from mixtally.attacks.records import worst_records
from mixtally.attacks.uniform_flips import UniformFlipsGame
from mixtally.ground.bits import Counts, Rows, row_bytes, spans
from mixtally.ground.chance import Chance
from mixtally.ground.fixed import SCALE
from mixtally.ground.tails import Floats
from mixtally.records.contract import BlanksRecipe, FakeRecord, Part, ShapedRecipe
from mixtally.records.guarantee import LEAST_USERS
from mixtally.records.layout import Form, Layout
from mixtally.records.mechanism import BitFlips
from mixtally.tally.fold import tally_messages

_SPAN = 1 << 18


@dataclass(frozen=True)
class Scene:
    """What hides a person behind the honest hop.

    where
      honest   people whose fakes reach that hop, the person among them
      others   people beside the person whose flips hide too, all with the same record
    """

    part: Part
    honest: int
    others: int

    @property
    def usual(self) -> int:
        """Fakes on average, rounded up."""
        if isinstance(self.part.recipe, BlanksRecipe):
            return self.part.recipe.count
        own = self.part.own
        return 0 if own is None else -(-self.honest * (own.whole * SCALE + own.coin) // SCALE)

    def numbers(self, runs: int, draw: Binomials) -> Counts:
        """Fakes of many runs, from their distribution."""
        own = self.part.own
        if own is None:
            return np.full(runs, self.usual, dtype=np.int64)
        more = draw(np.full(runs, self.honest, dtype=np.int64), own.coin / SCALE)
        return self.honest * own.whole + more

    def fakes(self, part: Part, chance: Chance, device: Device) -> Iterator[Rows]:
        """The fakes of one run as ``part`` writes them, some at a time."""
        if not isinstance(part.recipe, BlanksRecipe):
            for span in spans(self.honest if part.own else 0, _SPAN):
                yield device.part_fakes(part, span.stop - span.start, chance)[0]
            return
        yield device.added(part.recipe, part.layout, chance)


def narrowed(part: Part, bins: int) -> Part:
    """A part of flipped bits with so many of its bins, and no cap but what its form needs."""
    bins = max(bins, 1 if part.most_set is None else 2)
    positions = part.layout.form is Form.POSITIONS
    return structs.replace(
        part,
        bins=bins,
        most_set=None if part.most_set is None else min(part.most_set, bins),
        layout=Layout(part.layout.form, bins, bins if positions else None),
    )


def packed(layout: Layout, rows: Rows) -> Rows:
    """Messages as packed bits, whatever their form."""
    if layout.form is Form.BITS:
        return rows
    many, named = layout.positions(rows)
    out = np.zeros((len(rows), row_bytes(layout.bins)), dtype=np.uint8)
    row, mask = np.repeat(np.arange(len(rows)), many), np.left_shift(1, named & 7)
    np.bitwise_or.at(out, (row, named >> 3), mask.astype(np.uint8))
    return out


@dataclass(frozen=True)
class ShapedHop(ShapedGame):
    """In clear, among the shaped fakes of one hop."""

    recipe: ShapedRecipe = field(kw_only=True)

    def alone(self, runs: int, chance: Chance, device: Device) -> tuple[Floats, Floats]:
        """By the code of a hop, which draws all bins of many runs at once."""

        def shaped(_: tuple[int, ...], layout: Layout, chance: Chance) -> Rows:
            return device.added(self.recipe, layout, chance)

        return super().alone(runs, chance, replace(device, shaped=shaped))


@dataclass(frozen=True)
class UniformPeople(UniformGame):
    """In clear, among the uniform fakes of people."""

    scene: Scene = field(kw_only=True)

    def draw(self, chance: Chance, device: Device) -> tuple[float, float]:
        """The statistic in world u and, among other fakes, in world v."""
        part = self.scene.part
        found = []
        for code in (0, 1):
            own = device.part_reports(part, np.array([code]), chance)
            batch = np.concatenate([own, *self.scene.fakes(part, chance, device)])
            if len(batch) <= SHUFFLED:
                batch = device.shuffle(batch, chance)
            a, b = tally_messages(part.layout, batch).counts[:2]
            with np.errstate(divide="ignore"):
                found.append(float(np.log(a) - np.log(b)))
        return found[0], found[1]

    def alone(self, runs: int, chance: Chance, device: Device) -> None:  # noqa: ARG002
        """Coins are tossed in every run."""
        return

    def drawn(self, runs: int, draw: Binomials) -> tuple[Floats, Floats]:
        """The statistics of many runs, fakes and both bins drawn from their distributions."""
        found = []
        for in_a in (1, 0):
            both = draw(self.scene.numbers(runs, draw), 2.0 / self.bins)
            a = draw(both, 0.5)
            with np.errstate(divide="ignore"):
                found.append(np.log(a + in_a) - np.log(both - a + 1 - in_a))
        return found[0], found[1]


class _Hop(CountedGame):
    """Flipped bits among what a scene draws."""

    scene: Scene

    def _collected(self, world: int, chance: Chance, device: Device) -> Floats:
        own, others = self._own(world, chance, device), self._others(self.people, chance, device)
        hiding = self._hiding(chance, device)
        if self.messages <= SHUFFLED:
            return self._counts(device.shuffle(np.concatenate([*hiding, others, own]), chance))
        total = self._counts(own) + self._counts(others)
        for rows in hiding:
            total += self._counts(rows)
        return total

    def _hiding(self, chance: Chance, device: Device) -> Iterator[Rows]:
        raise NotImplementedError

    def drawn(self, runs: int, draw: Binomials) -> tuple[Floats, Floats] | None:
        """The statistics of many runs, fakes and kinds drawn from their distributions."""
        if not self.people and not self.fakes:
            return None
        others, fake, *own_pmfs = self._pmfs
        found = []
        for own in own_pmfs:
            counts = draw.kinds(self.people, others, runs)
            counts += draw.kinds(self.scene.numbers(runs, draw), fake, runs)
            counts += draw.kinds(1, own, runs)
            found.append(self._statistics(counts.astype(np.float64)))
        return found[0], found[1]


@dataclass(frozen=True)
class FlippedHop(_Hop, FlippedGame):
    """Among blanks of a hop or of people, or among people's flips alone."""

    scene: Scene = field(kw_only=True)

    @property
    def _part(self) -> Part:
        return narrowed(self.scene.part, len(self.x))

    def _sent(self, record: Bits, count: int, chance: Chance, device: Device) -> Rows:
        part, held = self._part, np.zeros(self._part.bins, dtype=np.uint8)
        held[: len(record)] = record
        rows = np.tile(np.packbits(held, bitorder="little"), (count, 1))
        return packed(part.layout, device.part_reports(part, rows, chance))

    def _hiding(self, chance: Chance, device: Device) -> Iterator[Rows]:
        part = self._part
        return (packed(part.layout, rows) for rows in self.scene.fakes(part, chance, device))


@dataclass(frozen=True)
class UniformFlipsPeople(_Hop, UniformFlipsGame):
    """Among people's uniform fakes, flipped; they are drawn with all their bins."""

    scene: Scene = field(kw_only=True)

    def _reports(self, code: int, count: int, chance: Chance, device: Device) -> Rows:
        part = narrowed(self.scene.part, self.view)
        codes = np.full(count, code, dtype=np.int64)
        return packed(part.layout, device.part_reports(part, codes, chance))

    def _hiding(self, chance: Chance, device: Device) -> Iterator[Rows]:
        part, width = self.scene.part, row_bytes(self.view)
        for rows in self.scene.fakes(part, chance, device):
            seen = packed(part.layout, rows)[:, :width].copy()
            if self.view % 8:
                seen[:, -1] &= np.uint8((1 << self.view % 8) - 1)
            yield seen


def game_behind(part: Part, honest: int, others: int, epsilon: float) -> Game:
    """The worst game known of one part; arguments as ``Scene`` has them.

    ``epsilon`` is where the two records are looked for that are distinguished best.
    """
    scene = Scene(part, honest, others)
    if isinstance(part.recipe, ShapedRecipe):
        return ShapedHop(part.recipe.weights, recipe=part.recipe)
    if part.threshold is None:
        return UniformPeople(part.bins, scene.usual, scene=scene)
    if part.own is not None and part.own.record is FakeRecord.UNIFORM:
        return UniformFlipsPeople(part.threshold, part.bins, others, scene.usual, scene=scene)
    mechanism = part.mechanism(fakes=scene.usual, crowd=max(LEAST_USERS, others + 1))
    assert isinstance(mechanism, BitFlips)
    records = worst_records(mechanism, others, scene.usual, epsilon)
    return FlippedHop(part.threshold, *records, others, scene.usual, scene=scene)
