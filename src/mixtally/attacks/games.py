"""Which game the people of a plan, or of a contract's part behind its honest hop, are in."""

from mixtally.attacks.clear import ShapedGame, UniformGame
from mixtally.attacks.flipped import FlippedGame
from mixtally.attacks.game import Game
from mixtally.attacks.records import worst_records
from mixtally.attacks.senders import PlanSenders, Senders
from mixtally.attacks.uniform_flips import UniformFlipsGame
from mixtally.errors import ParameterError
from mixtally.records.mechanism import BitFlips, InClear, ShapedFakes, Shuffled, UniformFakes


def game_of(
    mechanism: Shuffled, people: int, fakes: int, epsilon: float = 1.0, mixes: int | None = None
) -> Game:
    """The worst game known for ``mechanism`` among so many others and fakes.

    where
      people    others whose messages the attacker cannot remove; all hold the same
      epsilon   where the worst two records are looked for
      mixes     mixes whose shaped fakes the attacker does not know, None for all, 0 for none
    """
    others = people if mechanism.flip_threshold else 0
    return game_among(PlanSenders(mechanism, others, fakes), epsilon, mixes)


def game_among(senders: Senders, epsilon: float, mixes: int | None = None) -> Game:
    """The worst game known among these senders; arguments as ``game_of`` has them."""
    match mechanism := senders.mechanism:
        case InClear(fakes=ShapedFakes() as shaped) if mixes != 0:
            return ShapedGame(senders, mixes or shaped.mixes)
        case InClear():
            return UniformGame(senders)
        case BitFlips(fakes=UniformFakes()) if senders.fakes:
            return UniformFlipsGame(senders)
        case BitFlips():
            records = worst_records(mechanism, senders.people, senders.fakes, epsilon)
            return FlippedGame(senders, *records)
    raise ParameterError(
        "protocol", wanted="one that can be played", got=mechanism.name, do="choose another"
    )
