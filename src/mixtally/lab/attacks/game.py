"""A game: one person's messages among what hides them, drawn again and again in two worlds.

In world u the person holds one record, in world v another. The attacker's statistic of a run is the
logarithm of a likelihood ratio, so that of independent parts of a person's messages it adds up.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from mixtally.lab.attacks.device import Device
from mixtally.lab.attacks.epsilon_proof import LEAST_RUNS
from mixtally.lab.attacks.multinomial import Binomials
from mixtally.lab.attacks.outcome import AttackLab
from mixtally.lab.attacks.worlds import Worlds
from mixtally.primitives.chance import Chance
from mixtally.primitives.tails import Floats

_BUDGET = 2e9
_BASE_COST = 1.5e5
"""Nanoseconds for all that is quick, and what the smallest run costs."""
_MOST_RUNS, _FEWEST_RUNS = 1_000_000, 400
_PILOT = 1_000_000
"""Counts of kinds that are drawn to choose the event of a game."""
_PATIENCE = 6e10
"""Nanoseconds after which even the fewest runs are too many, and the least number is made."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What a run is.

    where
      cost       nanoseconds of a run by the code, roughly
      messages   messages of one run
      kinds      kinds of messages that are distinguished: what a run by the distribution costs
      stage      who sends what, in words
      played     what a run by the code is, in words
    """

    cost: float
    messages: int
    kinds: int
    stage: str
    played: str


class Game(ABC):
    """Something that can be played once, in two worlds."""

    @property
    @abstractmethod
    def setting(self) -> Setting:
        """What a run is, and what it costs."""

    @abstractmethod
    def draw(self, chance: Chance, device: Device) -> tuple[float, float]:
        """The statistic in world u and in world v, no message of which is of the other."""

    @abstractmethod
    def draw_runs(self, runs: int, chance: Chance, device: Device) -> tuple[Floats, Floats] | None:
        """The statistics of many runs at once by the device's code, None where it cannot."""

    @abstractmethod
    def draw_from_distribution(self, runs: int, draw: Binomials) -> tuple[Floats, Floats] | None:
        """The statistics of many runs from their distribution; None where ``at_once`` suffices."""


@dataclass(frozen=True)
class ComposedGame(Game):
    """All messages of a person: every part, as often as people are asked; log ratios add up.

    where
      games   of each part, and how often it is played
    """

    games: tuple[tuple[Game, int], ...]

    @property
    def setting(self) -> Setting:
        """The sums of all parts."""
        every = [(game.setting, times) for game, times in self.games]
        stage = "; ".join(f"{times} times " * (times > 1) + one.stage for one, times in every)
        return Setting(
            sum(times * one.cost for one, times in every),
            sum(times * one.messages for one, times in every),
            sum(times * one.kinds for one, times in every),
            stage,
            f"{stage}; each part with messages of its own",
        )

    def draw(self, chance: Chance, device: Device) -> tuple[float, float]:
        """The sums of all parts."""
        every = [game.draw(chance, device) for game, times in self.games for _ in range(times)]
        return sum(u for u, _ in every), sum(v for _, v in every)

    def draw_runs(self, runs: int, chance: Chance, device: Device) -> tuple[Floats, Floats] | None:
        """None where a part cannot."""
        return _add_statistics(
            game.draw_runs(runs, chance, device) for game, times in self.games for _ in range(times)
        )

    def draw_from_distribution(self, runs: int, draw: Binomials) -> tuple[Floats, Floats] | None:
        """None where ``at_once`` suffices for every part."""
        if all(game.draw_from_distribution(1, draw) is None for game, _ in self.games):
            return None
        return _add_statistics(
            game.draw_from_distribution(runs, draw) or game.draw_runs(runs, draw.chance, Device())
            for game, times in self.games
            for _ in range(times)
        )


def _add_statistics(every: Iterable[tuple[Floats, Floats] | None]) -> tuple[Floats, Floats] | None:
    total: tuple[Floats, Floats] | None = None
    for one in every:
        if one is None:
            return None
        total = one if total is None else (total[0] + one[0], total[1] + one[1])
    return total


def play(game: Game, lab: AttackLab, step: str, share: float = 1.0) -> Worlds:
    """The statistic of many runs; ``share`` of the usual number when the lab names none."""
    runs = lab.runs if lab.runs is not None else quick_runs(game.setting.cost, share)
    at_once = game.draw_runs(runs, lab.chance, lab.device)
    if at_once is not None:
        return Worlds(*at_once)
    u, v = np.empty(runs), np.empty(runs)
    for i in iterate_runs(runs, lab, step):
        u[i], v[i] = game.draw(lab.chance, lab.device)
    return Worlds(u, v)


def draw_pilot(game: Game, runs: int, lab: AttackLab) -> Worlds:
    """Runs drawn beside the ``runs`` that are counted: they choose the event and do not count."""
    count = min(4 * runs, _PILOT // game.setting.kinds)
    drawn = game.draw_from_distribution(max(LEAST_RUNS, count), Binomials(lab.chance, lab.tables))
    if drawn is None:  # the production code draws its distribution as fast
        drawn = game.draw_runs(max(LEAST_RUNS, count), lab.chance, Device())
    assert drawn is not None
    return Worlds(*drawn)


def quick_runs(cost: float, share: float = 1.0) -> int:
    """As many runs as are done in two seconds or three of one core, and no fewer than a few."""
    usual = share * _BUDGET / (_BASE_COST + cost)
    fewest = min(_FEWEST_RUNS, share * _PATIENCE / (_BASE_COST + cost))
    return max(LEAST_RUNS, int(min(_MOST_RUNS, max(fewest, usual))))


def iterate_runs(runs: int, lab: AttackLab, step: str) -> Iterator[int]:
    """The numbers of the runs, with progress reported to the lab."""
    every = max(1, runs // 200)
    for i in range(runs):
        yield i
        if i % every == 0 or i + 1 == runs:
            lab.progress(step, i + 1, runs)
