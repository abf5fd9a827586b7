"""Findings of K-Randomization 003 (2015): one bit per person, sent once or k times."""

import math

import numpy as np

from literature.finding import Finding, Steps, claim, gather
from literature.repeats_claims import anonymity, choices, growth
from literature.small import sum_pmf
from mixtally.accounting.baselines import central_standard_error
from mixtally.accounting.divergence import single_bit
from mixtally.accounting.numerics.bracket import Bracket
from mixtally.lab.formulas import repeats
from mixtally.lab.formulas.least_noise import least_single_bit
from mixtally.primitives import tails
from mixtally.primitives.fixed_point import SCALE, threshold_of
from mixtally.report.curves import Chart, Curve

DOCUMENT = "003"
TWO = math.log(2.0)
USERS, PRINTED_FLIP, PRINTED_LOCAL = 1000, 0.009, 0.3333
NEGLIGIBLE = 1e-6
CROWD, TIMES = 10**5, (1, 2, 5, 10, 100)
_ANY_DELTA = 0.5


def findings(progress: Steps) -> list[Finding]:
    """Return every printed number and every claim."""
    parts = (anonymity, _example, _intervals, _slips, _pointwise, _guarantee, growth, choices,
             _sum_bound, _repeating)  # fmt: skip
    return gather(parts, progress)


def charts() -> list[Chart]:
    """Return charts of the error with repeats, and of the delta of three sigmas."""
    return [_repeats_chart(), _delta_chart()]


def _number(
    place: str,
    what: str,
    printed: str,
    computed: float | tuple[float, float],
    unit: str = "",
    note: str = "",
) -> Finding:
    return Finding(DOCUMENT, place, what, printed, computed, unit, note)


def _exact(users: int, flip: float, epsilon: float, times: int = 1) -> Bracket:
    """Return the exact delta in a crowd of equal bits, the document's worst case."""
    return single_bit.delta(users, 0, threshold_of(flip), epsilon, 0, repeats=times)


def _example() -> list[Finding]:
    q, local = repeats.single_bit(TWO, _ANY_DELTA, USERS), 1.0 / (1.0 + math.exp(TWO))
    loose, tight = repeats.deviation(USERS, local), repeats.deviation(USERS, q)
    return [
        _number("section 4.3", "chance of no ones, q = 0.3, N = 100", "5e-53", 0.3**100),
        _number("(4.45)", "q, N = 1,000, lambda = 2", "0.009", q),
        _number("(4.47)", "local q, epsilon = ln 2", "0.333", local),
        _number(
            "section 4.3",
            "noise reduced",
            "37",
            (local / PRINTED_FLIP, local / q),
            "times",
            "from the rounded q, and from q itself",
        ),
        _number("section 4.3", "deviation, local q", "44.7", loose, "counts"),
        _number("section 4.3", "deviation, q by (4.45)", "3", tight, "counts"),
        _number("section 4.3", "gain in precision", "10", loose / tight, "fold"),
    ]


def _intervals() -> list[Finding]:
    found = []
    for flip, pairs in (
        (PRINTED_LOCAL, (("(4.52)", 0, "621.98", "711.42"), ("(4.53)", 1, "621.65", "711.09"))),
        (PRINTED_FLIP, (("(4.54)", 0, "982.04", "999.96"), ("(4.55)", 1, "981.06", "998.98"))),
    ):
        reach = 3.0 * math.sqrt(USERS * flip * (1.0 - flip))
        for place, changed, *ends in pairs:
            mean = (1.0 - flip) * (USERS - changed) + flip * changed
            name = "S_m" if changed else "S"
            for side, printed, sign in zip(("lower", "upper"), ends, (-1, 1), strict=True):
                found.append(
                    _number(
                        place,
                        f"{side} end of {name}, q = {flip:g}",
                        printed,
                        mean + sign * reach,
                        "counts",
                    )
                )
    seen, pmf = np.arange(USERS + 1), tails.pmf(USERS, 1.0 - PRINTED_FLIP, 0, USERS)
    ratio = np.array([repeats.ratio(int(i), USERS, PRINTED_FLIP) for i in seen])
    inside = float(pmf[(ratio >= 0.5) & (ratio <= 2.0)].sum())
    below = float(pmf[ratio <= 2.0].sum())
    note = f"at most 2, one side only: {100 * below:.4g} %"
    what = "outcomes with a ratio within [1/2, 2]"
    return [*found, _number("below (4.55)", what, "99.98", 100.0 * inside, "%", note)]


