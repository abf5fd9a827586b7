"""The largest loss of memoized answers: the closed form against every outcome of a few reports."""

import itertools
import math
from fractions import Fraction

import mpmath as mp
import pytest

from helpers.sampled import covering
from mixtally.accounting.divergence import memoized as module
from mixtally.errors import AccountingError, ParameterError
from mixtally.model.mechanism.memoized import make_memoized

PRINTED = {1: 0.537, 2: 1.009, 5: 1.828, 10: 2.150, 50: 2.197}
CASES = [
    (f, (p, q), (hashes, reports))
    for f in (0.25, 0.5, 0.875)
    for p, q in ((0.5, 0.75), (0.25, 0.5), (0.125, 0.875), (0.0, 0.5), (0.5, 1.0), (0.0, 1.0))
    for hashes, reports in ((1, 1), (1, 2), (1, 3), (1, 4), (2, 1), (2, 2))
]


def mechanism_of(f, p, q, hashes):
    bins = 2 * hashes if isinstance(hashes, int) and hashes > 0 else 2
    return make_memoized(bins, f, p, q, hashes=hashes)


def eps_reports(f, p, q, hashes, reports):
    return module.eps_reports(mechanism_of(f, p, q, hashes), reports)


def eps_inf(f, hashes):
    return module.eps_inf(mechanism_of(f, 0.5, 0.75, hashes))


def seen(true_bits, f, p, q, outcome):
    """P[all reports | true bits], summed over what is kept; outcome[t][b] is bit b of report t."""
    total = Fraction(0)
    for kept in itertools.product((0, 1), repeat=len(true_bits)):
        chance = Fraction(1)
        for true, held in zip(true_bits, kept, strict=True):
            chance *= 1 - f / 2 if true == held else f / 2
        for report in outcome:
            for held, shown in zip(kept, report, strict=True):
                one = q if held else p
                chance *= one if shown else 1 - one
        total += chance
    return total


def largest_ratio(f, p, q, hashes, reports):
    """max over all outcomes of P[outcome | one value] / P[outcome | another], disjoint bits."""
    f, p, q = Fraction(f), Fraction(p), Fraction(q)
    one, other = (1,) * hashes + (0,) * hashes, (0,) * hashes + (1,) * hashes
    rows = list(itertools.product((0, 1), repeat=2 * hashes))
    worst = Fraction(0)
    for outcome in itertools.product(rows, repeat=reports):
        here, there = seen(one, f, p, q, outcome), seen(other, f, p, q, outcome)
        if here:
            worst = max(worst, here / there)
    return worst


def holds(case):
    """Whether the closed form is the enumerated truth, and not below it."""
    truth = largest_ratio(*case)
    with mp.workdps(40):
        exact = mp.log(mp.mpf(truth.numerator) / truth.denominator)
        found = mp.mpf(eps_reports(*case))
        return bool(exact <= found <= exact * (1 + mp.mpf("1e-11")))


@pytest.mark.parametrize(
    ("permanent", "chances", "sent"),
    covering(CASES, lambda _permanent, _chances, sent: sent[0] * sent[1] < 4),
)
def test_the_closed_form_is_the_largest_ratio_over_all_outcomes(permanent, chances, sent):
    assert holds((permanent, *chances, *sent))


def test_the_enumerated_chances_are_a_distribution():
    f, p, q = Fraction(1, 2), Fraction(1, 4), Fraction(3, 4)
    rows = list(itertools.product((0, 1), repeat=2))
    outcomes = itertools.product(rows, repeat=2)
    assert sum(seen((1, 0), f, p, q, outcome) for outcome in outcomes) == 1


@pytest.mark.parametrize("reports", PRINTED)
def test_the_printed_values(reports):
    assert eps_reports(0.5, 0.5, 0.75, 1, reports) == pytest.approx(PRINTED[reports], abs=5e-4)


def test_one_report_is_the_formula_of_the_paper():
    for f, p, q, hashes in ((0.5, 0.5, 0.75, 2), (0.25, 0.4, 0.6, 1), (0.9, 0.1, 0.7, 8)):
        one = f / 2 * (p + q) + (1 - f) * q
        zero = f / 2 * (p + q) + (1 - f) * p
        paper = hashes * math.log(one * (1 - zero) / (zero * (1 - one)))
        assert eps_reports(f, p, q, hashes, 1) == pytest.approx(paper, rel=1e-11)


def test_the_loss_rises_with_reports_to_that_of_the_permanent_response_and_stays():
    counts = [1, 2, 3, 10, 100, 10**4, 10**6]
    losses = [eps_reports(0.3, 0.45, 0.55, 2, count) for count in counts]
    assert losses == sorted(losses)
    assert losses[0] < losses[3] < losses[-1]
    assert losses[-1] == eps_inf(0.3, 2)
    assert eps_inf(0.5, 1) == pytest.approx(2 * math.log(3), rel=1e-11)


