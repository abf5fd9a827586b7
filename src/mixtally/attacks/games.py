"""Which game those are in who send a plan's messages."""

from collections.abc import Mapping

from mixtally.attacks.clear import ShapedGame, UniformGame
from mixtally.attacks.flipped import FlippedGame
from mixtally.attacks.game import ComposedGame, Game
from mixtally.attacks.planes import PlanesGame
from mixtally.attacks.records import worst_records
from mixtally.attacks.replaced import ReplacedGame
from mixtally.attacks.senders import Senders
from mixtally.attacks.sets import SetGame
from mixtally.attacks.uniform_flips import UniformFlipsGame


def game_among(behind: Mapping[Senders, int], epsilon: float = 1.0) -> Game:
    """The worst game known of all that a person sends, each part as often as stated.

    ``epsilon`` is where the worst two records are looked for.
    """
    games = [(game_of(who, epsilon), times) for who, times in behind.items()]
    if [times for _, times in games] == [1]:
        return games[0][0]
    return ComposedGame(tuple(games))


def game_of(who: Senders, epsilon: float = 1.0) -> Game:
    """The worst game known of one part."""
    if who.part.replaced is not None:
        return ReplacedGame(who)
    if not who.threshold:
        if who.part.planes is not None:
            return PlanesGame(who)
        if who.part.pads:
            return SetGame(who)
        shaped = who.part.by_mixes and who.mixes > 0
        return ShapedGame(who) if shaped else UniformGame(who)
    if who.uniform and who.fakes:
        return UniformFlipsGame(who)
    return FlippedGame(who, *worst_records(who.part, who.people, who.fakes, epsilon))
