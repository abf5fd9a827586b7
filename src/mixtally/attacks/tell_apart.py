"""tell-apart: which of two records did one person send, seen from all shuffled messages.

Everybody else holds the same third answer, which is the background the seeds and this package know
as worst; the attacker knows that. In clear he subtracts what the others hold.
"""

from mixtally.attacks.against import outcomes
from mixtally.attacks.games import game_of
from mixtally.attacks.outcome import Hypothesis, Lab, Outcome
from mixtally.attacks.target import Target

NAME = "tell-apart"
RATIO_TEST = (
    "likelihood ratio of the whole multiset of messages; optimal but for more than one bit of a "
    "crowd beside fakes, where their mean distribution stands for both"
)


def run(target: Target, lab: Lab) -> list[Outcome]:
    """One game against the promise itself."""
    game = game_of(target.mechanism, target.others, target.mechanism.fakes_promised, target.epsilon)
    return outcomes(
        Hypothesis(NAME, "sees every message", target.epsilon, target.delta, RATIO_TEST), game, lab
    )
