"""tell-apart: which of two answers did one person give, seen from all shuffled messages.

Everybody else holds the same third answer, which is the background the seeds and this package know
as worst; the attacker knows that. In clear he subtracts what the others hold.
"""

from mixtally.lab.attack.games import game_of, play
from mixtally.lab.attack.outcome import Lab, Outcome, told_apart
from mixtally.lab.attack.target import Target

NAME = "tell-apart"
RATIO_TEST = (
    "likelihood ratio of the whole multiset of messages; optimal but for a crowd beside fakes, "
    "where their mean law stands for both"
)


def run(target: Target, lab: Lab) -> list[Outcome]:
    """One game against the promise itself."""
    game = game_of(target.protocol, target.users - 1, target.protocol.fakes)
    worlds = play(game, lab, NAME)
    return [
        told_apart(
            NAME, "sees every message", worlds, lab,
            promised=target.epsilon, delta=target.delta, played=game.played, test=RATIO_TEST,
        )
    ]  # fmt: skip
