"""Requests to plan for, and the distributions of what an observer learns, made from their
definitions alone.

Nothing here uses the project's divergences: an outcome (a, b) counts the messages that speak for
the two answers, and its privacy loss is the ratio of the two probabilities of having seen it.
"""

import math
from functools import lru_cache

import numpy as np
from scipy.stats import binom

from mixtally.model.guarantee import Guarantee
from mixtally.model.question import Kind, Question, make_attributes_question, make_open_question
from mixtally.planning import Planner, PlanRequest
from mixtally.primitives.fixed_point import SCALE

OPEN = make_open_question("word", "00112233445566778899aabbccddeeff")
"""Whatever people say: the planner says how many points there are."""
BIT = Question(name="smokes", bins=1, kind=Kind.BITS)
PAIR = make_attributes_question("trip", (10, 1000))
_PLANNER = Planner()


def request(bins=1000, users=10**6, epsilon=1.0, delta=1e-6, question=None, **rest):
    return PlanRequest(
        question=question or Question(name="q", bins=bins),
        guarantee=Guarantee(epsilon=epsilon, delta=delta),
        users=users,
        **rest,
    )


@lru_cache(maxsize=64)
def surveyed(asked):
    """Every candidate for a request; compositions take seconds, so each is made once."""
    return _PLANNER.candidates(asked).found


def proved(asked):
    """The plan of every candidate that has one, from good to bad."""
    found = [_PLANNER.plan(candidate) for candidate in surveyed(asked)]
    return [plan for plan in found if plan is not None]


def named(asked, name, cover="people"):
    """The plan called ``name``, its cover by people or by every mix."""
    (found,) = [plan for plan in proved(asked) if (plan.name, plan.cover) == (name, cover)]
    return found


def losses(part, people):
    """(loss, probability) of every outcome of a part that matters when the user gave the first
    answer, K being told.

    The loss is infinite where the second answer could not have led to the outcome. Outcomes beyond
    14 standard deviations, less than 1e-40 of all, are left out. Where coins say how many fakes
    come, cells of K have the fakes of their fullest: so no delta is above the truth.
    """
    own = part.own
    if own is None or not own.coin:
        fakes = part.mean_added if own is None else people * own.whole
        return _losses(part.mechanism(fakes=fakes))
    phi, sure = own.coin / SCALE, people * own.whole
    step = max(1, round(binom.std(people, phi) / _CELLS))
    first = max(0, round(binom.mean(people, phi)) - 9 * _CELLS * step)
    ends = np.arange(first, min(people, first + 18 * _CELLS * step) + 1, step)
    chances = np.diff(binom.cdf(ends, people, phi), prepend=0.0)
    pairs = [_losses(part.mechanism(fakes=sure + int(end))) for end in ends]
    chance = np.concatenate([c * p for c, (_, p) in zip(chances, pairs, strict=True)])
    return np.concatenate([loss for loss, _ in pairs]), chance


_CELLS = 8
"""In a standard deviation of K."""


def _losses(mechanism):
    """The same with so many fakes."""
    if mechanism.name == "clear-shaped":
        pmf = np.array([w / SCALE for w in mechanism.fakes.shape.weights])
        first = np.append(0.0, pmf)[:, None] * np.append(pmf, 0.0)[None, :]
        return _ratio(first, first.T)
    fakes = mechanism.fakes_promised
    total = fakes + 1
    if mechanism.name == "clear-uniform":
        share = 1.0 / mechanism.cells  # over planes values that meet tell less
        a = _window(fakes, share)
        # The two cells of all fakes: a binomial, and the other one among what is left.
        both = binom.pmf(a, fakes, share)[:, None] * binom.pmf(
            a[None, :], (fakes - a)[:, None], share / (1.0 - share)
        )
        first, second = np.zeros_like(both), np.zeros_like(both)
        first[1:, :], second[:, 1:] = both[:-1, :], both[:, :-1]
        return _ratio(first, second)
    q = mechanism.threshold / SCALE
    r = (1.0 - q) / q
    a = _window(total, q)
    background = binom.pmf(a, total, q)
    weight = (a * r + (total - a) / r) / total
    first = (background * weight)[:, None] * background[None, :]
    return _ratio(first, background[:, None] * (background * weight)[None, :])


def _window(trials, share):
    mean = trials * share
    reach = 14.0 * math.sqrt(mean) + 30.0
    return np.arange(max(0, math.floor(mean - reach)), min(trials, math.ceil(mean + reach)) + 1)


def _ratio(first, second):
    keep = first > 0.0
    with np.errstate(divide="ignore"):
        return np.log(first[keep]) - np.log(second[keep]), first[keep]


def divergence(atoms, epsilons):
    """delta at each of ``epsilons``, any real numbers."""
    loss, chance = atoms
    order = np.argsort(loss)
    loss, chance = loss[order], chance[order]
    above = np.append(np.cumsum(chance[::-1])[::-1], 0.0)
    tilted = np.append(np.cumsum((chance * np.exp(-loss))[::-1])[::-1], 0.0)
    place = np.searchsorted(loss, epsilons, side="right")
    # An infinite threshold is passed by nothing but an infinite loss, which is not asked for.
    return np.maximum(above[place] - np.exp(epsilons) * tilted[place], 0.0)


def composed_twice(one, other, epsilon):
    """delta of both collections together, summed over every outcome of the first."""
    loss, chance = one
    sure = np.isinf(loss)
    rest = divergence(other, epsilon - loss[~sure])
    return float(chance[sure].sum() + chance[~sure] @ rest)
