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
from mixtally.lab.attacks.set_game import SetGame, SlotsGame
from mixtally.lab.attacks.uniform_flips import UniformFlipsGame
from mixtally.model.contract import Shape


def game_among(sender_counts: Mapping[Senders, int], epsilon: float = 1.0) -> Game:
    """Return the worst known game for all messages that a person sends.

    ``sender_counts`` has the senders of each part, and how often a person sends the part.
    ``epsilon`` is the privacy loss at which the two records with the largest known divergence are
    searched for.
    """
    games = [
        (game_of(who, epsilon), times * _games_per_record(who))
        for who, times in sender_counts.items()
    ]
    if [times for _, times in games] == [1]:
        return games[0][0]
    return ComposedGame(tuple(games))


def game_of(senders: Senders, epsilon: float = 1.0) -> Game:
    """Return the worst known game for one part, or for one message of a set among shaped fakes."""
    if not senders.threshold:
        if _has_shaped_fakes(senders):
            return ShapedGame(senders)
        if senders.part.slots is not None:
            return SlotsGame(senders)
        if senders.part.pads:
            return SetGame(senders)
        if senders.part.planes is not None:
            return PlanesGame(senders)
        return UniformGame(senders) if senders.part.replaced is None else ReplacedGame(senders)
    if senders.has_uniform_fakes and senders.fakes:
        return UniformFlipsGame(senders)
    return FlippedGame(
        senders, *worst_records(senders.part, senders.people, senders.fakes, epsilon)
    )


def _games_per_record(senders: Senders) -> int:
    """Return how often the game of ``game_of`` is played for each record that a person sends.

    For a set among shaped fakes, the game is played once for each message of the set. For any other
    record, the game is played once.
    """
    return senders.part.record_messages if _has_shaped_fakes(senders) else 1


def _has_shaped_fakes(senders: Senders) -> bool:
    return isinstance(senders.part.recipe, Shape) and senders.mixes > 0
