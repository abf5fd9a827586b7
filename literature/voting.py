"""Findings of Side Notes on Differential Privacy 002: the election, deniability, and section 3."""

import math

import numpy as np

from literature import central
from literature.finding import Finding, Steps, claim
from mixtally.accounting.budget.local import epsilon_of
from mixtally.accounting.divergence import flip_blank
from mixtally.lab.formulas import voting
from mixtally.primitives.fixed_point import threshold_of
from mixtally.report.curves import Chart, Curve

DOCUMENT = "002"
USERS, KEEP, CANDIDATES, SHARE = 100_000, 0.63, 10, 51.15
DENIABLE = 25
_NEGLIGIBLE = 1e-12


def findings(progress: Steps) -> list[Finding]:
    """Return every printed number and every claim."""
    epsilon = epsilon_of(KEEP)
    grow, reach = math.exp(epsilon), 100.0 * voting.radius(USERS, KEEP)
    deny = 100.0 / (1.0 + grow)
    delta = flip_blank.delta(0, threshold_of(1.0 - KEEP), epsilon)
    share = 100.0 / (1.0 + 3.0)
    place = "section 5"
    found = [
        Finding(DOCUMENT, "section 1", "chance of another input at epsilon = ln 3", "25", share,
                "%", "both inputs equally likely before"),
        *central.findings(),
        Finding(DOCUMENT, place, "e^epsilon at p = 0.63", "2.9", grow),
        claim(DOCUMENT, place, "every ballot keeps epsilon by itself: delta", delta.upper
              <= _NEGLIGIBLE, delta.upper, "exact distribution of one flipped ballot"),
        claim(DOCUMENT, place, f"an accusation is wrong with a chance of at least {DENIABLE} %",
              deny >= DENIABLE, deny, "both votes equally likely before", "%"),
        Finding(DOCUMENT, place, "radius at 95 %, n = 100,000", "1.15", reach, "%",
                "for one candidate, looked at alone"),
        Finding(DOCUMENT, place, "lower end of the example", "50", SHARE - reach, "%"),
        Finding(DOCUMENT, place, "upper end of the example", "52.3", SHARE + reach, "%"),
        Finding(DOCUMENT, place, "radius for ten candidates at once", None,
                100.0 * voting.radius_at_once(USERS, KEEP, CANDIDATES), "%", "by the union bound"),
        claim(DOCUMENT, place, "more voters give a smaller radius: ratio at twice as many < 1",
              voting.radius(2 * USERS, KEEP) < voting.radius(USERS, KEEP),
              voting.radius(2 * USERS, KEEP) / voting.radius(USERS, KEEP)),
        _spread(),
    ]  # fmt: skip
    progress(1, 1)
    return found


def _spread() -> Finding:
    """Return the finding on mean and variance of f[i], by enumeration of a small election."""
    n, votes, p = 12, 5, KEEP
    pmf = np.ones(1)
    for voter in range(n):
        chance = p if voter < votes else 1.0 - p
        pmf = np.convolve(pmf, [1.0 - chance, chance])
    estimate = (np.arange(n + 1) - n * (1.0 - p)) / (n * (2.0 * p - 1.0))
    mean = float(pmf @ estimate)
    spread = float(pmf @ estimate**2) - mean**2
    stated = p * (1.0 - p) / (n * (2.0 * p - 1.0) ** 2)
    return claim(
        DOCUMENT,
        "section 5",
        "f[i] is unbiased with the variance that is said",
        abs(mean - votes / n) < 1e-9 and abs(spread / stated - 1.0) < 1e-9,
        max(abs(mean - votes / n), abs(spread / stated - 1.0)),
        "distance of mean and, relative, of variance: an election of 12, enumerated",
    )


def charts() -> list[Chart]:
    """Return the bounds of section 3, and the accuracy and deniability of section 5."""
    keeps = np.linspace(0.52, 0.95, 60).tolist()
    one = tuple((p, 100.0 * voting.radius(USERS, p)) for p in keeps)
    ten = tuple((p, 100.0 * voting.radius_at_once(USERS, p, CANDIDATES)) for p in keeps)
    trusted = tuple(
        (p, 100.0 / USERS * central.laplace_within(epsilon_of(p), CANDIDATES, 0.05)) for p in keeps
    )
    deny = tuple((p, 100.0 / (1.0 + math.exp(epsilon_of(p)))) for p in keeps)
    return [
        central.chart(),
        Chart(
            DOCUMENT,
            "An election of 100,000: accuracy against deniability",
            "Radius at 95 % of the share of votes, and the least probability that an accusation "
            "is wrong, both in percent; for comparison, the error bound of ten counts with "
            "central Laplace noise at the same epsilon.",
            "p, the chance that a bit is kept",
            "percent",
            (
                Curve("radius, one candidate", one),
                Curve("radius, ten at once", ten),
                Curve("deniability", deny),
                Curve("central, ten at once", trusted),
            ),
            marks=((KEEP, "p = 0.63"),),
            log_y=True,
        ),
    ]
