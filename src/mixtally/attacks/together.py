"""Several games of one person at once: independent messages, whose log-likelihood ratios add up."""

from collections.abc import Iterable
from dataclasses import dataclass

from mixtally.attacks.device import Device
from mixtally.attacks.games import Game
from mixtally.attacks.multinomial import Binomials
from mixtally.ground.chance import Chance
from mixtally.ground.tails import Floats


@dataclass(frozen=True)
class Together:
    """All messages of a person: every part, as often as people are asked; log ratios add up.

    where
      games   of each part, and how often it is played
    """

    games: tuple[tuple[Game, int], ...]

    @property
    def cost(self) -> float:
        """Nanoseconds of a run, roughly."""
        return sum(times * game.cost for game, times in self.games)

    @property
    def messages(self) -> int:
        """Messages of one run."""
        return sum(times * game.messages for game, times in self.games)

    @property
    def kinds(self) -> int:
        """Kinds of messages that are distinguished in one run."""
        return sum(times * game.kinds for game, times in self.games)

    @property
    def stage(self) -> str:
        """Who sends what, in words."""
        several = (f"{times} times " * (times > 1) + game.stage for game, times in self.games)
        return "; ".join(several)

    @property
    def played(self) -> str:
        """What a run by the code is, in words."""
        return f"{self.stage}; each part with messages of its own"

    def draw(self, chance: Chance, device: Device) -> tuple[float, float]:
        """The statistic in world u and in world v."""
        every = [game.draw(chance, device) for game, times in self.games for _ in range(times)]
        return sum(u for u, _ in every), sum(v for _, v in every)

    def alone(self, runs: int, chance: Chance, device: Device) -> tuple[Floats, Floats] | None:
        """The statistics of many runs at once, None where a part cannot."""
        return _sum(
            game.alone(runs, chance, device) for game, times in self.games for _ in range(times)
        )

    def drawn(self, runs: int, draw: Binomials) -> tuple[Floats, Floats] | None:
        """The statistics of many runs from their distribution; None where ``alone`` suffices."""
        if all(game.drawn(1, draw) is None for game, _ in self.games):
            return None
        return _sum(
            game.drawn(runs, draw) or game.alone(runs, draw.chance, Device())
            for game, times in self.games
            for _ in range(times)
        )


def _sum(every: Iterable[tuple[Floats, Floats] | None]) -> tuple[Floats, Floats] | None:
    total: tuple[Floats, Floats] | None = None
    for one in every:
        if one is None:
            return None
        total = one if total is None else (total[0] + one[0], total[1] + one[1])
    return total
