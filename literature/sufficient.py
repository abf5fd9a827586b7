"""Findings of Sufficient Differential Privacy 000 (2017): tables, examples, figures and claims.

The figures of the document are densities of R(S). Here the exact distribution is computed from its
characteristic function. R has separate values, so a narrow Gaussian smooths them.
"""

import math

import numpy as np

from literature.finding import Finding, Steps, claim, gather
from literature.sufficient_claims import by_enumeration
from mixtally.accounting.divergence import one_hot, vectors
from mixtally.accounting.numerics.flip_ratios import Orbit, flip_distribution, small_binomial
from mixtally.lab.formulas import privacy_ratio as ratio
from mixtally.lab.formulas import sufficient
from mixtally.primitives.fixed_point import SCALE, threshold_of
from mixtally.primitives.tails import Floats
from mixtally.report.curves import Chart, Curve

DOCUMENT = "000"
BITS, TWO = 5, math.log(2.0)
TABLES = (
    (
        "table lambda = 2",
        TWO,
        ((1000, "0.2446", "0.006"), (3000, "0.2109", "0.0048"), (5000, "0.1778", "0.0045")),
    ),
    (
        "table lambda = e^2",
        2.0,
        ((1000, "0.1692", "0.0037"), (3000, "0.1424", "0.0062"), (5000, "0.1310", "0.0074")),
    ),
)
NEGLIGIBLE = 1e-6
_ANY_DELTA = 0.5
_HELD = f"held to {NEGLIGIBLE:g}; the document bounds eta, not delta"
_SMOOTHING = 0.01
"""The standard deviation of the Gaussian, in units of lambda."""


def findings(progress: Steps) -> list[Finding]:
    """Return every printed number and every claim."""
    parts = (
        by_enumeration,
        _moments,
        _tables,
        _guarantee,
        _gain,
        _long_vectors,
        _worst_case,
        _one_hot,
    )
    return gather(parts, progress)


def charts() -> list[Chart]:
    """Return the document's three figures."""
    return [*(_density_chart(*table) for table in TABLES), _gain_chart()]


def _number(
    place: str,
    what: str,
    printed: str | None,
    computed: float | tuple[float, float],
    unit: str = "",
    note: str = "",
) -> Finding:
    return Finding(DOCUMENT, place, what, printed, computed, unit, note)


def _rule(users: int, bits: int, epsilon: float) -> int:
    """Return the flip threshold of mean + 3 sigma."""
    return ratio.sigmas_threshold(users, bits, epsilon, 3.0)


def _moments() -> list[Finding]:
    """Return the findings on closed forms of moments, against sums over the distribution."""
    worst = 0.0
    for q in (0.05, 0.2, 0.4):
        for bits in (1, 3, 5):
            phi = sufficient.phi(q)
            pairs = zip(
                (sufficient.mean(phi, 50, bits), sufficient.variance(phi, 50, bits)),
                _sum_distribution(q, 50, bits),
                strict=True,
            )
            worst = max(worst, *(abs(a / b - 1.0) for a, b in pairs))
    q = 0.2
    fifth = ((1 - q) ** 5 + q**5) / (q * (1 - q)) ** 2
    middle = (1 - q) ** 4 - (1 - q) ** 3 * q + (q * (1 - q)) ** 2 - (1 - q) * q**3 + q**4
    printed_chain = middle / (q * (1 - q)) ** 4
    return [
        claim(DOCUMENT, "section 3.1", "mean and variance of R(S) in closed form", worst < 1e-9,
              worst, "greatest relative distance from the sums over the law, nine cases"),
        claim(DOCUMENT, "before (3.14)", "(p^5 + q^5) / (pq)^2 equals the next expression",
              abs(printed_chain / fifth - 1.0) < 1e-9, printed_chain / fifth,
              "ratio of the two at q = 0.2: (pq)^4 stands for (pq)^2; what follows is right"),
    ]  # fmt: skip


def _sum_distribution(q: float, users: int, bits: int) -> tuple[float, float]:
    value = ((1.0 - q) / q) ** (2.0 * np.arange(bits + 1) - bits)
    zero, one = small_binomial(bits, q), small_binomial(bits, 1.0 - q)
    mean = ((users - 1) * zero @ value + one @ value) / users
    spread = [pmf @ value**2 - (pmf @ value) ** 2 for pmf in (zero, one)]
    return float(mean), float(((users - 1) * spread[0] + spread[1]) / users**2)


