"""Cumulants of the noise against those of every message, summed: messages are independent."""

from itertools import product

import numpy as np
import pytest

from helpers.named import flip_uniform
from mixtally.primitives.fixed_point import threshold_of
from mixtally.protocol.estimate.cumulants import cumulants

CASES = [
    (2, 10, (5, 3), 0.1),
    (3, 30, (5, 0, 9), 0.02),
    (4, 100, (5, 0, 9, 100), 0.2),
    (5, 7, (40, 0, 0, 0, 0), 0.01),
    (3, 1000, (1000, 0, 50), 0.003),
]


def of_every_message(mechanism, held, weights):
    """Second to fourth cumulant of sum_j w_j z_j: those of each record's flips, added up."""
    q, bins = mechanism.flip_probability, mechanism.bins
    shown = np.array(list(product((0, 1), repeat=bins)))
    values = shown @ weights / (1.0 - 2.0 * q)

    def chances(own):
        flips = (shown != (np.arange(bins) == own)).sum(axis=1)
        return q**flips * (1.0 - q) ** (bins - flips)

    def three(law):
        away = values - law @ values
        square = law @ away**2
        return np.array([square, law @ away**3, law @ away**4 - 3.0 * square**2])

    laws = [chances(own) for own in range(bins)]
    people = sum(count * three(law) for count, law in zip(held, laws, strict=True))
    return people + mechanism.fakes_promised * three(sum(laws) / bins)


def differences(bins, fakes, held, flip):
    """Of each cumulant, relative to the power of the deviation, with the bound of the fourth."""
    mechanism = flip_uniform(bins=bins, fakes=fakes, threshold=threshold_of(flip))
    messages, found = sum(held) + fakes, []
    for weights in (np.eye(bins)[0] - 1.0 / bins, np.arange(bins) - (bins - 1.0) / 2.0):
        noise = cumulants(mechanism, messages, np.array(held, dtype=np.float64))
        stated = np.array([
            noise.variance * (weights @ weights), weights**3 @ noise.third,
            noise.fourth * (weights**4).sum(),
        ])  # fmt: skip
        true = of_every_message(mechanism, held, weights)
        found.append((stated - true) / true[0] ** np.array([1.0, 1.5, 2.0]))
    return np.abs(found).max(axis=0), 3.0 / fakes + 2.0 / messages


@pytest.mark.parametrize(("bins", "fakes", "held", "flip"), CASES)
def test_flips_with_uniform_fakes_are_as_every_message_has_them(bins, fakes, held, flip):
    off, most = differences(bins, fakes, held, flip)
    assert off[:2] == pytest.approx(0.0, abs=1e-9)
    assert off[2] <= most
