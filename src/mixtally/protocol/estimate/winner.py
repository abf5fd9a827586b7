"""The posterior probability that each option truly has the most votes.

``conclude_vote`` calls this module. The prior distribution is uniform: for every option,
independently, each number of votes from 0 to all voters is equally likely. Let s_i be the tallied
count of option i. Its true number z_i of votes then has the posterior distribution h_i(z),
proportional to P(s_i | z_i = z) by the exact distribution of the noise, and

    P(i wins) = sum_z h_i(z) prod_{j != i} P(z_j < z),

if there are no ties. Ties are decided by lot. This has the same effect as adding to every z a
uniform number in (0, 1). So the product becomes the integral over t in (0, 1) of prod (P(z_j < z) +
t h_j(z)), and the probabilities add up to 1.

With paired fakes of mixes, only one number is unknown. If X fakes are in the first of two bins, and
s is its tallied count, the first option has s - X votes, and all other voters voted for the second.
So P(the first wins) is the posterior probability that s - X is more than half of the votes.

For other mechanisms the known sum of all votes is not used. If the noise is normal with the same
variance in all bins, using the sum would only shift all estimates by the same number. The noise of
the bins is treated as independent conditionally on the votes. For flips and shaped fakes this is
exact. Uniform fakes, flipped or not, are multinomial: independent Poisson variables conditionally
on their sum. The same holds for uniform bins that replace values.
"""

import math

import numpy as np
from numpy.typing import NDArray

from mixtally.errors import MessageError
from mixtally.model.estimates import Estimate, Tally
from mixtally.model.mechanism import Shuffled
from mixtally.primitives.tails import Floats
from mixtally.protocol.estimate.noise import noise_distribution

_FAR, _LUMPS = 9.0, 20.0
"""Numbers of votes are ignored if they are farther from an estimate than this number of standard
errors plus this number of counts. Their probability is about 1e-12.
"""
_FINE = 50
"""The posterior is evaluated at this number of votes or more per standard error. If the standard
error is smaller than this number of votes, it is evaluated at every number of votes.
"""
# Eight nodes of Gauss-Legendre quadrature for the lot that decides ties.
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)
# If the likelihood of the tally, summed over votes, is at most this number, no votes explain it.
_LEAST_LIKELY = 1e-12


def winner_chances(
    mechanism: Shuffled, tally: Tally, users: int, blank: int | None = None
) -> Floats:
    """Return the probability that each option has won, shape (bins,). The sum is 1.

    Raises MessageError if no votes explain the tally.

    Parameters
    ----------
    mechanism : Shuffled
        The mechanism, with the fakes that arrived.
    tally : Tally
        The tally of the votes.
    users : int
        The number of voters.
    blank : int or None
        The option of blank ballots, which cannot win and has probability 0; None without one.
    """
    if mechanism.has_paired_fakes:
        return _winner_of_two(mechanism, tally, users, blank)
    error = math.sqrt(mechanism.variance_at(tally.messages, _leader_votes(mechanism, tally, users)))
    counts = np.clip(mechanism.debias_counts(tally.counts, tally.messages), 0.0, float(users))
    if blank is not None:
        counts[blank] = -math.inf
    lead = float(counts.max())
    reach = _FAR * error + _LUMPS
    first = max(0, math.floor(lead - 3.0 * reach))
    last = min(users, math.ceil(lead + reach))
    votes = np.arange(first, last + 1, max(1, math.floor(error / _FINE)))
    able = np.flatnonzero(counts >= lead - 2.0 * reach)
    posterior = np.array([_posterior(mechanism, tally, int(tally.counts[i]), votes) for i in able])
    below = np.cumsum(posterior, axis=1) - posterior
    chances = np.zeros(len(counts))
    for node, weight in zip((_NODES + 1.0) / 2.0, _WEIGHTS / 2.0, strict=True):
        chances[able] += weight * (posterior * _products_of_others(below + node * posterior)).sum(
            axis=1
        )
    return chances


def _winner_of_two(mechanism: Shuffled, tally: Tally, users: int, blank: int | None) -> Floats:
    """Return the probability that each of two options has won, with paired fakes."""
    noise, times = noise_distribution(mechanism, tally.messages, 0), mechanism.repeats
    sent = int(tally.counts[0]) - noise.first - np.arange(len(noise.pmf))
    able = (sent >= 0) & (sent <= times * users) & (sent % times == 0)
    likelihood = np.where(able, noise.pmf, 0.0)
    _check_explained(likelihood, int(tally.counts[0]))
    if blank is not None:
        return np.array([float(blank != 0), float(blank != 1)])
    lead = np.sign(2 * sent - times * users)
    first = float((likelihood * (1 + lead)).sum() / (2.0 * likelihood.sum()))
    return np.array([first, 1.0 - first])


def _leader_votes(mechanism: Shuffled, tally: Tally, users: int) -> int:
    """Estimate the number of votes of the leader, whose count has the largest error."""
    most = float(mechanism.debias_counts(tally.counts, tally.messages).max())
    return round(min(max(most, 0.0), float(users)))


def may_have_won(found: Estimate, blank: int | None = None) -> NDArray[np.bool_]:
    """Return for each option whether simultaneous intervals allow it to have won, shape (bins,).

    The true winner is among these options whenever all intervals contain the true counts. No prior
    distribution is assumed.

    Parameters
    ----------
    found : Estimate
        The estimated votes.
    blank : int or None
        The option of blank ballots, which cannot win; None without one.
    """
    lower = found.simultaneous.lower.astype(np.float64)
    if blank is not None:
        lower[blank] = -math.inf
    able: NDArray[np.bool_] = found.simultaneous.upper >= lower.max()
    if blank is not None:
        able[blank] = False
    return able


