"""Findings of Side Notes on Differential Privacy 002, section 3: the central model.

The section quotes two theorems of the textbook for any query. It warns against applying them to
noise that everyone adds locally. Here the query is a histogram in which one record is substituted.
So the sum of the changes is at most 2, and each count changes by at most 1. If OpenDP is installed,
the results of its mechanisms are compared with the theorems; they are drawn anew in every run.

Source: side notes 002 section 3; Dwork, Roth, The Algorithmic Foundations of Differential Privacy
(2014), theorems 3.8 and 3.11.
"""

import math

import numpy as np
from scipy import special

from literature.finding import Finding, claim
from mixtally.lab.simulation import central as opendp
from mixtally.report.curves import Chart, Curve

DOCUMENT, PLACE = "002", "section 3"
EPSILON, BINS, MISS, USERS = 1.0, 10, 0.05, 100_000
_MOVED = 2.0
_DRAWS = 6000
_LARGE_EPSILON, _LITTLE = 10.0, 0.01
_GAUSSIAN_DELTA = 1e-6


def laplace_within(epsilon: float, counts: int, miss: float, moved: float = _MOVED) -> float:
    """Return the distance that all noisy counts keep, except with probability ``miss``.

    Source: Dwork, Roth 2014, theorem 3.8: (moved / epsilon) ln(counts / miss).
    """
    return moved / epsilon * math.log(counts / miss)


def exponential_within(epsilon: float, bins: int, miss: float, moved: float = 1.0) -> float:
    """Return how far below the largest count the count of the selected bin is at most.

    Source: Dwork, Roth 2014, corollary 3.12: (2 moved / epsilon) (ln bins + t), miss = exp(-t).
    """
    return 2.0 * moved / epsilon * (math.log(bins) - math.log(miss))


def findings() -> list[Finding]:
    """Return every statement of the section that a number can decide."""
    return [*_laplace(), *_exponential(), *_wrong_model(), _large_epsilon()]


def _laplace() -> list[Finding]:
    within = laplace_within(EPSILON, BINS, MISS)
    each = math.exp(-within * EPSILON / _MOVED)
    chance = -math.expm1(BINS * math.log1p(-each))
    ratio = math.exp(-EPSILON / _MOVED)
    whole = math.floor(within)  # Integer noise exceeds the bound most often at an integer.
    promised = ratio**whole
    stated = f"at epsilon = {EPSILON:g}, {BINS} counts, beta = {MISS:g}: {within:.2f} counts"
    found = [
        claim(DOCUMENT, PLACE, "Laplace noise passes its bound with a chance of at most beta: "
              f"{BINS} counts", chance <= MISS, chance, f"exact; {stated}"),
        Finding(DOCUMENT, PLACE, "whole-number noise at a whole bound, chance over beta", None,
                _discrete_tail(ratio, whole) / promised, "times",
                "discrete Laplace, one count: theorem 3.8 does not carry over word for word"),
        claim(DOCUMENT, PLACE, "whole-number noise passes the bound itself, chance over beta <= 1: "
              "\"more than\" for \"at least\"", _discrete_tail(ratio, whole + 1) <= promised,
              _discrete_tail(ratio, whole + 1) / promised, "discrete Laplace, one count"),
    ]  # fmt: skip
    return [*found, *_laplace_measured(within)]


def _discrete_tail(ratio: float, least: int) -> float:
    """Return P(|noise| >= least) for P[k] ~ ratio^|k| and least >= 1."""
    return 2.0 * ratio**least / (1.0 + ratio)


def _laplace_measured(within: float) -> list[Finding]:
    what = f"chance that one of {BINS} counts passes the Laplace bound"
    try:
        line = opendp.discrete_laplace(EPSILON, BINS, 1.0 - MISS)
    except ImportError:
        return [_missing_finding("counts that stay within the bound", within)]
    release = opendp.laplace_measurement(line.scale)
    drawn = np.array([release([0] * BINS) for _ in range(_DRAWS)])
    share = float(np.mean(np.abs(drawn).max(axis=1) >= within))
    spent = f"its map says epsilon = {line.epsilon:g}"
    return [
        Finding(DOCUMENT, PLACE, "all counts within, by OpenDP's own accuracy", None,
                float(line.all_within or 0), "counts", f"{line.source}, {spent}"),
        Finding(DOCUMENT, PLACE, f"{what}, measured", None, share, "",
                f"{line.source}, {_DRAWS:,} releases, drawn anew in every run"),
    ]  # fmt: skip