def _tables() -> list[Finding]:
    found = []
    for place, epsilon, rows in TABLES:
        for users, flip, tail in rows:
            exact = _rule(users, BITS, epsilon)
            simple = sufficient.three_sigma_simplified(epsilon, _ANY_DELTA, users, BITS)
            eta = ratio.eta(users, BITS, exact, epsilon)
            found += [
                _number(place, f"q for N = {users:,}", flip, (exact / SCALE, simple),
                        note="between the forms (3.12) and (3.15) of the rule"),
                _number(place, f"p(R >= lambda) for N = {users:,}", tail, eta,
                        note=f"exact, at q = {exact / SCALE:.4f}"),
            ]  # fmt: skip
    other = sufficient.three_sigma(TWO, _ANY_DELTA, 10_000, BITS)
    printed = TABLES[0][2][2][1]
    found.append(
        _number(
            "table lambda = 2",
            "the q printed for N = 5,000, if N were 10,000",
            printed,
            other,
            note="the row was made for another N",
        )
    )
    return found


def _guarantee() -> list[Finding]:
    """Return the findings on three sigmas, against the true delta."""
    found = []
    for place, epsilon, rows in TABLES:
        for users, _, _ in rows:
            delta = vectors.homogeneous_delta(users, BITS, _rule(users, BITS, epsilon), epsilon)
            found.append(
                claim(
                    DOCUMENT,
                    place,
                    f"three sigmas leave a negligible delta, N = {users:,}",
                    delta.upper <= NEGLIGIBLE,
                    delta.upper,
                    _HELD,
                )
            )
    users, epsilon = 10**6, 1.0
    threshold = _rule(users, BITS, epsilon)
    eta = ratio.eta(users, BITS, threshold, epsilon)
    back = vectors.orbit_delta(users, Orbit(0, BITS, 0), threshold, epsilon)
    found.append(
        claim(
            DOCUMENT,
            "(1.7)",
            "the tail eta covers both directions: delta / eta <= 1",
            back.lower <= eta.upper,
            (back.lower / eta.upper, back.upper / eta.lower),
            f"N = {users:,}, L = {BITS}, epsilon = 1, three sigmas: eta is {eta.upper:.4g}, the "
            f"true delta in the direction not looked at {back.upper:.4g}",
        )
    )
    return found


def _gain() -> list[Finding]:
    local = sufficient.local(TWO, _ANY_DELTA, BITS)
    rule = sufficient.three_sigma(TWO, _ANY_DELTA, 5000, BITS)
    printed = float(TABLES[0][2][2][1])
    loose, tight = sufficient.deviation(1, local), sufficient.deviation(1, rule)
    unit = "sqrt(N)"
    return [
        _number("(4.3)", "local q, L = 5, lambda = 2", "0.465", local),
        _number("section 4", "deviation of the local estimate", "7.5", loose, unit),
        _number(
            "section 4",
            "deviation at the printed q = .1778",
            "0.6",
            sufficient.deviation(1, printed),
            unit,
            "but that q is for N = 10,000",
        ),
        _number("section 4", "deviation at the q of N = 5,000", "0.6", tight, unit),
        _number("section 4", "gain in precision, N = 5,000", "12", loose / tight, "fold"),
    ]


def _long_vectors() -> list[Finding]:
    """Return the findings on the example of 40 bits and ten million people."""
    bits, users, epsilon = 40, 10**7, 2.0
    local, threshold = sufficient.local(epsilon, _ANY_DELTA, bits), _rule(users, bits, epsilon)
    q = threshold / SCALE
    loose, tight = sufficient.deviation(1, local), sufficient.deviation(1, q)
    root = math.sqrt(users)
    delta = vectors.homogeneous_delta(users, bits, threshold, epsilon)
    place, three = "section 4, L = 40", "three deviations"
    return [
        _number(place, "local q, lambda = e^2", "0.4875", local),
        _number(place, "local deviation", "20", loose, "sqrt(N)"),
        _number(place, "reach of the local estimate", "2e5", 3 * loose * root, "counts", three),
        _number(place, "q by three sigmas", "0.351", q),
        _number(place, "deviation by three sigmas", "1.6", tight, "sqrt(N)"),
        _number(place, "gain in precision", "12.5", loose / tight, "fold"),
        _number(place, "reach of the estimate", "15", 3 * tight * root / 1e3, "thousand counts",
                three),
        _number(place, "error on 1 % of the population", "10", 3 * tight * root / users * 1e4,
                "%", "at the same three deviations"),
        claim(DOCUMENT, place, "three sigmas leave a negligible delta, N = 10,000,000",
              delta.upper <= NEGLIGIBLE, delta.upper, _HELD),
    ]  # fmt: skip


