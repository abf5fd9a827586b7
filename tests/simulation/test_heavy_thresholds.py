"""The thresholds of a search share its error rate: over all rounds, not one rate a round."""

import numpy as np
import pytest
from scipy.stats import binom

from examples.english import english
from mixtally.lab.simulation.heavy import Participation, Search, design_search, find_words
from mixtally.lab.simulation.lab import Lab
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.guarantee import Guarantee
from mixtally.primitives.fixed_point import SCALE
from mixtally.protocol.estimate.conclude import extensions

RATE = 0.05
USERS = 3000


def above(part, fakes, people, most):
    """The chance that the messages of an empty bin are more than ``most``."""
    if part.threshold is not None:
        return binom(fakes + people, part.threshold / SCALE).sf(most)
    share = 0.0 if part.replaced is None else part.replaced / SCALE
    random = np.arange(fakes + 1)
    others = binom(people, share / part.bins).sf(most - random)
    return float(binom(fakes, 1.0 / part.bins).pmf(random) @ others)


def ghosts(way, messages_per_user):
    """The chance of any ghost in all rounds, at most, and with every threshold one lower."""
    crowd = english(USERS, 50, SeededChance(1))
    search = Search(
        guarantee=Guarantee(epsilon=6.0, delta=1e-6), users=USERS, top=3, rounds=5,
        error_rate=RATE, messages_per_user=messages_per_user,
    )  # fmt: skip
    planned = design_search(search, way)
    found = find_words(planned, crowd.question.labels, crowd.codes, Lab(SeededChance(2)))
    (part,), played = planned.plan.parts, found.rounds

    def chance(lower):
        reached = [
            above(part, r.messages - r.people, r.people, r.threshold - 1 - lower) for r in played
        ]
        return search.rounds * part.bins * sum(reached) / len(reached)

    return chance(0), chance(1)


@pytest.mark.seconds
@pytest.mark.parametrize("messages", [1.5, 5.0])
@pytest.mark.parametrize("way", Participation)
def test_all_rounds_together_publish_a_ghost_as_rarely_as_stated(way, messages):
    """False alarm: none, chances are computed by the exact distribution of an empty bin."""
    chance, one_lower = ghosts(way, messages)
    assert chance <= RATE < one_lower


@pytest.mark.seconds
@pytest.mark.parametrize("messages", [1.5, 5.0])
def test_a_rate_for_every_round_is_noticed(plant, messages):
    plant(
        extensions,
        "least_significant",
        lambda honest, p, m, tests, rate: honest(p, m, tests // 5, rate),
    )
    assert ghosts(Participation.EVERY_ROUND, messages)[0] > RATE
