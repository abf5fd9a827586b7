"""n-1: all other reports are the attacker's; he subtracts what he knows and is left with fakes.

This is the worst background of a promise that counts on fakes alone, and the game its certificate
bounds exactly. A promise that counts on the crowd's flips does not speak of it: then what the fakes
alone are worth is the promise.
"""

from mixtally.attacks.against import outcomes
from mixtally.attacks.games import game_of
from mixtally.attacks.outcome import Hypothesis, Lab, Outcome
from mixtally.attacks.target import Target, finite, left_among_fakes

NAME = "n-1"
TEST = "likelihood ratio of the whole multiset of messages; optimal"


def run(target: Target, lab: Lab) -> list[Outcome]:
    """One game with nobody else in it."""
    game = game_of(target.mechanism, 0, target.mechanism.fakes_promised, target.epsilon)
    promised: float | None = target.epsilon
    case = "knows all other reports"
    if target.crowd:
        fakes = target.mechanism.fakes_promised
        promised = finite(left_among_fakes(target.mechanism, fakes, target.delta, lab.accountant))
        case = "knows others' reports and flips"
    return outcomes(Hypothesis(NAME, case, promised, target.delta, TEST), game, lab)
