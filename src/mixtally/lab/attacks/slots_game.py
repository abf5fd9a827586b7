"""The game of sampled slots: two records without a common cell, of which some cells are sent.

The person sends m of the k cells of a record, drawn anew each time. Let h be the counts of all
cells, and e_m(A) the sum, over all choices of m cells of record A, of the products of their counts.
The likelihood ratio of records A and B is e_m(A) / e_m(B), which is exact. For m = 1, e_1(A) is the
number of messages in the cells of A. The attacker subtracts the records of other people, which
travel in clear.
"""

from dataclasses import dataclass

import numpy as np

from mixtally.lab.attacks.game import Setting
from mixtally.lab.attacks.multinomial import Binomials
from mixtally.lab.attacks.set_game import SetGame
from mixtally.model.contract import Part
from mixtally.primitives.bits import Counts, Rows, row_bytes
from mixtally.primitives.tails import Floats


@dataclass(frozen=True)
class SlotsGame(SetGame):
    """The first k bins against the next k bins, or against k pads, among uniform fakes."""

    @property
    def size(self) -> int:
        """The number k of cells of a record."""
        return self.senders.part.most_set or 1

    @property
    def sent(self) -> int:
        """The number m of cells that are sent."""
        return self.senders.part.record_messages

    @property
    def setting(self) -> Setting:
        """The cost and the description of a run; the kinds are the cells that differ."""
        fakes, part = self.senders.fakes, self.senders.part
        stage = (
            f"{fakes:,} uniform fakes over {part.layout.bins:,} cells and {self.sent} of the "
            f"{self.size} slots of either record"
        )
        return Setting(60.0 * fakes, self.senders.messages, 2 * self.size + 1, stage, stage)

    def draw_from_distribution(self, runs: int, draw: Binomials) -> tuple[Floats, Floats]:
        """Return the statistics of many runs, drawn from the distribution of the counts.

        All cells of a record have equal distributions, so the first m of them are sent.
        """
        one = 1.0 / self.senders.part.layout.bins
        fake = np.full(2 * self.size + 1, one)
        fake[-1] = max(0.0, 1.0 - 2.0 * self.size * one)
        found = []
        for own in (0, 1):
            fakes = self.senders.draw_fake_numbers(runs, draw)
            counts = draw.draw_multinomial(fakes, fake, runs)
            counts[:, own * self.size : own * self.size + self.sent] += 1
            found.append(self._statistics(counts))
        return found[0], found[1]

    def _build_record(self, set_number: int) -> tuple[Part, Counts | Rows]:
        """Return one of the two records, and the part that sends it."""
        part = self.senders.part
        if not part.is_full:
            return super()._build_record(set_number)
        places = np.arange(8 * row_bytes(part.bins)) // self.size
        return part, np.packbits(places == set_number, bitorder="little")[None]

    def _counts(self, rows: Rows) -> Counts:
        """Return the counts of the cells of either record, and of all other cells together."""
        part, size = self.senders.part, self.size
        every = np.bincount(part.layout.codes(rows), minlength=part.layout.bins)
        other = size if part.is_full else part.bins
        counts = np.concatenate([every[:size], every[other : other + size]])
        return np.append(counts, len(rows) - counts.sum())

    def _statistics(self, counts: Counts) -> Floats:
        """Return the log-likelihood ratio of every run; ``counts`` has shape (runs, kinds)."""
        cells = counts[:, :-1] / max(1.0, float(counts[:, :-1].mean()))  # against overflow
        with np.errstate(divide="ignore", invalid="ignore"):  # the cells may be empty
            u, v = (
                np.log(sum_of_products(some, self.sent))
                for some in (cells[:, : self.size], cells[:, self.size :])
            )
            return np.where(u == v, 0.0, u - v)


def sum_of_products(counts: Floats, size: int) -> Floats:
    """Return for each row the sum, over all choices of ``size`` columns, of their products."""
    found = np.zeros((len(counts), size + 1))
    found[:, 0] = 1.0
    for column in counts.T:
        found[:, 1:] += found[:, :-1] * column[:, None]
    return found[:, size]