def _products_of_others(values: Floats) -> Floats:
    """Return for every row the product of all other rows."""
    ones = np.ones((1, values.shape[1]))
    before = np.cumprod(np.concatenate([ones, values[:-1]]), axis=0)
    after = np.cumprod(np.concatenate([ones, values[:0:-1]]), axis=0)[::-1]
    return np.asarray(before * after, dtype=np.float64)


def _posterior(mechanism: Shuffled, tally: Tally, seen: int, votes: NDArray[np.int64]) -> Floats:
    """Return the posterior distribution of a number of votes, at ``votes``; the sum is 1."""
    from scipy import special  # slow to import

    sent = votes * mechanism.repeats
    if mechanism.replaced is not None:
        likelihood = _replacement_likelihood(mechanism, tally.messages, seen, sent)
    elif mechanism.flip_threshold is not None:
        likelihood = _flip_likelihood(mechanism, tally.messages, seen, sent)
    elif mechanism.uniform_fakes:
        mean, fakes = mechanism.true_fakes, np.maximum(seen - sent, 0)
        log = special.xlogy(fakes, mean) - mean - special.gammaln(fakes + 1.0)
        likelihood = np.where(seen >= sent, np.exp(log), 0.0)
    else:
        noise = noise_distribution(mechanism, tally.messages, 0)
        place = seen - sent - noise.first
        inside = (place >= 0) & (place < len(noise.pmf))
        likelihood = np.where(inside, noise.pmf[np.where(inside, place, 0)], 0.0)
    _check_explained(likelihood, seen)
    return np.asarray(likelihood / float(likelihood.sum()), dtype=np.float64)


def _check_explained(likelihood: Floats, seen: int) -> None:
    """Raise MessageError if no number of votes explains the tally ``seen`` of one bin."""
    if not float(likelihood.sum()) > _LEAST_LIKELY:
        raise MessageError(
            "tally",
            expected="counts that some votes explain",
            got=f"{seen:,} in one bin",
            do="look for ballots that did not follow the plan",
        )


def _flip_likelihood(
    mechanism: Shuffled, messages: int, seen: int, sent: NDArray[np.int64]
) -> Floats:
    """Return P(S = ``seen``) for every z of ``sent``, where S = Bin(z, p) + Bin(messages - z, q).

    With uniform fakes, a Poisson number of mean K / d is added to z. The probability is the inverse
    Fourier integral (1/2 pi) int (q + p e^it)^z (p + q e^it)^(N - z) e^(-i t seen) dt, computed by
    the trapezoid rule. Its aliases are 40 standard deviations and 100 counts away from each other,
    which is farther than any z of ``sent`` is from ``seen``. Beyond an angle of 12 / deviation the
    integrand is below 1e-13.
    """
    q = mechanism.flip_probability
    p = 1.0 - q
    ones = mechanism.true_fakes
    deviation = math.sqrt(messages * p * q + mechanism.gain**2 * ones)
    angle, step = _angles(deviation, mechanism.repeats)
    turn = np.exp(1j * angle)
    with_vote, other = np.log(q + p * turn), np.log(p + q * turn)
    fakes = ones * np.expm1(with_vote - other)
    power = messages * other + fakes - 1j * seen * angle + sent[:, np.newaxis] * (with_vote - other)
    return _invert_transform(power, step)


def _replacement_likelihood(
    mechanism: Shuffled, messages: int, seen: int, sent: NDArray[np.int64]
) -> Floats:
    """Return P(S = seen) for every z of ``sent``, if values are replaced with probability g.

    S is Bin(z, 1 - g + g/d) + Bin(n - z, g/d) + Bin(K, 1/d). The Fourier integral is computed as in
    ``_flip_likelihood``, at the angles for the smallest standard deviation of S. If the integrand
    is negligible for one z, it is negligible for every larger z.
    """
    share, fakes = 1.0 / mechanism.bins, mechanism.fakes_promised
    lost, risen = (
        mechanism.replacement_probability * (1.0 - share),
        mechanism.replacement_probability * share,
    )
    narrow, wide = (
        math.sqrt(mechanism.variance_at(messages, z)) * mechanism.gain
        for z in (0, int(sent.max()) // mechanism.repeats)
    )
    angle, step = _angles(narrow, mechanism.repeats, wide)
    turn = np.exp(1j * angle)
    with_vote, other = np.log(lost + (1.0 - lost) * turn), np.log(1.0 - risen + risen * turn)
    blank = fakes * np.log(1.0 - share + share * turn) + (messages - fakes) * other
    power = blank - 1j * seen * angle + sent[:, np.newaxis] * (with_vote - other)
    return _invert_transform(power, step)


def _angles(narrow: float, repeats: int, wide: float | None = None) -> tuple[Floats, float]:
    """Return the angles of the trapezoid rule and their step, for a range of deviations.

    ``narrow`` and ``wide`` are the smallest and the largest standard deviation of S.
    """
    half = math.ceil(20.0 * (narrow if wide is None else wide) + 50.0 * repeats)
    step = 2.0 * math.pi / (2 * half + 1)
    last = min(half, math.ceil(12.0 / narrow / step))
    return step * np.arange(1, last + 1, dtype=np.float64), step


def _invert_transform(power: NDArray[np.complex128], step: float) -> Floats:
    """Return one probability for each row, from the logarithm of its transform at each angle."""
    found = step / (2.0 * math.pi) * (1.0 + 2.0 * np.exp(power).real.sum(axis=1))
    return np.asarray(np.maximum(found, 0.0), dtype=np.float64)
