"""Plans to compose, tiny ones with their product distribution enumerated in exact integers."""

import itertools
import math
from functools import lru_cache

from msgspec.structs import replace

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
from oracle import both, exp_exactly, gains, matrix_of, profile, scenes
from reference.played import part_of

FIFTH = SCALE // 5
BLANK = flip_blank(bins=2, fakes=2, threshold=FIFTH)
UNIFORM = clear_uniform(bins=3, fakes=4)
SHAPED = clear_gaussian(bins=2, variance=1, shift=2)
TINY = (BLANK, UNIFORM, SHAPED)
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
    """The largest delta of two answers to each of both, from the definition."""
    each = [[profile(*laws) for laws in scenes(matrix_of(m))] for m in (one, other)]
    pairs = (both(*some) for some in itertools.product(*each))
    return float(max(gains(pair, [exp_exactly(epsilon)])[0] for pair in pairs))


def holds(pair, epsilon, losses=pld):
    """Whether the composition of a pair of tiny plans is not below the truth and within 1 %."""
    try:
        found = LossSum([(losses(one), 1) for one in pair]).delta(epsilon)
    except (AccountingError, ValueError):
        return False
    truth = product_truth(*pair, epsilon)
    return truth <= found <= 1.01 * truth
