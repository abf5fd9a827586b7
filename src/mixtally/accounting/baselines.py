"""Errors of counts in the central and in the local model of differential privacy.

Plans and simulations compare their errors with these baselines, which have the same guarantee.
"""

import math

from mixtally.model.question import MOST_BINS, Kind, Question


def central_standard_error(epsilon: float, sensitivity: float = 2.0) -> float:
    """Return the standard error of a bin if a trusted party adds discrete Laplace noise.

    If one record is substituted, the absolute changes of all counts sum to ``sensitivity``: 2 for a
    histogram, 1 for the count of a single bit. The noise decays by e^(-epsilon / sensitivity) per
    unit, and no delta is spent.

    Source: Ghosh, Roughgarden, Sundararajan, Universally Utility-Maximizing Privacy Mechanisms
    (2009), the geometric mechanism.
    """
    ratio = math.exp(-epsilon / sensitivity)
    return math.sqrt(2.0 * ratio) / (1.0 - ratio)


def local_standard_error(epsilon: float, users: int, bins: int) -> float:
    """Return the error of an empty bin in the local model, for the better of two mechanisms.

    Source: Wang, Blocki, Li, Jha, Locally Differentially Private Protocols for Frequency Estimation
    (2017), optimized unary encoding and direct encoding.

    Parameters
    ----------
    epsilon : float
        The local privacy loss in nats.
    users : int
        The number of people.
    bins : int
        The number of bins.
    """
    grow = math.exp(epsilon)
    unary = 4.0 * grow
    direct = bins - 2.0 + grow
    return math.sqrt(users * min(unary, direct)) / math.expm1(epsilon)


def local_bits_standard_error(epsilon: float, users: int, bits: int) -> float:
    """Return the error of a bit in the local model if all ``bits`` free bits are flipped.

    Every bit gets the share epsilon / bits of epsilon. The variance is users * p q / (p - q)^2 with
    p / q = e^(epsilon / bits). Source: Warner, Randomized Response (1965).
    """
    share = epsilon / bits
    return math.sqrt(users * math.exp(share)) / math.expm1(share)


def central_error(question: Question, epsilon: float, delta: float, collections: int) -> float:
    """Return the error of a count if a trusted party has all answers and adds noise to all counts.

    The noise is discrete Laplace noise, with epsilon shared among the collections, or Gaussian
    noise of the least scale that satisfies (epsilon, delta) for all of them. The smaller error is
    returned.

    For a question with two answers, only one count is published, as the number of people determines
    the other. One substitution changes this count by 1, so the noise needs half the scale of a
    histogram's noise. For d > 2 answers noise is added to every count. The known sum of the counts
    then reduces their variance to the share 1 - 1/d (``protocol.estimate.projection``). If a record
    has several attributes, this applies to each of them, and one substitution changes all
    attributes.

    Parameters
    ----------
    question : Question
        The question, whose kind and bins decide how many counts a substitution changes.
    epsilon : float
        The privacy loss of all collections in nats.
    delta : float
        The delta of all collections, in (0, 1).
    collections : int
        The number of collections.
    """
    moved, kept = moved_counts(question), _residual_variance_share(question)
    laplace = central_standard_error(epsilon / collections, moved)
    best = laplace
    if delta > 0.0:
        distance = math.sqrt(moved * collections)
        best = min(laplace, gaussian_standard_error(epsilon, delta, distance))
    return math.sqrt(kept) * best


def _attribute_sizes(question: Question) -> tuple[int, ...]:
    """Return the number of possible answers of each attribute; a person gives one of them."""
    if question.kind is Kind.ONE and question.hashed is None:
        return (question.bins,)
    return question.attributes or ()


def moved_counts(question: Question) -> int:
    """Return the number of published counts that one substitution changes, each by 1."""
    sizes = _attribute_sizes(question)
    return sum(1 if one == 2 else 2 for one in sizes) if sizes else question.most_changed


def _residual_variance_share(question: Question) -> float:
    """Return the share of a count's variance that remains if the sum of the counts is known.

    It is the largest such share over the attributes.
    """
    return max(
        (1.0 - 1.0 / one if one > 2 else 1.0 for one in _attribute_sizes(question)), default=1.0
    )


def gaussian_standard_error(epsilon: float, delta: float, distance: float) -> float:
    """Return the least scale of Gaussian noise on counts that move by ``distance`` (Euclidean).

    Source: Balle, Wang, Improving the Gaussian Mechanism for Differential Privacy (2018), Theorem
    8: delta = Phi(a - eps / (2 a)) - e^eps Phi(-a - eps / (2 a)) with a = distance / (2 scale).
    """

    def compute_delta(scale: float) -> float:
        half = distance / (2.0 * scale)
        shift = epsilon / (2.0 * half)
        return _normal_cdf(half - shift) - math.exp(epsilon) * _normal_cdf(-half - shift)

    low, high = distance * 2.0**-40, distance
    while compute_delta(high) > delta:
        low, high = high, 2.0 * high
    while high > low * (1.0 + 1e-9):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if compute_delta(middle) > delta else (low, middle)
    return high


def _normal_cdf(deviations: float) -> float:
    """Return the standard normal distribution function."""
    return 0.5 * math.erfc(-deviations / math.sqrt(2.0))


def local_error(question: Question, epsilon: float, users: int, collections: int = 1) -> float:
    """Return the error of an empty bin in the local model, if the collections share epsilon.

    For free bits the mechanism is randomized response. For sets it is unary encoding, where every
    member gets an equal share of epsilon.

    Parameters
    ----------
    question : Question
        The question, whose kind and bins decide how many counts a substitution changes.
    epsilon : float
        The privacy loss of all collections in nats.
    users : int
        The number of people.
    collections : int
        The number of collections that share epsilon.
    """
    epsilon /= collections
    if question.kind is Kind.BITS:
        return local_bits_standard_error(epsilon, users, question.bins)
    if question.max_set > 1:
        return local_standard_error(epsilon / question.max_set, users, MOST_BINS)
    return local_standard_error(epsilon, users, question.bins)