def _slips() -> list[Finding]:
    """Return the findings on misprinted equations, from the numbers that they give."""
    q, n = 0.2, 12
    p = 1.0 - q
    printed = sum(
        math.comb(n - 1, i) * p ** (i + 1) * q ** (n - i)
        + (math.comb(n - 1, i - 1) * p ** (i - 1) * q ** (n - i + 1) if i else 0.0)
        for i in range(n + 1)
    )
    flip = repeats.single_bit(TWO, _ANY_DELTA, USERS)
    root = 3.0 * math.sqrt(flip * (1.0 - flip) / USERS)
    odds = (1.0 - flip) / flip
    wrong = (flip + root) * odds + (1.0 - flip + root) / odds
    right = (flip + root) * odds + (1.0 - flip - root) / odds
    return [
        claim(DOCUMENT, "(4.31)", "the law of S under D_m sums to 1", abs(printed - 1.0) < 1e-9,
              printed, "q = 0.2, N = 12: the first power of q must be N - 1 - i; (4.32) is right"),
        claim(DOCUMENT, "(4.35)", "its left side is that of (4.36): difference",
              abs(wrong - right) < 1e-9, wrong - right, "at the q of (4.45); the sign is wrong"),
    ]  # fmt: skip


def _pointwise() -> list[Finding]:
    """Return the findings on theorem 4.1 and (4.32), by enumeration."""
    rising = steps = 0
    far = 0.0
    for n, q in ((6, 0.1), (9, 0.25), (12, 0.4)):
        tables = [sum_pmf(m, n - m, q) for m in range(n + 1)]
        for m in range(1, n):
            before, here, after = tables[m - 1 : m + 2]
            rising += int((here**2 <= before * after * (1 - 1e-12)).sum())
            steps += n + 1
        full = [repeats.ratio(i, n, q) for i in range(n + 1)]
        far = max(far, float(np.abs(tables[n - 1] / tables[n] / full - 1.0).max()))
    return [
        claim(DOCUMENT, "theorem 4.1", "R_i grows with the number of ones: violations", rising == 0,
              float(rising), f"{steps} cases by enumeration; a statement about each s alone"),
        claim(DOCUMENT, "(4.32)", "R_i in closed form", far < 1e-9, far,
              "greatest relative distance from the two distributions, three crowds"),
    ]  # fmt: skip


def _guarantee() -> list[Finding]:
    found = []
    for name, epsilon, users in (("2", TWO, USERS), ("e", 1.0, 10**6), ("e^2", 2.0, 10**6)):
        flip = repeats.single_bit(epsilon, _ANY_DELTA, users)
        delta = _exact(users, flip, epsilon)
        found.append(
            claim(
                DOCUMENT,
                "(4.45)",
                f"the rule leaves a negligible delta, lambda = {name}, N = {users:,}",
                delta.upper <= NEGLIGIBLE,
                delta.upper,
                f"at q = {flip:.4g}, held to {NEGLIGIBLE:g}; the document bounds no delta",
            )
        )
    need = least_single_bit(USERS, TWO, NEGLIGIBLE).flip_threshold
    found.append(
        Finding(
            DOCUMENT,
            "(4.45)",
            "q that keeps (ln 2, 1e-6), N = 1,000",
            None,
            (need or 0) / SCALE,
            note="exact, any crowd",
        )
    )
    return found