def _worst_case() -> list[Finding]:
    users, epsilon, threshold = 10**6, 2.0, threshold_of(0.043)
    opposite = vectors.homogeneous_delta(users, 4, threshold, epsilon)
    other = vectors.orbit_delta(users, Orbit(0, 1, 3), threshold, epsilon)
    return [
        claim(
            DOCUMENT,
            "section 1.2, claim 1",
            "an outlier opposite to all others is the worst case: ratio to another pair >= 1",
            opposite.upper >= other.lower,
            opposite.upper / other.lower,
            f"L = 4, N = 1,000,000, epsilon = 2, q = 0.043, crowd 0000: 1111 against 0000 has "
            f"delta {opposite.upper:.3g}, 1110 against 1111 {other.upper:.3g}",
        ),
    ]


def _one_hot() -> list[Finding]:
    """Return the findings on section 5, which equates k set bits with 2k free bits."""
    epsilon, q = 2.0, 0.1
    phi = sufficient.phi(q)
    pmf = flip_distribution(Orbit(1, 1, 1), q, 1.0)
    spread = float(pmf.probabilities @ pmf.values**2)
    found = [
        claim(DOCUMENT, "section 5", "one set bit hides like two free bits: ratio of variances 1",
              abs(spread / (phi**2 - 1.0) - 1.0) < 1e-6, spread / (phi**2 - 1.0),
              f"q = {q}: against others who all hold a third value the variance of a record's "
              f"trace is {spread:.4g}, that of two free bits {phi**2 - 1.0:.4g}"),
    ]  # fmt: skip
    for users in (10**3, 10**5, 10**6):
        delta = one_hot.messages_delta(users, 0, _rule(users, 2, epsilon), epsilon)
        found.append(
            claim(DOCUMENT, "section 5", f"at the q of two free bits one set bit is hidden, N = "
                  f"{users:,}", delta.lower <= NEGLIGIBLE, delta,
                  "delta at lambda = e^2, messages seen whole")
        )  # fmt: skip
    return found


def density(users: int, bits: int, flip: float, at: Floats, smoothing: float) -> Floats:
    """Return the density of R(S) with the outlier at the points ``at``, smoothed by a Gaussian."""
    value = ((1.0 - flip) / flip) ** (2.0 * np.arange(bits + 1) - bits) / users
    zero, one = small_binomial(bits, flip), small_binomial(bits, 1.0 - flip)
    period = 40.0 + 2.0 * float(value[-1])
    omega = 2.0 * np.pi / period * np.arange(1, math.ceil(6.0 / smoothing * period / 6.28))
    phase = np.exp(1j * np.multiply.outer(omega, value))
    turn = (phase @ zero) ** (users - 1) * (phase @ one)
    turn *= np.exp(-0.5 * (omega * smoothing) ** 2)
    wave = np.exp(-1j * np.multiply.outer(at, omega))
    return np.asarray(np.maximum(0.0, (1.0 + 2.0 * (wave @ turn).real) / period))


def _density_chart(place: str, epsilon: float, rows: tuple[tuple[int, str, str], ...]) -> Chart:
    grow = math.exp(epsilon)
    at = np.linspace(0.0, 1.25 * grow, 361)
    curves = []
    for users, _, _ in rows:
        q = _rule(users, BITS, epsilon) / SCALE
        height = density(users, BITS, q, at, _SMOOTHING * grow)
        points = tuple(zip(at.tolist(), height.tolist(), strict=True))
        curves.append(Curve(f"N = {users:,}, q = {q:.4f}", points))
    return Chart(
        DOCUMENT, f"Densities of R(S), {place.removeprefix('table ')}",
        "The exact distribution of the privacy ratio with the outlier there, L = 5, q by three "
        "sigmas; to be drawn it was spread by a Gaussian of standard deviation "
        f"{_SMOOTHING:g} lambda.",
        "R(S)", "density", tuple(curves), marks=((grow, "lambda"),),
    )  # fmt: skip


def _gain_chart() -> Chart:
    flips = np.linspace(0.02, 0.49, 95).tolist()
    points = tuple((q, sufficient.deviation(1, q)) for q in flips)
    local = sufficient.local(TWO, _ANY_DELTA, BITS)
    rule = sufficient.three_sigma(TWO, _ANY_DELTA, 5000, BITS)
    return Chart(
        DOCUMENT, "What noise costs: sqrt(pq) / (p - q)",
        "Standard error of a count over sqrt(N), section 4.",
        "q", "deviation over sqrt(N)", (Curve("sqrt(pq) / (p - q)", points),),
        marks=((rule, "three sigmas, N = 5,000"), (local, "local")), log_y=True,
    )  # fmt: skip
