"""Games with records in clear: two bins suffice, and their likelihood ratio is exact.

A record of u adds one to bin a, of v one to bin b. What other people hold is subtracted: it travels
in clear, and the attacker knows it.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mixtally.attacks.counted import SHUFFLED, shuffled
from mixtally.attacks.device import Device
from mixtally.attacks.multinomial import Binomials
from mixtally.ground.bits import Counts, spans
from mixtally.ground.chance import Chance
from mixtally.ground.tails import Floats
from mixtally.records.layout import Form, Layout
from mixtally.records.mechanism.named import clear_uniform
from mixtally.tally.fold import tally_messages

_SPAN_FAKES = 1 << 23


@dataclass(frozen=True)
class UniformGame:
    """Among uniform fakes X_u / X_v is the count of bin a over that of bin b."""

    bins: int
    fakes: int

    @property
    def cost(self) -> float:
        """Nanoseconds of a run, roughly."""
        return 60.0 * self.fakes

    @property
    def messages(self) -> int:
        """Messages of one run."""
        return self.fakes + 1

    @property
    def kinds(self) -> int:
        """Two bins and all others."""
        return 3

    @property
    def stage(self) -> str:
        """Who sends what, in words."""
        return f"{self.fakes:,} uniform fakes over {self.bins:,} bins and the person's message"

    @property
    def played(self) -> str:
        """What a run is, in words."""
        return f"{self.stage}; {shuffled(self.messages)}"

    def draw(self, chance: Chance, device: Device) -> tuple[float, float]:
        """The statistic in world u and, among other fakes, in world v."""
        mechanism = clear_uniform(bins=self.bins, fakes=self.fakes)
        found = []
        for code in (0, 1):
            own = device.reports(mechanism, np.array([code]), chance)
            batch = np.concatenate([device.fakes(mechanism, self.fakes, chance), own])
            if self.messages <= SHUFFLED:
                batch = device.shuffle(batch, chance)
            a, b = tally_messages(mechanism.layout, batch).counts[:2]
            with np.errstate(divide="ignore"):
                found.append(float(np.log(a) - np.log(b)))
        return found[0], found[1]

    def drawn(self, runs: int, draw: Binomials) -> tuple[Floats, Floats] | None:
        """The statistics of many runs, both bins drawn from their distribution by no device."""
        if not self.fakes:
            return None
        found = []
        for in_a in (1, 0):
            both = draw(np.full(runs, self.fakes), 2.0 / self.bins)
            a = draw(both, 0.5)
            with np.errstate(divide="ignore"):
                found.append(np.log(a + in_a) - np.log(both - a + 1 - in_a))
        return found[0], found[1]

    def alone(self, runs: int, chance: Chance, device: Device) -> tuple[Floats, Floats] | None:
        """The statistics of many runs at once, where no fake hides the person's message."""
        if self.fakes:
            return None
        mechanism = clear_uniform(bins=self.bins, fakes=0)
        both = []
        for code in (0, 1):
            rows = device.reports(mechanism, np.full(runs, code), chance)
            seen = mechanism.layout.codes(rows)
            both.append(np.where(seen == 0, np.inf, np.where(seen == 1, -np.inf, 0.0)))
        return both[0], both[1]


@dataclass(frozen=True)
class ShapedGame:
    """Among a mix's fakes: F(A - 1) F(B) against F(A) F(B - 1), the bins being independent.

    where
      mixes   mixes whose fakes the attacker does not know
    """

    weights: tuple[int, ...]
    mixes: int = 1

    @property
    def cost(self) -> float:
        """Nanoseconds of a run, roughly."""
        return 60.0 * self.mixes * len(self.weights)

    @property
    def messages(self) -> int:
        """Messages of one run."""
        return self.mixes * len(self.weights) + 1

    @property
    def kinds(self) -> int:
        """Two bins and all others."""
        return 3

    @property
    def stage(self) -> str:
        """Who sends what, in words."""
        return f"the two bins that differ, with the fakes of {self.mixes} mix(es)"

    @property
    def played(self) -> str:
        """What a run is, in words."""
        return f"{self.stage}; a mix draws bins independently, and so those of many runs at once"

    @cached_property
    def _log_pmf(self) -> Floats:
        one = np.array([float(w) for w in self.weights]) * 2.0**-64
        pmf = one
        for _ in range(self.mixes - 1):
            pmf = np.convolve(pmf, one)
        with np.errstate(divide="ignore"):
            return np.concatenate([[-np.inf], np.log(pmf), [-np.inf]])  # from -1 on

    def alone(self, runs: int, chance: Chance, device: Device) -> tuple[Floats, Floats]:
        """The statistics of many runs at once: a mix draws all their bins."""
        u, v = np.empty(runs), np.empty(runs)
        for span in spans(runs, max(1, _SPAN_FAKES // len(self.weights))):
            layout = Layout(Form.INDEX, 4 * (span.stop - span.start))
            drawn = np.zeros(layout.bins, dtype=np.int64)
            for _ in range(self.mixes):
                rows = device.shaped(self.weights, layout, chance)
                drawn += tally_messages(layout, rows).counts
            a, b, c, d = (drawn[place::4] for place in range(4))  # two bins of either world
            u[span], v[span] = self._statistic(a + 1, b), self._statistic(c, d + 1)
        return u, v

    def draw(self, chance: Chance, device: Device) -> tuple[float, float]:
        """The statistic in world u and, among other fakes, in world v."""
        u, v = self.alone(1, chance, device)
        return float(u[0]), float(v[0])

    def drawn(self, runs: int, draw: Binomials) -> None:  # noqa: ARG002
        """A mix itself draws as fast."""
        return

    def _statistic(self, a: Counts, b: Counts) -> Floats:
        pmf, last = self._log_pmf, len(self._log_pmf) - 1
        # No mix of this distribution draws what lies beyond its last number.
        a, b = np.minimum(a, last - 1), np.minimum(b, last - 1)
        u, v = pmf[a] + pmf[b + 1], pmf[a + 1] + pmf[b]
        with np.errstate(invalid="ignore"):  # equally likely, or impossible in either world
            return np.where(u == v, 0.0, u - v)