def _sum_bound() -> list[Finding]:
    """Return the findings on (5.12), which bounds every term, and (5.13), which bounds the sum."""
    k, n, s, i = 2, 10, 7, 1
    term = s * (k * n - s) / (k * n * (k * n - 1))
    bound = s * (k * n - s) / (k * n) ** 2
    above = cases = 0
    for times, users, q in ((2, 10, 0.1), (3, 8, 0.25), (5, 6, 0.4)):
        total = times * users
        odds = (1.0 - q) / q
        full = sum_pmf(total, 0, q)
        changed = np.convolve(sum_pmf(total - times, 0, q), sum_pmf(0, times, q))
        share = np.arange(total + 1) / total
        bound_sum = (share / odds + (1.0 - share) * odds) ** times
        above += int((changed / full > bound_sum * (1 + 1e-12)).sum())
        cases += total + 1
    return [
        claim(DOCUMENT, "(5.12)", "every term is at most its bound: ratio <= 1", term <= bound,
              term / bound, f"k = {k}, N = {n}, s = {s}, i = {i}"),
        claim(DOCUMENT, "(5.13)", "the sum is at most its bound: violations", above == 0,
              float(above), f"{cases} cases by enumeration"),
    ]  # fmt: skip


def exact_error(times: int) -> float:
    """Return the least standard error at (1, 1e-6) of a bit that is sent ``times`` times."""
    found = least_single_bit(CROWD, 1.0, NEGLIGIBLE, ones=0, repeats=times)
    return found.standard_error(CROWD)


def _rule_error(times: int) -> float:
    return repeats.deviation(CROWD, repeats.repeated_bit(1.0, _ANY_DELTA, CROWD, times), times)


def _repeating() -> list[Finding]:
    first, found = exact_error(1), []
    for times in TIMES[1:]:
        error = exact_error(times)
        found.append(
            claim(
                DOCUMENT,
                "section 5",
                f"precision grows as sqrt(k), {math.sqrt(times):.3g} at k = {times}: gain",
                first / error >= math.sqrt(times) * (1 - 1e-2),
                first / error,
                f"at (1, 1e-6), N = 1e5: error {first:.2f} once, {error:.2f} repeated",
                "fold",
            )
        )
    once, often = _rule_error(1), _rule_error(10)
    found.append(
        claim(
            DOCUMENT,
            "(5.24)",
            "by its own q repeating ten times lowers the error: ratio < 1",
            often < once,
            often / once,
            f"lambda = e: {once:.3f} once, {often:.3f} repeated",
        )
    )
    flip = repeats.repeated_bit(1.0, _ANY_DELTA, CROWD, 5)
    delta = _exact(CROWD, flip, 1.0, 5)
    found.append(
        claim(
            DOCUMENT,
            "(5.24)",
            "the rule leaves a negligible delta, lambda = e, k = 5",
            delta.upper <= NEGLIGIBLE,
            delta.upper,
            f"N = 100,000, held to {NEGLIGIBLE:g}",
        )
    )
    return found


def _repeats_chart() -> Chart:
    times = (1, 2, 3, 5, 7, 10, 20, 50, 100)
    exact = tuple((float(k), exact_error(k)) for k in times)
    stated = tuple((float(k), exact[0][1] / math.sqrt(k)) for k in times)
    rule = tuple((float(k), _rule_error(k)) for k in times)
    floor = tuple((float(k), central_standard_error(1.0, sensitivity=1.0)) for k in times)
    return Chart(
        DOCUMENT,
        "Sending a bit k times: standard error at the same privacy",
        "Exact distribution at (1, 1e-6), N = 100,000, crowd of equal bits, against the claimed "
        "gain of sqrt(k); (5.24) keeps no such promise and its error rises. Central: discrete "
        "Laplace.",
        "k",
        "standard error, counts",
        (
            Curve("exact", exact, dots=True),
            Curve("claimed: 1 / sqrt(k)", stated, dots=True),
            Curve("by (5.24), lambda = e", rule, dots=True),
            Curve("central", floor),
        ),
        log_x=True,
        log_y=True,
    )


def _delta_chart() -> Chart:
    flips = np.geomspace(0.005, 0.1, 40).tolist()
    points = tuple((q, max(1e-12, _exact(USERS, q, TWO).upper)) for q in flips)
    rule = repeats.single_bit(TWO, _ANY_DELTA, USERS)
    promise = tuple((q, NEGLIGIBLE) for q in (flips[0], flips[-1]))
    return Chart(
        DOCUMENT,
        "What three sigmas leave: true delta at epsilon = ln 2, N = 1,000",
        "Exact distribution of one bit in a crowd of equal bits.",
        "q",
        "true delta",
        (Curve("true delta", points), Curve("1e-6", promise)),
        marks=((rule, "q by (4.45)"),),
        log_x=True,
        log_y=True,
    )
