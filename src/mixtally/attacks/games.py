"""Which game a protocol's users are in, and how often it is played."""

from collections.abc import Iterator
from typing import Protocol as Interface

import numpy as np

from mixtally.attacks.clear import ShapedGame, UniformGame
from mixtally.attacks.device import Device
from mixtally.attacks.flipped import FlippedGame
from mixtally.attacks.multinomial import Binomials
from mixtally.attacks.outcome import Lab
from mixtally.attacks.records import worst_records
from mixtally.attacks.trial import LEAST_RUNS
from mixtally.attacks.uniform_flips import UniformFlipsGame
from mixtally.attacks.worlds import Worlds
from mixtally.errors import ParameterError
from mixtally.ground.chance import Chance
from mixtally.ground.tails import Floats
from mixtally.records.mechanism import BitFlips, InClear, ShapedFakes, Shuffled, UniformFakes

_BUDGET = 6e9
_BASE_COST = 1.5e5
"""Nanoseconds for all that is quick, and what the smallest run costs."""
_MOST_RUNS, _FEWEST_RUNS = 1_000_000, 400
_PILOT = 1_000_000
"""Counts of kinds that are drawn to choose the event of a game."""
_PATIENCE = 6e10
"""Nanoseconds after which even the fewest runs are too many, and the least number is made."""


class Game(Interface):
    """Something that can be played once, in two worlds."""

    @property
    def cost(self) -> float:
        """Nanoseconds of a run, roughly."""
        ...

    @property
    def messages(self) -> int:
        """Messages of one run."""
        ...

    @property
    def kinds(self) -> int:
        """Kinds of messages that are distinguished: what a run by the distribution costs."""
        ...

    @property
    def stage(self) -> str:
        """Who sends what, in words."""
        ...

    @property
    def played(self) -> str:
        """What a run by the code is, in words."""
        ...

    def draw(self, chance: Chance, device: Device) -> tuple[float, float]:
        """The statistic in world u and in world v, no message of which is of the other."""
        ...

    def alone(self, runs: int, chance: Chance, device: Device) -> tuple[Floats, Floats] | None:
        """The statistics of many runs at once by the device's code, None where it cannot."""
        ...

    def drawn(self, runs: int, draw: Binomials) -> tuple[Floats, Floats] | None:
        """The statistics of many runs from their distribution; None where ``alone`` suffices."""
        ...


def game_of(
    mechanism: Shuffled, people: int, fakes: int, epsilon: float = 1.0, mixes: int | None = None
) -> Game:
    """The worst game known for ``mechanism`` among so many others and fakes.

    where
      people    others whose messages the attacker cannot remove; all hold the same
      epsilon   where the worst two records are looked for
      mixes     mixes whose shaped fakes the attacker does not know, None for all, 0 for none
    """
    match mechanism:
        case InClear(fakes=UniformFakes()):
            return UniformGame(mechanism.bins, fakes)
        case InClear(fakes=ShapedFakes()) if mixes == 0:
            return UniformGame(mechanism.bins, 0)
        case InClear(fakes=ShapedFakes() as shaped):
            return ShapedGame(shaped.weights, mixes or shaped.mixes)
        case BitFlips(fakes=UniformFakes()) if fakes:
            return UniformFlipsGame(mechanism.threshold, mechanism.bins, people, fakes)
        case BitFlips():
            x, u, v = worst_records(mechanism, people, fakes, epsilon)
            times = mechanism.repeats
            return FlippedGame(mechanism.threshold, x, u, v, people, fakes, times)
    raise ParameterError(
        "protocol", wanted="one that can be played", got=mechanism.name, do="choose another"
    )


def play(game: Game, lab: Lab, step: str, share: float = 1.0) -> Worlds:
    """The statistic of many runs; ``share`` of the usual number when the lab names none."""
    runs = lab.runs if lab.runs is not None else quick_runs(game.cost, share)
    together = game.alone(runs, lab.chance, lab.device)
    if together is not None:
        return Worlds(*together)
    u, v = np.empty(runs), np.empty(runs)
    for i in with_progress(runs, lab, step):
        u[i], v[i] = game.draw(lab.chance, lab.device)
    return Worlds(u, v)


def pilot(game: Game, runs: int, lab: Lab) -> Worlds:
    """Runs drawn beside the ``runs`` that are counted: they choose the event and do not count."""
    count = min(4 * runs, _PILOT // game.kinds)
    drawn = game.drawn(max(LEAST_RUNS, count), Binomials(lab.chance, lab.tables))
    if drawn is None:  # the production code draws its distribution as fast
        drawn = game.alone(max(LEAST_RUNS, count), lab.chance, Device())
    assert drawn is not None
    return Worlds(*drawn)


def quick_runs(cost: float, share: float = 1.0) -> int:
    """As many runs as are done in five to ten seconds of one core."""
    usual = share * _BUDGET / (_BASE_COST + cost)
    fewest = min(_FEWEST_RUNS, share * _PATIENCE / (_BASE_COST + cost))
    return max(LEAST_RUNS, int(min(_MOST_RUNS, max(fewest, usual))))


def with_progress(runs: int, lab: Lab, step: str) -> Iterator[int]:
    """The numbers of the runs, with progress reported to the lab."""
    every = max(1, runs // 200)
    for i in range(runs):
        yield i
        if i % every == 0 or i + 1 == runs:
            lab.progress(step, i + 1, runs)