def _exponential() -> list[Finding]:
    within = exponential_within(EPSILON, BINS, MISS)
    lead = math.ceil(within)
    worse = (BINS - 1) * math.exp(-EPSILON * lead / 2.0)
    chance = worse / (1.0 + worse)
    found = [
        claim(
            DOCUMENT,
            PLACE,
            "the exponential mechanism passes its bound with a chance of at "
            f"most exp(-t): one bin leads {BINS - 1} by {lead}",
            chance <= MISS,
            chance,
            f"exact distribution; epsilon = {EPSILON:g}, exp(-t) = {MISS:g}: {within:.2f} counts",
        ),
    ]
    try:
        line = opendp.exponential(EPSILON, BINS, 1.0 - MISS)
    except ImportError:
        return [*found, _missing_finding("counts below the largest, at most", within)]
    name = opendp.selection_measurement(line.scale)
    share = float(np.mean([name([lead] + [0] * (BINS - 1)) != 0 for _ in range(_DRAWS)]))
    return [
        *found,
        Finding(
            DOCUMENT,
            PLACE,
            "chance that noisy selection passes the exponential bound, measured",
            None,
            share,
            "",
            f"{line.source}, by permute-and-flip, {_DRAWS:,} draws, anew in every run",
        ),
    ]


def _missing_finding(what: str, within: float) -> Finding:
    return Finding(DOCUMENT, PLACE, what, None, within, "counts", opendp.MISSING)


def _wrong_model() -> list[Finding]:
    """Return how often local Laplace noise exceeds the bound for noise that is added once."""
    within = laplace_within(EPSILON, 1, MISS)
    chance = 2.0 * float(special.ndtr(-within / _local_spread(EPSILON)))
    return [
        claim(DOCUMENT, PLACE, "the central bound is wrong for noise added locally: chance to pass "
              f"it, n = {USERS:,}", chance > MISS, chance,
              f"{within:.2f} counts at beta = {MISS:g}; normal approximation of the sum"),
        Finding(DOCUMENT, PLACE, "error of noise added locally over that of noise added once", None,
                math.sqrt(USERS), "times", f"the same Laplace noise, n = {USERS:,}"),
    ]  # fmt: skip


def _local_spread(epsilon: float) -> float:
    """Return the standard deviation of a count to which every user adds Laplace noise."""
    return math.sqrt(2.0 * USERS) * _MOVED / epsilon


def _large_epsilon() -> Finding:
    share = 100.0 / (1.0 + math.exp(_LARGE_EPSILON))
    return claim(
        DOCUMENT,
        PLACE,
        "an epsilon of 10 guarantees little: chance of another input",
        share < _LITTLE,
        share,
        "both inputs equally likely before; below a hundredth of a percent",
        "%",
    )


def chart() -> Chart:
    """Return the bounds over epsilon, the accuracies of OpenDP if it is installed, and local noise.

    For one substituted record, both theorems give the same number.
    """
    dense = np.geomspace(0.1, 10.0, 40).tolist()
    central = tuple((e, laplace_within(e, BINS, MISS)) for e in dense)
    far = float(special.ndtri(1.0 - MISS / (2.0 * BINS)))
    local = tuple((e, far * _local_spread(e)) for e in dense)
    caption = (
        f"How far off with a chance of {100 * MISS:g} %, {BINS} bins, one record substituted; the "
        "same bound holds for Laplace noise on all counts and for naming the largest. "
    )
    curves = [Curve("both theorems", central), Curve(f"added locally, {USERS:,}", local)]
    try:
        curves += _measured_curves()
    except ImportError:
        caption += f"{opendp.MISSING}."
    else:
        caption += f"Dots: OpenDP's own accuracies, the Gaussian at delta = {_GAUSSIAN_DELTA:g}."
    return Chart(
        DOCUMENT,
        "Central accuracy, and the same noise added locally",
        caption,
        "epsilon",
        "counts",
        tuple(curves),
        log_x=True,
        log_y=True,
    )


def _measured_curves() -> list[Curve]:
    sparse, level = (0.1, 0.3, 1.0, 3.0), 1.0 - MISS
    pairs = [
        (
            e,
            opendp.discrete_laplace(e, BINS, level),
            opendp.gaussian(e, _GAUSSIAN_DELTA, BINS, level),
        )
        for e in sparse
    ]
    return [
        Curve("OpenDP Laplace", tuple((e, float(a.all_within or 0)) for e, a, _ in pairs), True),
        Curve("OpenDP Gaussian", tuple((e, float(b.all_within or 0)) for e, _, b in pairs), True),
    ]
