"""Formulas of an election by flipped one-hot ballots without a mix (Side notes 002, section 5).

``catalogue`` and ``literature`` use these formulas.

Source: side notes 002 section 5; Wang, Blocki, Li, Jha 2017 for the variance.
"""

import math

from scipy import special

from mixtally.accounting.budget.local import check_keep_probability
from mixtally.errors import strictly_within
from mixtally.lab.formulas.parameter_ranges import check_count, check_promise


def flip_probability(epsilon: float, delta: float) -> float:
    """Return the flip probability 1 - p that keeps epsilon for every ballot; delta is not used.

    Source: side notes 002 section 5, epsilon = 2 ln(p / (1 - p)) solved for p.
    """
    check_promise(epsilon, delta)
    return 1.0 / (1.0 + math.exp(epsilon / 2.0))


def radius(users: int, keep: float, level: float = 0.95) -> float:
    """Return half the width of the confidence interval of one candidate's share of all votes.

    ``keep`` is the probability that a bit is not flipped. The interval uses the normal
    approximation.

    Source: side notes 002 section 5.
    """
    return _radius(users, keep, _outside(level))


def radius_at_once(users: int, keep: float, candidates: int, level: float = 0.95) -> float:
    """Return half the width of confidence intervals that hold for all candidates at once.

    The union bound divides the error probability equally among the candidates.

    Source: side notes 002 section 5.
    """
    check_count("candidates", candidates)
    return _radius(users, keep, _outside(level) / candidates)


def _radius(users: int, keep: float, outside: float) -> float:
    check_count("users", users)
    check_keep_probability(keep)
    deviation = math.sqrt(keep * (1.0 - keep) / users) / (2.0 * keep - 1.0)
    return float(special.ndtri(1.0 - outside / 2.0)) * deviation


def _outside(level: float) -> float:
    strictly_within("level", level, 0.0, 1.0, "0.95 is a common choice")
    return 1.0 - level
