"""Games with records in clear: two bins are enough, and the likelihood ratio is exact.

A record u adds one to bin a, and a record v adds one to bin b. The attacker knows the records of
other people, because they travel in clear, and subtracts them.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mixtally.lab.attacks.counted_game import CountedGame
from mixtally.lab.attacks.device import Device
from mixtally.lab.attacks.game import Game, Setting
from mixtally.lab.attacks.multinomial import Binomials
from mixtally.lab.attacks.senders import Bits, Senders
from mixtally.model.contract import Shape
from mixtally.model.layout import Form, Layout
from mixtally.primitives.bits import Counts, Rows, spans
from mixtally.primitives.chance import Chance
from mixtally.primitives.tails import Floats
from mixtally.protocol.tally.fold import tally_messages

_SPAN_FAKES = 1 << 23
"""The largest number of shaped fakes that are drawn at once, which limits memory."""
_IMPOSSIBLE = -np.inf


@dataclass(frozen=True)
class UniformGame(CountedGame):
    """The game among uniform fakes.

    The likelihood ratio is the count of bin a divided by the count of bin b.
    """

    @property
    def records(self) -> tuple[Bits, Bits, Bits]:
        """The record of everyone else (no bin), record u (bin a) and record v (bin b)."""
        return (0, 0), (1, 0), (0, 1)

    @property
    def setting(self) -> Setting:
        """The cost and the description of a run; messages name bin a, bin b, or another bin."""
        fakes, bins = self.senders.fakes, self.senders.part.bins
        stage = f"{fakes:,} uniform fakes over {bins:,} bins and the person's message"
        return self._setting(60.0 * fakes, 3, stage)

    def _keys(self, rows: Rows) -> np.ndarray:
        return rows[:, 0]

    @property
    def _pmfs(self) -> tuple[Floats, Floats, Floats, Floats]:
        other, a, b = np.eye(3)
        return other, other + (a + b - 2.0 * other) / self.senders.part.bins, a, b

    def _draw_fake_counts(self, fake: Floats, runs: int, draw: Binomials) -> Counts:
        """Return the number of fakes of each kind, shape (runs, kinds).

        ``fake`` is the distribution of a fake over the kinds. The number of fakes in bins a and b
        together is drawn first, and then how many of these fakes are in bin a.
        """
        numbers = np.broadcast_to(np.asarray(self.senders.draw_fake_numbers(runs, draw)), runs)
        both = draw(numbers, 2.0 * float(fake[1]))
        a = draw(both, 0.5)
        return np.stack([numbers - both, a, both - a], axis=1)

    @cached_property
    def _ratios(self) -> tuple[Floats, Floats]:
        """The logarithms of w (``counted_game``) for records u and v, by kind of message.

        The number of bins is left out, because this factor cancels in the statistic.
        """
        u, v = np.full((2, 3), _IMPOSSIBLE)
        u[1] = v[2] = 0.0
        return u, v


@dataclass(frozen=True)
class ShapedGame(Game):
    """The game among fakes that mixes draw independently for each bin, or for each pair of bins.

    Let F(k) be the probability of k fakes in a bin, and A and B the numbers of messages in bins a
    and b. The likelihood ratio is F(A - 1) F(B) / (F(A) F(B - 1)). The numbers of paired fakes in
    two bins have a fixed sum, so B follows from A, and the ratio is F(A - 1) / F(A).
    """

    senders: Senders

    @property
    def setting(self) -> Setting:
        """The cost and the description of a run; every mix draws all bins."""
        fakes = self.senders.mixes * len(self._weights)
        stage = f"the two bins that differ, with the fakes of {self.senders.mixes} mix(es)"
        drawn = "pairs of bins" if self._recipe.paired else "bins"
        played = f"{stage}; a mix draws {drawn} independently, and so those of many runs at once"
        return Setting(60.0 * fakes, fakes + 1, 3, stage, played)

    @property
    def _recipe(self) -> Shape:
        recipe = self.senders.part.recipe
        assert isinstance(recipe, Shape)
        return recipe

    @cached_property
    def _weights(self) -> tuple[int, ...]:
        return self._recipe.weights

    @cached_property
    def _log_pmf(self) -> Floats:
        one = np.array([float(w) for w in self._weights]) * 2.0**-64
        pmf = one
        for _ in range(self.senders.mixes - 1):
            pmf = np.convolve(pmf, one)
        with np.errstate(divide="ignore"):
            # The first entry is for the count -1, which A - 1 can be.
            return np.concatenate([[-np.inf], np.log(pmf), [-np.inf]])

    def draw_runs(self, runs: int, chance: Chance, device: Device) -> tuple[Floats, Floats]:
        """Return the statistics of many runs; each mix draws the bins of all runs at once."""
        u, v = np.empty(runs), np.empty(runs)
        for span in spans(runs, max(1, _SPAN_FAKES // len(self._weights))):
            layout = Layout(Form.INDEX, 4 * (span.stop - span.start))
            drawn = np.zeros(layout.bins, dtype=np.int64)
            for _ in range(self.senders.mixes):
                rows = device.added(self.senders.part.recipe, layout, chance)
                drawn += tally_messages(layout, rows).counts
            a, b, c, d = (drawn[place::4] for place in range(4))  # Two bins for each world.
            u[span], v[span] = self._statistic(a + 1, b), self._statistic(c, d + 1)
        return u, v

    def draw(self, chance: Chance, device: Device) -> tuple[float, float]:
        """Return the statistic in world u and the statistic in world v, each with its own fakes."""
        u, v = self.draw_runs(1, chance, device)
        return float(u[0]), float(v[0])

    def observe(self, rows: Rows, first: int = 0) -> float:
        """Return the statistic of all messages of a round, as a collector receives them.

        The person's two bins are ``first`` and the next one.
        """
        counts = tally_messages(self.senders.part.layout, rows).counts
        return float(self._statistic(counts[first : first + 1], counts[first + 1 : first + 2])[0])

    def _statistic(self, a: Counts, b: Counts) -> Floats:
        pmf, last = self._log_pmf, len(self._log_pmf) - 1
        # Broken code can draw more fakes than the distribution allows, which the table lacks.
        a, b = np.minimum(a, last - 1), np.minimum(b, last - 1)
        u, v = pmf[a], pmf[a + 1]
        if not self._recipe.paired:
            u, v = u + pmf[b + 1], v + pmf[b]
        with np.errstate(invalid="ignore"):  # equally likely, or impossible in either world
            return np.where(u == v, 0.0, u - v)