@pytest.mark.parametrize("reports", [1, 1000, 10**6])
@pytest.mark.parametrize("gap", [1e-2, 1e-6, 1e-9])
def test_small_losses_and_many_reports_keep_their_digits(reports, gap):
    """Against 60-digit arithmetic on the definition, where naive powers over- or underflow."""
    f, p = 0.5, 0.5
    q = p + gap
    with mp.workdps(60):
        exact_f, exact_p, exact_q = mp.mpf(f), mp.mpf(p), mp.mpf(q)
        half = exact_f / 2

        def g(z):
            return ((1 - half) * z + half) / (half * z + 1 - half)

        up = (exact_q / exact_p) ** reports
        down = ((1 - exact_q) / (1 - exact_p)) ** reports
        exact = mp.log(g(up)) - mp.log(g(down))
        found = mp.mpf(eps_reports(f, p, q, 1, reports))
        assert exact <= found <= exact * (1 + mp.mpf("1e-10"))


def test_a_fair_coin_for_every_kept_bit_tells_nothing():
    assert eps_inf(1.0, 3) == 0.0
    assert eps_reports(1.0, 0.1, 0.9, 3, 1000) == 0.0


def test_all_losses_at_once():
    loss = module.loss(mechanism_of(0.5, 0.5, 0.75, 2), 5)
    assert loss.eps_inf == eps_inf(0.5, 2)
    assert loss.eps_1 == eps_reports(0.5, 0.5, 0.75, 2, 1)
    assert loss.eps_T == eps_reports(0.5, 0.5, 0.75, 2, 5)
    assert loss.reports == 5
    assert loss.eps_1 < loss.eps_T < loss.eps_inf
    with pytest.raises(AttributeError):
        loss.eps_T = 0.0


@pytest.mark.parametrize(
    ("given", "subject"),
    [
        ((0.0, 0.5, 0.75, 1, 1), "permanent"),
        ((-0.5, 0.5, 0.75, 1, 1), "permanent"),
        ((1.1, 0.5, 0.75, 1, 1), "permanent"),
        ((math.nan, 0.5, 0.75, 1, 1), "permanent"),
        ((0.5, 0.75, 0.5, 1, 1), "report probabilities"),
        ((0.5, 0.5, 0.5, 1, 1), "report probabilities"),
        ((0.5, -0.1, 0.5, 1, 1), "p"),
        ((0.5, 0.5, 1.1, 1, 1), "q"),
        ((0.5, math.nan, 0.5, 1, 1), "p"),
        ((0.5, 0.5, math.nan, 1, 1), "q"),
        ((0.5, 0.5, 0.75, 0, 1), "hashes"),
        ((0.5, 0.5, 0.75, 65, 1), "hashes"),
        ((0.5, 0.5, 0.75, 1.5, 1), "hashes"),
        ((0.5, 0.5, 0.75, True, 1), "hashes"),
        ((0.5, 0.5, 0.75, 1, 0), "reports"),
        ((0.5, 0.5, 0.75, 1, 10**6 + 1), "reports"),
        ((0.5, 0.5, 0.75, 1, 2.0), "reports"),
    ],
)
def test_parameters_outside_their_ranges_are_refused(given, subject):
    with pytest.raises(ParameterError, match=f"^{subject}: expected"):
        eps_reports(*given)


def test_a_loss_that_is_no_number_stops_the_work():
    for spoiled in (math.nan, -1.0, math.inf):
        with pytest.raises(AccountingError):
            module._round_up(spoiled)


NEAR_ONE = [2**64 - part for part in (2, 10**3 + 1, 10**9 + 1)]


def memoized(permanent, p, q):
    return module.Memoized(bins=2, permanent=permanent, p=p, q=q)


@pytest.mark.parametrize("permanent", [2**64 - 2, 2**64 - 3 * 10**4, 2**64 - 10**9, 2**63])
def test_a_loss_is_never_below_the_truth_if_nearly_all_bits_are_coins(permanent):
    one = memoized(permanent, 2**62, 2**63)
    with mp.workdps(60):
        wrong = mp.mpf(permanent) / 2**65
        every = 2 * mp.log((1 - wrong) / wrong)
        ratios = [((1 - wrong) * y + wrong) / (wrong * y + 1 - wrong) for y in (2, mp.mpf(3) / 2)]
        single = mp.log(ratios[0] * ratios[1])
        assert every <= module.eps_inf(one) <= every * (1 + mp.mpf("2e-12"))
        assert single <= module.eps_reports(one, 1) <= single * (1 + mp.mpf("2e-12"))


@pytest.mark.parametrize("reports", [1, 3])
@pytest.mark.parametrize("q", NEAR_ONE)
def test_delta_keeps_the_digits_of_reports_that_are_nearly_always_one(q, reports):
    p = q - 3 * (2**64 - q)
    one, grow = memoized(2**63, p, q), Fraction(math.exp(0.5))
    laws = [
        [math.comb(reports, k) * r**k * (1 - r) ** (reports - k) for k in range(reports + 1)]
        for r in (Fraction(q, 2**64), Fraction(p, 2**64))
    ]
    shown = [[(a * x + (4 - a) * y) / 4 for x, y in zip(*laws, strict=True)] for a in (3, 1)]
    pairs = list(itertools.product(zip(*shown, strict=True), repeat=2))
    true = sum(max(0, a * d - grow * b * c) for (a, b), (c, d) in pairs)
    found = module.delta(one, reports, 0.5)
    assert (
        found.lower
        <= true
        <= found.upper
        <= true * Fraction(1000001, 1000000) + Fraction(1, 10**70)
    )
