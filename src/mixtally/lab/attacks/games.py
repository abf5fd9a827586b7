"""The game that fits the senders of a plan's messages.

The attacks call ``game_among`` with the senders whose messages hide the person.
"""

from collections.abc import Mapping

from mixtally.lab.attacks.clear_games import ShapedGame, UniformGame
from mixtally.lab.attacks.flipped_game import FlippedGame
from mixtally.lab.attacks.game import ComposedGame, Game
from mixtally.lab.attacks.planes_game import PlanesGame
from mixtally.lab.attacks.records import worst_records
from mixtally.lab.attacks.replaced_game import ReplacedGame
from mixtally.lab.attacks.senders import Senders
from mixtally.lab.attacks.set_game import SetGame
from mixtally.lab.attacks.uniform_flips import UniformFlipsGame
from mixtally.model.contract import Shape


def game_among(behind: Mapping[Senders, int], epsilon: float = 1.0) -> Game:
    """Return the worst known game for all messages that a person sends.

    Each part is played as often as ``behind`` states. ``epsilon`` is the privacy loss at which the
    worst two records are searched for.
    """
    games = [
        (game_of(who, epsilon), times * _games_per_record(who)) for who, times in behind.items()
    ]
    if [times for _, times in games] == [1]:
        return games[0][0]
    return ComposedGame(tuple(games))


def game_of(who: Senders, epsilon: float = 1.0) -> Game:
    """Return the worst known game for one part, or for one message of a set among shaped fakes."""
    if not who.threshold:
        if _has_shaped_fakes(who):
            return ShapedGame(who)
        if who.part.pads:
            return SetGame(who)
        if who.part.planes is not None:
            return PlanesGame(who)
        return UniformGame(who) if who.part.replaced is None else ReplacedGame(who)
    if who.has_uniform_fakes and who.fakes:
        return UniformFlipsGame(who)
    return FlippedGame(who, *worst_records(who.part, who.people, who.fakes, epsilon))


def _games_per_record(who: Senders) -> int:
    """Return how many equal games a record is: one per message of a set among shaped fakes."""
    return who.part.record_messages if _has_shaped_fakes(who) else 1


def _has_shaped_fakes(who: Senders) -> bool:
    return isinstance(who.part.recipe, Shape) and who.mixes > 0
