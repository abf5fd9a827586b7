"""The game of a set: a full set of k values against the empty set, with counts of 2k cells.

A *cell* is one of the messages that can be sent: a bin, or a *pad* for a missing member of a set.

The log-likelihood ratio is the sum of ln(count) over the cells of the full set, minus the sum of
ln(count) over the cells of the empty set, which are pads. The ratio is exact. The attacker
subtracts the records of other people, which travel in clear.

If messages name planes, the two sets are points of one line, which is the worst case
(``accounting.divergence.set_in_clear``). In a direction that separates these points, each point is
in another plane, and this plane is the cell of the point. The devices never send messages of the
two sets in other directions.

If messages are replaced with probability g, all other people hold a third set, or the empty set if
there is no third one. Let c be the count of a cell and c' its expected count without the person.
Then c + g c' / (1 - g) replaces c in the statistic, which is close to the log-likelihood ratio.
"""

from dataclasses import dataclass
from itertools import chain

import numpy as np
from msgspec import structs

from mixtally.lab.attacks.device import Device
from mixtally.lab.attacks.game import MOST_SHUFFLED, Game, Setting
from mixtally.lab.attacks.multinomial import Binomials
from mixtally.lab.attacks.senders import SPAN_PEOPLE, Senders
from mixtally.model.contract import Part
from mixtally.model.planes import directions
from mixtally.primitives.bits import Counts, Rows, row_bytes, spans
from mixtally.primitives.chance import Chance
from mixtally.primitives.fixed_point import SCALE
from mixtally.primitives.tails import Floats
from mixtally.primitives.wide import divide


@dataclass(frozen=True)
class SetGame(Game):
    """The game of the first k bins against k pads, or of two sets of k points on a line.

    The fakes are uniform.
    """

    senders: Senders

    @property
    def size(self) -> int:
        """The number k of cells of a record."""
        return self.senders.part.most_set or 1

    @property
    def setting(self) -> Setting:
        """The cost of a run, the number of messages and of kinds of cells, and a description."""
        fakes, cells = self.senders.fakes, self.senders.part.layout.bins
        people = self.senders.people
        what = "a full set, or of an empty one"
        if self.senders.part.planes is not None:
            what = "either set of points of one line"
        stage = (
            f"{fakes:,} uniform fakes over {cells:,} cells and the {self.size} messages of {what}"
        )
        if people:
            stage = f"{people:,} others who all hold the same, {stage}"
        order = "shuffled" if self.senders.messages <= MOST_SHUFFLED else "not shuffled"
        kinds = 2 * self.size + 1
        cost = 60.0 * (fakes + people * self.size)
        return Setting(cost, self.senders.messages, kinds, stage, f"{stage}; {order}")

    def draw(self, chance: Chance, device: Device) -> tuple[float, float]:
        """Return the statistic of a full set and that of an empty set, each with its own fakes."""
        counts = [self._collect_counts(own, chance, device) for own in (0, 1)]
        u, v = self._statistics(np.array(counts))
        return float(u), float(v)

    def draw_from_distribution(self, runs: int, draw: Binomials) -> tuple[Floats, Floats]:
        """Return the statistics of many runs, with counts from the distribution."""
        size, planes = self.size, self.senders.part.planes
        one = 1.0 / self.senders.part.layout.bins
        if planes is not None:
            one = (1.0 - planes.collision_probability) / planes.prime
        fake = np.full(2 * size + 1, one)
        fake[-1] = 1.0 - 2.0 * size * one
        found = []
        for own in (0, 1):
            uniform = self.senders.draw_fake_numbers(runs, draw)
            kept = np.zeros((runs, 2 * size + 1), dtype=np.int64)
            for set_number, people in ((own, 1), (self._others_set, self.senders.people)):
                # All cells of a record have the same distribution. So it does not matter that the
                # first ones are sent.
                first, sent = set_number * size, self.senders.part.record_messages
                for cell in range(first, first + sent):
                    stay = draw(np.full(runs, people), 1.0 - self._replaced_share)
                    kept[:, min(cell, 2 * size)] += stay
                    uniform = uniform + people - stay
            counts = kept + draw.draw_multinomial(uniform, np.maximum(fake, 0.0), runs)
            found.append(self._statistics(counts))
        return found[0], found[1]

    @property
    def _replaced_share(self) -> float:
        return (self.senders.part.replaced or 0) / SCALE

    @property
    def _others_set(self) -> int:
        """The number of the set that all other people hold.

        The full set has number 0, the empty set (or second set) number 1, and the third set number
        2. All others hold the third set, or set 1 if there are too few bins or points.
        """
        part = self.senders.part
        able = part.bins // 2 if part.planes is None else part.planes.prime // 3
        return 2 if able >= self.size else 1

    @property
    def _expected_counts(self) -> Floats:
        """The expected count of each cell of either set, without the person, shape (2k,)."""
        size, people, part = self.size, self.senders.people, self.senders.part
        uniform = self.senders.fakes + size * (people + 1) * self._replaced_share
        cells = part.layout.bins if part.planes is None else part.planes.prime
        found = np.full(2 * size, uniform / cells)
        if self._others_set == 1:
            found[size:] += people * (1.0 - self._replaced_share)
        return found

    def _collect_counts(self, own: int, chance: Chance, device: Device) -> Counts:
        """Return the number of messages in each cell of either set, and in all other cells.

        ``own`` is the number of the person's set (``_others_set``).
        """
        (part, record), (_, third) = self._build_record(own), self._build_record(self._others_set)
        sent = device.reports(part, record, chance)
        others = (
            device.reports(part, _repeat_record(third, span.stop - span.start), chance)
            for span in spans(self.senders.people, SPAN_PEOPLE)
        )
        fakes = self.senders.draw_whole_fakes(part, chance, device)
        if self.senders.messages <= MOST_SHUFFLED:
            return self._counts(device.shuffle(np.concatenate([*others, *fakes, sent]), chance))
        total = np.zeros(2 * self.size + 1, dtype=np.int64)
        for rows in chain(others, fakes, [sent]):
            total += self._counts(rows)
        return total

    def _build_record(self, set_number: int) -> tuple[Part, Counts | Rows]:
        """Return the part that sends a set, and the set as a record of this part.

        The numbers of the sets are those of ``_others_set``. If messages name planes, the bins of
        the returned part are the points themselves, and the sets are the first, second or third k
        points of a line.
        """
        part, size = self.senders.part, self.size
        if part.planes is not None:
            points = np.arange(size)[None] + set_number * size
            return structs.replace(part, bins=part.planes.points), points
        # The empty set (number 1) has no bins, and the third set has the k bins after those of the
        # full set. If every record is full, the sets have the first, second and third k bins.
        block = set_number if part.is_full else (0, -1, 1)[set_number]
        blocks = np.arange(8 * row_bytes(part.bins)) // size
        return part, np.packbits(blocks == block, bitorder="little")[None]

    def _counts(self, rows: Rows) -> Counts:
        """Return the counts of the cells of either record, and of all other cells together."""
        part, size = self.senders.part, self.size
        if part.planes is not None:
            numbers, cells = divide(part.layout.codes(rows), part.planes.prime)
            first, *_ = directions(numbers, *part.planes.device_planes)
            # In directions whose first digit is 1, the cell of a point below p is its number.
            relevant = cells[(first == 1) & (cells < 2 * size)]
            found = np.bincount(relevant, minlength=2 * size)
            return np.append(found, len(rows) - len(relevant))
        every = np.bincount(part.layout.codes(rows), minlength=part.layout.bins)
        other = size if part.is_full else part.bins
        counts = np.concatenate([every[:size], every[other : other + size]])
        return np.append(counts, len(rows) - counts.sum())

    def _statistics(self, counts: Counts) -> Floats:
        """Return the statistic of every run; ``counts`` has shape (runs, kinds)."""
        g = self._replaced_share
        with np.errstate(divide="ignore", invalid="ignore"):  # Cells of either set may be empty.
            logs = np.log(counts[:, :-1] + g * self._expected_counts / (1.0 - g))
            u, v = logs[:, : self.size].sum(axis=1), logs[:, self.size :].sum(axis=1)
            return np.where(u == v, 0.0, u - v)


