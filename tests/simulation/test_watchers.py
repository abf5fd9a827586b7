"""How many watchers find which loss: the formula, and a mix that drops envelopes at random."""

import math
import random
from hashlib import sha256

import pytest

from mixtally.device.wire.arrivals import ListFile, find_tags, make_list, make_tagger
from mixtally.errors import ParameterError
from mixtally.lab.simulation.watchers import detection_probability, needed_watchers


def test_three_hundred_watchers_find_one_percent():
    assert detection_probability(0.01, 300) == pytest.approx(1 - 0.99**300, abs=1e-12)
    assert round(detection_probability(0.01, 300), 3) == 0.951
    assert detection_probability(0.01, 100, 3) == pytest.approx(detection_probability(0.01, 300))
    assert needed_watchers(0.01, 0.95) == 299
    assert needed_watchers(0.01, 0.95, 3) == 100
    assert needed_watchers(0.001, 0.95) == 2995
    assert detection_probability(0, 300) == detection_probability(0.5, 0) == 0
    assert detection_probability(1, 1) == 1
    for bad in (-0.1, 1.1, math.nan):
        with pytest.raises(ParameterError):
            detection_probability(bad, 1)
    for bad in (0, 1, math.nan):
        with pytest.raises(ParameterError):
            needed_watchers(bad, 0.5)


def noticed(runs, share, seed):
    """In how many runs 30 watchers among 200 people miss a tag in the list of the next hop."""
    chance, tag, seen = random.Random(seed), make_tagger(bytes(32), 2), 0
    for run in range(runs):
        sent = [b"%d of %d" % (i, run) for i in range(200)]
        watched = {tag(one) for one in chance.sample(sent, 30)}
        kept = [one for one in sent if chance.random() >= share]
        (data,) = make_list(kept, tag)
        file = ListFile(sha256(data).hexdigest(), len(kept))
        seen += find_tags(watched, [file], lambda _, data=data: data) != watched
    return seen


def test_they_notice_it_as_often_as_the_formula_says():
    """False-alarm probability 6e-7: five standard deviations of 1,000 runs."""
    runs, expected = 1000, detection_probability(0.03, 30)
    margin = 5 * math.sqrt(runs * expected * (1 - expected))
    assert abs(noticed(runs, 0.03, 1) - runs * expected) < margin
    assert abs(noticed(runs, 0.015, 1) - runs * expected) > margin  # the twin drops half as much
    assert noticed(200, 0, 1) == 0
