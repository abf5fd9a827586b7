"""Ballots that are sent several times: what is likely is of votes, not of messages."""

import numpy as np
import pytest

from helpers.named import clear_shaped, clear_uniform, flip_blank
from mixtally.model.estimates import Tally
from mixtally.model.shape import ratio_of
from mixtally.primitives.fixed_point import threshold_of
from mixtally.protocol.estimate import winner
from mixtally.protocol.estimate.noise import noise_distribution

VOTES = np.arange(121)
MECHANISMS = [
    clear_uniform(bins=100, fakes=5_000, repeats=2),
    clear_shaped(bins=3, ratio=ratio_of(0.2), shift=40, repeats=2),
    flip_blank(bins=3, fakes=300, threshold=threshold_of(0.1), repeats=3),
]


def apart(mechanism):
    """How far the stated law of votes is from what the noise at each number of them says."""
    messages = mechanism.repeats * 200 + mechanism.fakes_promised
    seen = round(mechanism.gain * 75 + mechanism.offset(messages))
    told = []
    for votes in VOTES.tolist():
        noise = noise_distribution(mechanism, messages, votes)
        place = seen - votes - noise.first
        told.append(noise.pmf[place] if 0 <= place < len(noise.pmf) else 0.0)
    stated = winner._posterior(mechanism, Tally(np.array([seen]), messages), seen, VOTES)
    return np.abs(stated - np.array(told) / sum(told)).sum()


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda m: m.name)
def test_votes_are_as_likely_as_the_noise_beside_them(mechanism):
    """Uniform fakes are Poisson where the sum is not known: 1 % apart in variance of 100 bins."""
    assert apart(mechanism) < (0.01 if mechanism.name == "clear-uniform" else 1e-9)
