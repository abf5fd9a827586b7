"""Games: one person's messages among those that hide them, drawn many times in two worlds.

The attacks of this package play games. In world u the person holds one record, and in world v
another. The statistic of a run is the logarithm of a likelihood ratio, or close to it. So the
statistics of independent parts of a person's messages add up.
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
"""Nanoseconds that an attack may take if the caller states no number of runs."""
_BASE_COST = 1.5e5
"""Nanoseconds of a run in addition to its messages."""
_MOST_RUNS, _FEWEST_RUNS = 1_000_000, 400
"""Limits of the number of runs that is selected automatically."""
_PILOT = 1_000_000
"""The largest number of counts, in all runs together, from which the event of a game is selected.

A run has one count for each kind of message.
"""
MOST_SHUFFLED = 1 << 10
"""The messages above which a batch is not shuffled, to save time.

The statistic does not depend on the order.
"""
_PATIENCE = 6e10
"""The nanoseconds that ``_FEWEST_RUNS`` runs may take. If they take longer, fewer runs are made."""


@dataclass(frozen=True, slots=True)
class Setting:
    """The cost and the description of a run.

    Attributes
    ----------
    cost : float
        Roughly the nanoseconds of a run in which the production code draws messages.
    messages : int
        The number of messages of one run.
    kinds : int
        The number of distinguished kinds of messages. If counts are drawn from their distribution,
        the time of a run is proportional to this number.
    stage : str
        The senders and their messages, in words.
    played : str
        The text of ``stage``, and how the code makes a run.
    """

    cost: float
    messages: int
    kinds: int
    stage: str
    played: str


class Game(ABC):
    """A game; each draw plays it once in world u and once in world v."""

    @property
    @abstractmethod
    def setting(self) -> Setting:
        """The cost and the description of a run."""

    @abstractmethod
    def draw(self, chance: Chance, device: Device) -> tuple[float, float]:
        """Return the statistic in world u and that in world v, from separately drawn messages."""

    def draw_runs(self, runs: int, chance: Chance, device: Device) -> tuple[Floats, Floats] | None:  # noqa: ARG002
        """Return the statistics of many runs that the device's code draws at once.

        Return None if the code draws one run at a time.
        """
        return None

    def draw_from_distribution(self, runs: int, draw: Binomials) -> tuple[Floats, Floats] | None:  # noqa: ARG002
        """Return the statistics of many runs whose counts are drawn from their distribution.

        Return None if ``draw_runs`` is as fast.
        """
        return None


@dataclass(frozen=True)
class ComposedGame(Game):
    """The game of all messages of a person, whose parts are independent.

    ``games`` has the game of each part, and how often it is played in one run. The statistic is the
    sum of all their statistics, because log-likelihood ratios add up.
    """

    games: tuple[tuple[Game, int], ...]

    @property
    def setting(self) -> Setting:
        """The cost and the description of a run, with numbers summed over all parts."""
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
        """Return the statistic in world u and that in world v, summed over all parts."""
        every = [game.draw(chance, device) for game, times in self.games for _ in range(times)]
        return sum(u for u, _ in every), sum(v for _, v in every)

    def draw_runs(self, runs: int, chance: Chance, device: Device) -> tuple[Floats, Floats] | None:
        """Return the statistics of many runs, summed over all parts.

        Return None if a part cannot draw many runs at once.
        """
        return _add_statistics(
            game.draw_runs(runs, chance, device) for game, times in self.games for _ in range(times)
        )

    def draw_from_distribution(self, runs: int, draw: Binomials) -> tuple[Floats, Floats] | None:
        """Return the statistics of many runs from the distribution, summed over all parts.

        Return None if ``draw_runs`` is as fast for every part.
        """
        if all(game.draw_from_distribution(1, draw) is None for game, _ in self.games):
            return None
        return _add_statistics(
            game.draw_from_distribution(runs, draw) or game.draw_runs(runs, draw.chance, Device())
            for game, times in self.games
            for _ in range(times)
        )


def _add_statistics(
    statistics: Iterable[tuple[Floats, Floats] | None],
) -> tuple[Floats, Floats] | None:
    total: tuple[Floats, Floats] | None = None
    for one in statistics:
        if one is None:
            return None
        total = one if total is None else (total[0] + one[0], total[1] + one[1])
    return total


def play(game: Game, lab: AttackLab, step: str) -> Worlds:
    """Play a game ``lab.runs`` times, drawn by the device's code, and return the statistics.

    If ``lab.runs`` is None, the number of runs is one that takes a few seconds. ``step`` is the
    name under which progress is reported.
    """
    runs = lab.runs if lab.runs is not None else quick_runs(game.setting.cost)
    at_once = game.draw_runs(runs, lab.chance, lab.device)
    if at_once is not None:
        return Worlds(*at_once)
    u, v = np.empty(runs), np.empty(runs)
    for i in iterate_runs(runs, lab, step):
        u[i], v[i] = game.draw(lab.chance, lab.device)
    return Worlds(u, v)


def draw_pilot(game: Game, runs: int, lab: AttackLab) -> Worlds:
    """Draw the preliminary runs that choose the event to test.

    The test itself uses other runs.
    """
    count = min(4 * runs, _PILOT // game.setting.kinds)
    drawn = game.draw_from_distribution(max(LEAST_RUNS, count), Binomials(lab.chance, lab.tables))
    if drawn is None:  # Drawing runs with the production code is as fast.
        drawn = game.draw_runs(max(LEAST_RUNS, count), lab.chance, Device())
    assert drawn is not None
    return Worlds(*drawn)


def quick_runs(cost: float, share: float = 1.0) -> int:
    """Estimate the number of runs that take two or three seconds on one core.

    ``cost`` is the nanoseconds of a run, and ``share`` the share of these seconds that the runs may
    use. The estimate is never below ``LEAST_RUNS``.
    """
    usual = share * _BUDGET / (_BASE_COST + cost)
    fewest = min(_FEWEST_RUNS, share * _PATIENCE / (_BASE_COST + cost))
    return max(LEAST_RUNS, int(min(_MOST_RUNS, max(fewest, usual))))


def iterate_runs(runs: int, lab: AttackLab, step: str) -> Iterator[int]:
    """Yield the index of each run, from 0, and report the progress to the lab."""
    # About 200 progress reports, whatever the number of runs.
    every = max(1, runs // 200)
    for i in range(runs):
        yield i
        if i % every == 0 or i + 1 == runs:
            lab.progress(step, i + 1, runs)
