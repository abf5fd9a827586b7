"""Games in which a value may be replaced by a uniform bin: three bins are distinguished.

All other people hold a third bin x, or the bin of record v if there are only two bins. Such a crowd
hides the person least. The statistic is that of ``counted_game``. Without fakes it is the
log-likelihood ratio. With fakes it is close to that ratio.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mixtally.lab.attacks.counted_game import CountedGame
from mixtally.lab.attacks.game import Setting
from mixtally.lab.attacks.senders import Bits
from mixtally.primitives.bits import Rows
from mixtally.primitives.fixed_point import SCALE
from mixtally.primitives.tails import Floats


@dataclass(frozen=True)
class ReplacedGame(CountedGame):
    """The game of one value, in bin 0 or bin 1, among people in one bin, and fakes.

    Other people hold bin 2, or bin 1 if there are only two bins.
    """

    @property
    def _others_bin(self) -> int:
        return min(2, self.senders.part.bins - 1)

    @property
    def records(self) -> tuple[Bits, Bits, Bits]:
        """The bin of everyone else, and the first two bins."""
        width = self._others_bin + 1
        x, u, v = (tuple(int(i == one) for i in range(width)) for one in (self._others_bin, 0, 1))
        return x, u, v

    @property
    def setting(self) -> Setting:
        """The cost and the description of a run; messages name one of three bins, or another."""
        people, fakes = self.senders.people, self.senders.fakes
        stage = f"{self._others_text}, {fakes:,} uniform fakes and the person's message"
        return self._setting(60.0 * (people + fakes), 8, stage)

    def _keys(self, rows: Rows) -> np.ndarray:
        return rows[:, 0]

    def _pmf(self, one: int | None) -> Floats:
        """Return the distribution over kinds of the message of a person in bin ``one``.

        If ``one`` is None, return the distribution of a fake.
        """
        bins, g = self.senders.part.bins, (self.senders.part.replaced or 0) / SCALE
        named = np.zeros(8)
        named[[1 << place for place in range(self._others_bin + 1)]] = 1.0 / bins
        named[0] = max(0.0, 1.0 - (self._others_bin + 1) / bins)
        if one is None:
            return named
        own = np.zeros(8)
        own[1 << one] = 1.0
        return np.asarray(g * named + (1.0 - g) * own)

    @cached_property
    def _pmfs(self) -> tuple[Floats, Floats, Floats, Floats]:
        return self._pmf(self._others_bin), self._pmf(None), self._pmf(0), self._pmf(1)
