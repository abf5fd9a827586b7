"""The game with messages that name planes, which are sets of possible values.

A record u adds a message whose plane contains u. With probability kappa, the collision probability,
the plane contains v too. The attacker is assumed to know the messages of other people, and
subtracts them. Real attackers know less.
"""

from dataclasses import dataclass

import numpy as np

from mixtally.lab.attacks.counted_game import CountedGame
from mixtally.lab.attacks.game import Setting
from mixtally.lab.attacks.senders import Bits
from mixtally.model.contract import Planes
from mixtally.primitives.bits import Rows
from mixtally.primitives.fixed_point import SCALE
from mixtally.primitives.tails import Floats


@dataclass(frozen=True)
class PlanesGame(CountedGame):
    """The game among uniform planes, with four kinds of messages.

    The plane of a message contains value u, value v, both values, or neither.
    """

    @property
    def planes(self) -> Planes:
        """The planes that the messages of the attacked part may name."""
        planes = self.senders.part.planes
        assert planes is not None
        return planes

    @property
    def setting(self) -> Setting:
        """The cost and the description of a run; the plane contains u, v, both, or neither."""
        fakes, prime = self.senders.fakes, self.planes.prime
        stage = f"{fakes:,} uniform planes, {prime:,} of a direction, and the person's message"
        return self._setting(60.0 * fakes, 4, stage)

    @property
    def records(self) -> tuple[Bits, Bits, Bits]:
        """The record of everyone else (neither value), and the two values as records u and v."""
        return (0, 0, 1), (1, 0, 0), (0, 1, 0)

    def _keys(self, rows: Rows) -> np.ndarray:
        return rows[:, 0] & 3

    @property
    def _pmfs(self) -> tuple[Floats, Floats, Floats, Floats]:
        other, a, b, both = np.eye(4)
        meeting, one = self.planes.collision_probability, 1.0 / self.planes.prime
        fake = other + one * (a + b - 2.0 * other) + one * meeting * (both + other - a - b)
        g = (self.senders.part.replaced or 0) / SCALE
        own = [one + meeting * (both - one) for one in (a, b)]
        of_others, of_a, of_b = (g * fake + (1.0 - g) * one for one in (other, *own))
        return of_others, fake, of_a, of_b
