"""Two programs that share nothing come to the same numbers."""

import random

import pytest

from helpers.sampled import exhaustive
from mixtally.accounting.accountant import Accountant
from mixtally.accounting.verification import derive_parts, verify_certificate
from mixtally.errors import PlanError
from mixtally.model.shape import GaussianShape, LaplaceShape
from verification.written import certified, clear, flips, plain, plan_of, random_plan, stated

SIX_DIGITS = 1e-6
COINS, SETS = 2e-3, 1e-3
CELLS = 0.5
"""By which the accountant overstates coins among values that are replaced."""
NEGLIGIBLE = 2e-18
"""No worst crowd is searched for below."""
FLOOR = 1e-26
"""The accountant adds as much for its windows."""


def disagreement(plan, accountant=None):
    """What is wrong between the accountant's number and that derived again; None for nothing."""
    said, (found,) = certified(plan, accountant), derive_parts(plain(plan))
    part = plan.parts[0]
    coins = part.own is not None and part.own.coin > 0
    if part.replaced is not None and found.protocol == "kary-response" and part.bins == 2:
        return two_bins_disagree(said, found)
    both, coins = coins and part.replaced is not None, coins or part.replaced is not None
    # Of a bit the accountant averages the larger direction, which may be more than the truth.
    turned = coins and found.protocol == "single-bit"
    if not ((turned or said.lower <= found.upper) and found.least <= said.upper):
        return "outside", said, found
    wide = CELLS if both else COINS if coins else SETS if part.pads else SIX_DIGITS
    if not (turned or said.upper <= found.upper * (1.0 + wide) + FLOOR):
        return "too high", said, found
    if part.pads:  # how far off Poisson numbers are, neither proof knows
        return ("wide", said, found) if found.upper > said.upper * (1.0 + SETS) + FLOOR else None
    lower = found.least if found.lower is None else found.lower
    if not found.upper - lower - (found.least - lower) <= wide * found.upper + FLOOR:
        return "wide", said, found
    if found.protocol != plan.parts[0].protocol:
        return "name", said, found
    return None


def two_bins_disagree(said, found):
    """Of two bins both proofs end some thousandths above the worst crowd; of coins one does."""
    if not (found.lower or 0.0) <= said.upper or not said.lower <= found.upper:
        return "outside", said, found
    near = found.lower is None or said.upper <= found.upper * (1.0 + CELLS) + NEGLIGIBLE
    tight = found.least is None or found.upper <= found.lower * 1.01 + FLOOR
    return None if near and tight else ("wide", said, found)


def wrong_ones(seed, count):
    chance, accountant = random.Random(seed), Accountant()
    for _ in range(count):
        plan = random_plan(chance)
        found = disagreement(plan, accountant)
        if found is not None:
            yield plan.parts[0], plan.guarantee.epsilon, plan.minimum_crowd, found


def test_random_contracts():
    assert list(wrong_ones(20170, 40)) == []


@pytest.mark.slow
@pytest.mark.parametrize("count", [100, *exhaustive([300])])
def test_many_random_contracts(count):
    assert list(wrong_ones(4, count)) == []


LARGE = [
    (flips(10**6, int(4.3e-9 * 2**64), blanks=10**10), 1.0),
    (flips(1000, int(2.7e-5 * 2**64), blanks=10**10), 0.01),
    (flips(1, int(3.5e-9 * 2**64), most_set=None, blanks=10**10), 1.0),
    (flips(1000, int(0.26 * 2**64), blanks=10**6), 0.01),
    (clear(10**7, whole=1000), 0.3),
    (clear(20_000, whole=1), 0.1),
    (clear(2, shape=LaplaceShape(int(0.99 * 2**64), 1000)), 0.02),
    (clear(2, shape=GaussianShape(5000, 300)), 0.1),
]


@pytest.mark.parametrize(("part", "epsilon"), LARGE)
def test_six_digits_up_to_ten_billion_fakes(part, epsilon):
    people = 10**7 if part.bins == 10**7 else 10**6
    plan = plan_of(part, epsilon=epsilon, people=people)
    assert disagreement(plan) is None


@pytest.mark.parametrize(("part", "epsilon"), LARGE[1:4] + LARGE[5:])
def test_a_certificate_lowered_in_its_sixth_digit_is_refused(part, epsilon):
    """Where the number of fakes is fixed."""
    plan = plan_of(part, epsilon=epsilon, people=10**6)
    true = certified(plan)
    kept = plain(plan_of(part, epsilon=epsilon, people=10**6, certificate=true))
    assert verify_certificate(kept).whole
    kept["certificate"]["upper"] *= 1.0 - 1e-6
    with pytest.raises(PlanError, match="its promise is false"):
        verify_certificate(kept)


def test_an_altered_number_is_seen_by_the_comparison():
    """The twin of the agreement: each figure of the plan matters."""
    part, others = flips(40, 1 << 58, blanks=2000), flips(40, (1 << 58) + (1 << 40), blanks=2000)
    true = certified(plan_of(part))
    found = derive_parts(plain(plan_of(others, certificate=stated(1.0, 0.0, 0.1))))[0]
    assert not (true.lower <= found.upper and found.least <= true.upper)