@dataclass(frozen=True)
class SlotsGame(SetGame):
    """The game of sampled slots: a person sends m of the k cells of one of two records.

    The two records have no common cell. The m cells are drawn anew each time. For each choice of m
    cells of record A, take the product of their counts, and let e_m(A) be the sum of these products
    over all choices. The likelihood ratio of records A and B is exactly e_m(A) / e_m(B). For m = 1,
    e_1(A) is the number of messages in the cells of A. The records are the first k bins and the
    next k bins, or the first k bins and k pads. The attacker subtracts the records of other people,
    which travel in clear.
    """

    @property
    def sent(self) -> int:
        """The number m of cells of a record that a person sends."""
        return self.senders.part.record_messages

    @property
    def setting(self) -> Setting:
        """The cost of a run, the number of messages and of kinds of cells, and a description."""
        fakes, part = self.senders.fakes, self.senders.part
        stage = (
            f"{fakes:,} uniform fakes over {part.layout.bins:,} cells and {self.sent} of the "
            f"{self.size} slots of either record"
        )
        return Setting(60.0 * fakes, self.senders.messages, 2 * self.size + 1, stage, stage)

    def _statistics(self, counts: Counts) -> Floats:
        """Return the log-likelihood ratio of every run; ``counts`` has shape (runs, kinds)."""
        cells = counts[:, :-1] / max(1.0, float(counts[:, :-1].mean()))  # against overflow
        with np.errstate(divide="ignore", invalid="ignore"):  # the cells may be empty
            u, v = (
                np.log(sum_of_products(some, self.sent))
                for some in (cells[:, : self.size], cells[:, self.size :])
            )
            return np.where(u == v, 0.0, u - v)


def _repeat_record(record: Counts | Rows, times: int) -> Counts | Rows:
    return record[np.zeros(times, dtype=np.int64)]


def sum_of_products(counts: Floats, size: int) -> Floats:
    """Return for each row the sum of the products of ``size`` entries, over all choices of them."""
    found = np.zeros((len(counts), size + 1))
    found[:, 0] = 1.0
    for column in counts.T:
        found[:, 1:] += found[:, :-1] * column[:, None]
    return found[:, size]
