"""Games with records in clear: two bins tell all, and their likelihood ratio is exact.

A record of u adds one to bin a, of v one to bin b. What other people hold is subtracted: it travels
in clear, and the attacker knows it.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mixtally.ground.chance import Chance
from mixtally.ground.tails import Floats
from mixtally.lab.attack.device import Device
from mixtally.protocols.clear_uniform import ClearUniform
from mixtally.records.layout import Form, Layout
from mixtally.tally.fold import tally_messages

_SHUFFLED = 1 << 13


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
    def played(self) -> str:
        """What a run is, in words."""
        order = "shuffled" if self.fakes < _SHUFFLED else "not shuffled: order tells nothing"
        who = f"{self.fakes:,} uniform fakes over {self.bins:,} bins and the person's message"
        return f"{who}; {order}"

    def draw(self, chance: Chance, device: Device) -> tuple[float, float]:
        """The statistic in world u and in world v, both over the same fakes."""
        protocol = ClearUniform(bins=self.bins, fakes=self.fakes)
        fakes = device.fakes(protocol, self.fakes, chance)
        if self.fakes < _SHUFFLED:
            both = device.reports(protocol, np.array([0, 1]), chance)
            batches = (np.concatenate([fakes, one]) for one in (both[:1], both[1:]))
            tallies = [
                tally_messages(protocol.layout, device.shuffle(batch, chance)) for batch in batches
            ]
            (a_u, b_u), (a_v, b_v) = (tally.counts[:2] for tally in tallies)
        else:
            counts = tally_messages(protocol.layout, fakes).counts
            a_u, b_u, a_v, b_v = counts[0] + 1, counts[1], counts[0], counts[1] + 1
        with np.errstate(divide="ignore"):
            return float(np.log(a_u) - np.log(b_u)), float(np.log(a_v) - np.log(b_v))

    def alone(self, runs: int, chance: Chance, device: Device) -> tuple[Floats, Floats] | None:
        """The statistics of many runs at once, where no fake hides the person's message."""
        if self.fakes:
            return None
        protocol = ClearUniform(bins=self.bins, fakes=0)
        both = []
        for code in (0, 1):
            rows = device.reports(protocol, np.full(runs, code), chance)
            seen = protocol.layout.codes(rows)
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
        return 500.0 * self.mixes * len(self.weights)

    @property
    def played(self) -> str:
        """What a run is, in words."""
        return f"the two bins that differ, with the fakes of {self.mixes} mix(es); shuffled"

    @cached_property
    def _log_law(self) -> Floats:
        one = np.array([float(w) for w in self.weights]) * 2.0**-64
        law = one
        for _ in range(self.mixes - 1):
            law = np.convolve(law, one)
        with np.errstate(divide="ignore"):
            return np.concatenate([[-np.inf], np.log(law), [-np.inf]])  # from -1 on

    def draw(self, chance: Chance, device: Device) -> tuple[float, float]:
        """The statistic in world u and in world v, both over the same fakes."""
        layout = Layout(Form.INDEX, 2)
        fakes = [device.shaped(self.weights, layout, chance) for _ in range(self.mixes)]
        both = layout.rows(np.array([0, 1]))
        statistics = []
        for own in (both[:1], both[1:]):
            batch = device.shuffle(np.concatenate([*fakes, own]), chance)
            a, b = tally_messages(layout, batch).counts.tolist()
            statistics.append(self._statistic(a, b))
        return statistics[0], statistics[1]

    def alone(self, runs: int, chance: Chance, device: Device) -> None:  # noqa: ARG002
        """There are always fakes."""
        return

    def _statistic(self, a: int, b: int) -> float:
        law = self._log_law
        u, v = law[a] + law[b + 1], law[a + 1] + law[b]
        if u == v:  # impossible in neither world, or equally likely in both
            return 0.0
        return float(u - v)
