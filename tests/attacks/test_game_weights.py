"""Weights and distributions of the games fit each other, and every message is counted."""

import numpy as np
import pytest

from attacks.mechanisms import flipped, uniformly
from mixtally.lab.attacks.flipped_game import FlippedGame
from mixtally.lab.attacks.multinomial import Binomials
from mixtally.lab.simulation.seeded import SeededChance


@pytest.mark.parametrize(
    "game",
    [uniformly(0.1, bins, people, 30) for bins in (2, 5, 64, 65, 500) for people in (0, 9)]
    + [
        flipped(0.2, (0, 0, 1), (1, 0, 0), (0, 1, 0), people, fakes)
        for people, fakes in ((5, 0), (0, 5), (3, 4))
    ],
    ids=lambda game: f"{type(game).__name__}-{game.senders.people}-{game.senders.fakes}",
)
def test_a_weight_is_the_chance_over_that_of_a_hiding_message(game):
    others, fake, *own = game._pmfs
    people, fakes = game.senders.people, game.senders.fakes
    hiding = (people * others + fakes * fake) / (people + fakes)
    for pmf, weights in zip(own, game._ratios, strict=True):
        assert pmf.sum() == pytest.approx(1.0, abs=1e-12)
        assert hiding * np.exp(weights) == pytest.approx(pmf, rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("times", [1, 2, 5])
def test_drawn_counts_are_those_of_all_messages(times, monkeypatch):
    game = flipped(0.2, (0, 0), (1, 0), (0, 1), 7, 0, times=times)
    monkeypatch.setattr(FlippedGame, "_statistics", lambda _, counts: counts.sum(axis=1))
    drawn = game.draw_from_distribution(50, Binomials(SeededChance(1)))
    assert game.senders.messages == 8 * times
    for counts in drawn:
        assert set(counts.tolist()) == {8 * times}
