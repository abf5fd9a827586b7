"""collusion: some users reveal their fakes and flips, all mixes but one reveal theirs, or every
mix.

What conspirators reveal is removed from the batch. The promise is the certificate for the honest
fraction, or what the exact distribution leaves at the share played; without any mix it is the local
epsilon.
"""

from dataclasses import replace

from mixtally.attacks.against import outcomes
from mixtally.attacks.game import pilot, play
from mixtally.attacks.games import game_of
from mixtally.attacks.n_minus_1 import TEST
from mixtally.attacks.outcome import Hypothesis, Lab, Outcome, distinguished
from mixtally.attacks.target import Target, finite, left_among_fakes, left_in_crowd
from mixtally.records.guarantee import arriving
from mixtally.records.mechanism import BitFlips, FakeSource

NAME = "collusion"
SHARE = 0.5
"""The honest share that is played when the promise counts on everybody."""


def run(target: Target, lab: Lab) -> list[Outcome]:
    """Some conspire, then every mix does."""
    lab = replace(lab, error=lab.error / 2.0)
    if target.mechanism.fake_source is FakeSource.MIX:
        return [*_mixes(target, lab), every_mix(target, lab)]
    return [*_users(target, lab), every_mix(target, lab)]


def _users(target: Target, lab: Lab) -> list[Outcome]:
    honest = target.honest_share if target.honest_share < 1.0 else SHARE
    mechanism = target.mechanism
    fakes = arriving(mechanism.fakes_promised, honest)
    people = max(0, arriving(target.crowd, honest) - 1)
    if target.crowd and isinstance(mechanism, BitFlips):
        promised = left_in_crowd(mechanism, max(2, people + 1), fakes, target.delta, lab.accountant)
    elif honest == target.honest_share:
        promised = target.epsilon
    else:
        promised = left_among_fakes(mechanism, fakes, target.delta, lab.accountant)
    game = game_of(mechanism, people, fakes, target.epsilon)
    return outcomes(
        Hypothesis(
            NAME, f"{1.0 - honest:.0%} of the users tell", finite(promised), target.delta, TEST
        ),
        game,
        lab,
    )


def _mixes(target: Target, lab: Lab) -> list[Outcome]:
    game = game_of(target.mechanism, 0, target.mechanism.fakes_promised, mixes=1)
    return outcomes(
        Hypothesis(NAME, "all mixes but one tell", target.epsilon, target.delta, TEST), game, lab
    )


def every_mix(target: Target, lab: Lab) -> Outcome:
    """Every mix reveals which message is the person's: what each report keeps by itself."""
    game = game_of(target.mechanism, 0, 0, mixes=0)
    worlds = play(game, lab, NAME)
    return distinguished(
        Hypothesis(NAME, "every mix tells", finite(target.mechanism.local_epsilon), 0.0, TEST),
        worlds,
        lab,
        played="the person's message alone",
        pilot=pilot(game, len(worlds.u), lab),
    )
