"""Which game a protocol's users are in, and how often it is played."""

from collections.abc import Iterator
from typing import Protocol as Interface

import numpy as np

from mixtally.errors import ParameterError
from mixtally.ground.chance import Chance
from mixtally.ground.fixed import SCALE
from mixtally.ground.tails import Floats
from mixtally.lab.attack.clear import ShapedGame, UniformGame
from mixtally.lab.attack.device import Device
from mixtally.lab.attack.flipped import Bits, FlippedGame
from mixtally.lab.attack.outcome import Lab
from mixtally.lab.attack.trial import LEAST_RUNS, Worlds
from mixtally.lab.attack.uniform_flips import UniformFlipsGame
from mixtally.privacy import vectors
from mixtally.privacy.weights import Orbit
from mixtally.protocols.base import Protocol
from mixtally.protocols.clear_shaped import ClearShaped
from mixtally.protocols.clear_uniform import ClearUniform
from mixtally.protocols.flip_blank import FlipBlank
from mixtally.protocols.flip_uniform import FlipUniform
from mixtally.protocols.flip_vector import FlipVector
from mixtally.protocols.flips import Flips

_BUDGET = 6e9
_BASE_COST = 1.5e5
"""Nanoseconds for all that is quick, and what the smallest run costs."""
_MOST_RUNS, _FEWEST_RUNS = 200_000, 400
_MOST_MESSAGES = 20_000_000
_EVERY_ORBIT_BITS = 6


class Game(Interface):
    """Something that can be played once, in two worlds."""

    @property
    def cost(self) -> float:
        """Nanoseconds of a run, roughly."""
        ...

    @property
    def played(self) -> str:
        """What a run is, in words."""
        ...

    def draw(self, chance: Chance, device: Device) -> tuple[float, float]:
        """The statistic in world u and in world v."""
        ...

    def alone(self, runs: int, chance: Chance, device: Device) -> tuple[Floats, Floats] | None:
        """The statistics of many runs at once, None unless the person's message is alone."""
        ...


def game_of(protocol: Protocol, people: int, fakes: int, mixes: int | None = None) -> Game:
    """The worst game known for ``protocol`` among so many others and fakes.

    where
      people   others whose messages the attacker cannot remove; all hold the same
      mixes    mixes whose shaped fakes the attacker does not know, None for all, 0 for none
    """
    match protocol:
        case ClearUniform():
            return UniformGame(protocol.bins, fakes)
        case ClearShaped() if mixes == 0:
            return UniformGame(protocol.bins, 0)
        case ClearShaped():
            return ShapedGame(protocol.weights, mixes or protocol.mixes)
        case FlipUniform() if fakes and people + fakes <= _MOST_MESSAGES:
            return UniformFlipsGame(protocol.threshold, protocol.bins, people, fakes)
        case Flips():
            x, u, v = _records(protocol, people + 1)
            times = protocol.repeats if isinstance(protocol, FlipVector) else 1
            if not people:  # positions that nobody holds tell nothing
                keep = [i for i in range(len(u)) if u[i] or v[i]]
                x, u, v = (tuple(z[i] for i in keep) for z in ((0,) * len(u), u, v))
            if people + fakes > _MOST_MESSAGES:
                raise ParameterError(
                    "collection", wanted=f"at most {_MOST_MESSAGES:,} messages to play",
                    got=f"{people + fakes:,}", do="attack a smaller plan with the same cover",
                )  # fmt: skip
            return FlippedGame(protocol.threshold, x, u, v, people, fakes, times)
    raise ParameterError(
        "protocol", wanted="one that can be played", got=protocol.name, do="choose another"
    )


def _records(protocol: Flips, users: int) -> tuple[Bits, Bits, Bits]:
    """What everybody else holds, and the person's two records, in the positions that matter."""
    if isinstance(protocol, (FlipBlank, FlipUniform)):
        k, bins = protocol.most_set, protocol.bins
        if bins == 2 and k == 1:  # nobody can hold a third value
            return (0, 1), (1, 0), (0, 1)
        own = min(k, bins // 2)
        held = min(k, bins - 2 * own)
        zero = (0,) * own
        return (
            (1,) * held + zero + zero,
            (0,) * held + (1,) * own + zero,
            (0,) * held + zero + (1,) * own,
        )
    orbit = _worst_orbit(users, protocol)
    u = (1,) * orbit.only_u + (0,) * orbit.only_v + (1,) * orbit.both
    v = (0,) * orbit.only_u + (1,) * orbit.only_v + (1,) * orbit.both
    return (0,) * len(u), u, v


def _worst_orbit(users: int, protocol: Flips) -> Orbit:
    """How two vectors lie to a crowd of zeros where it tells them apart best, at epsilon 1.

    Of many bits only all against none is taken: searching the others costs minutes.
    """
    bits = protocol.bins
    if not 1 < bits <= _EVERY_ORBIT_BITS or users < 2 or protocol.threshold == SCALE // 2:
        return Orbit(bits, 0, 0)
    return max(
        vectors.orbits(bits),
        key=lambda orbit: vectors.background(users, orbit, protocol.threshold, 1.0).lower,
    )


def play(game: Game, lab: Lab, step: str, share: float = 1.0) -> Worlds:
    """The statistic of many runs; ``share`` of the usual number when the lab names none."""
    runs = lab.runs if lab.runs is not None else quick_runs(game.cost, share)
    together = game.alone(runs, lab.chance, lab.device)
    if together is not None:
        return Worlds(*together)
    u, v = np.empty(runs), np.empty(runs)
    for i in told(runs, lab, step):
        u[i], v[i] = game.draw(lab.chance, lab.device)
    return Worlds(u, v)


def quick_runs(cost: float, share: float = 1.0) -> int:
    """As many runs as are done in five to ten seconds of one core."""
    usual = share * _BUDGET / (_BASE_COST + cost)
    return max(LEAST_RUNS, int(min(_MOST_RUNS, max(_FEWEST_RUNS, usual))))


def told(runs: int, lab: Lab, step: str) -> Iterator[int]:
    """The numbers of the runs, told to the lab now and then."""
    every = max(1, runs // 200)
    for i in range(runs):
        yield i
        if i % every == 0 or i + 1 == runs:
            lab.progress(step, i + 1, runs)
