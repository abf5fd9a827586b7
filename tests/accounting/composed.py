"""Plans to compose, tiny ones with their product distribution enumerated in exact integers."""

import itertools
import math
from functools import lru_cache

from msgspec.structs import replace

from accounting import brute
from helpers import contracts, least
from helpers.named import clear_gaussian, clear_shaped, clear_uniform, flip_blank
from mixtally.accounting.accountant import Accountant, Record, local_epsilon
from mixtally.accounting.composition.convolve import LossSum
from mixtally.accounting.composition.pld import loss_distribution
from mixtally.accounting.plans.terms import PrivacyTerms, certify_terms
from mixtally.errors import AccountingError
from mixtally.model.guarantee import Guarantee
from mixtally.model.question import Question
from mixtally.primitives.fixed_point import SCALE
from reference.played import part_of

FIFTH = SCALE // 5
BLANK = flip_blank(bins=2, fakes=2, threshold=FIFTH)
UNIFORM = clear_uniform(bins=3, fakes=4)
SHAPED = clear_gaussian(bins=2, variance=1, shift=2)
TINY = {
    BLANK: lambda: [
        brute.sum_of([brute.flipped(2, bit, FIFTH), *[brute.flipped(2, 0, FIFTH)] * 2])
        for bit in (1, 2)
    ],
    UNIFORM: lambda: [
        brute.sum_of([brute.in_clear(3, b), *[brute.uniform(3)] * 4]) for b in (0, 1)
    ],
    SHAPED: lambda: [
        brute.sum_of(
            [
                brute.in_clear(2, b),
                *(brute.shaped(2, at, SHAPED.fakes.shape.weights) for at in (0, 1)),
            ]
        )
        for b in (0, 1)
    ],
}
PAIRS = list(itertools.combinations_with_replacement(TINY, 2))
EPSILONS = [0.1, 0.5, 1.0, 1.7]
LARGE = [
    flip_blank(bins=100, fakes=10**6, threshold=least.threshold(10**6, 1.0, 1e-6)),
    clear_uniform(bins=100, fakes=4261),
    clear_shaped(bins=100, ratio=round(SCALE * math.exp(-0.5)), shift=27),
    flip_blank(bins=9, fakes=10**7, threshold=least.threshold(10**7, 0.1, 1e-9)),
]


def plan_of(mechanism, epsilon=1.0, share=1.0, **changes):
    """A plan of this mechanism, each of whose fakes is that of another person."""
    question = Question(name="q", bins=mechanism.bins)
    users = max(2, mechanism.fakes_promised) if mechanism.shaped_fakes is None else 1000
    made = contracts.plan_of(
        question, [part_of(mechanism)], epsilon=epsilon, users=users, honest_share=share, **changes
    )
    upper = certify_terms(PrivacyTerms.of(made)).upper
    promised = Guarantee(epsilon=epsilon, delta=min(0.1, max(upper, 1e-15)))
    placeholder = contracts.placeholder(promised)
    return contracts.proved(replace(made, guarantee=promised, certificate=placeholder))


def curve(mechanism):
    """The upper bound of delta at every epsilon, from an accountant of its own."""
    accountant, record = Accountant(), Record.of(mechanism)
    return lambda epsilon: accountant.upper(record, epsilon)


def pld(mechanism, bound=curve):
    """From the curve that is ``bound`` of it, which is never remembered."""
    return loss_distribution(bound(mechanism), local_epsilon(Record.of(mechanism)))


@lru_cache
def product_truth(one, other, epsilon):
    """delta of the pair of product distributions, both directions, from the definition."""
    first, second = TINY[one](), TINY[other]()
    both = [
        {(a, b): x * y for a, x in p.items() for b, y in q.items()}
        for p, q in zip(first, second, strict=True)
    ]
    return float(max(brute.one_way(*both, epsilon), brute.one_way(*both[::-1], epsilon)))


def holds(pair, epsilon, losses=pld):
    """Whether the composition of a pair of tiny plans is not below the truth and within 1 %."""
    try:
        found = LossSum([(losses(one), 1) for one in pair]).delta(epsilon)
    except (AccountingError, ValueError):
        return False
    truth = product_truth(*pair, epsilon)
    return truth <= found <= 1.01 * truth
