"""A record in clear among uniform fakes: delta from its definition, in balls.

``derive`` uses this module. There are N = fakes + 1 messages; A of them are in the bin of u and B
in the bin of v. The sums of the identity are X_u = d A and X_v = d B, so

    delta = (d/N) E[(A - e^eps B)_+].

Exchanging A and B exchanges the orders. T = A + B is Bin(N, 2/d), and A is Bin(T, 1/2) given T.
With k the least integer above T e^eps / (1 + e^eps), h = P(A = k | T) and s = P(A >= k | T),

    E[(A - e^eps (T - A))_+ | T] = (1 + e^eps) (T s + k h) / 2 - e^eps T s,

since the sum of a P(A = a | T) over a >= k is (T s + k h) / 2. By Pascal's rule, going from T to T
- 1 changes s by half a term, so only one tail is ever summed.

*Replaced values.* Let a uniform bin replace the person's with probability g. Its weight is then g +
(1 - g) d if it shows the bin of u, and g otherwise, so

    delta = (1/N) E[((1 - g) d (A - e^eps B) - (e^eps - 1) g N)_+]
          = (1 - g)(d/N) E[(A - e^eps B - c)_+],    c = (e^eps - 1) g N / ((1 - g) d).

Here k is the least integer above (T e^eps + c) / (1 + e^eps); there is none if T < c, and c s is
subtracted. If n people replace their values, Bin(n - 1, g) of the others' values are uniform. An
observer who also learns the other values, and which these are, sees no less, and neither depends on
the person's value. So the average over this number bounds delta for every crowd.

*Over planes* of Z_p^t two values are in one plane for a share kappa of all directions. Let C of the
N messages point at both values, A at u only and B at v only. With p instead of d,

    delta = (p/N) E[(A - e^eps B - (e^eps - 1) C)_+].

C is Bin(N, kappa/p). Given C, T = A + B is Bin(N - C, 2 (1 - kappa)/(p - kappa)), and the formula
above applies with c = (e^eps - 1) C. The values of others do not depend on u and v, so they only
help.

*Sampled slots.* One of the k bins of a record, out of d, is drawn and sent. Let A be the number of
messages in the k bins of u, and B that of v. Given all counts, the person's message is equally
likely to be any of them, so X_u = (d/k) A. The bins of two records that share none are two bins of
probability k/d each. So d/k takes the place of d, a fraction of at least 2. Records that share bins
have less: a shared bin has the weight 1 - e^eps once, where two bins would have 1 and -e^eps.

*Windows.* What a window cuts is the probability that the two bins contain T messages, one of them
the person's: T = 1 + Bin(N - 1, 2/d).

Source: docs/explanation/accounting.md, "The identity".
"""

from fractions import Fraction

from mixtally.accounting.verification.balls import (
    NEGLIGIBLE_DELTA,
    Bounds,
    arb,
    exact_ball,
    least_integer_above,
)
from mixtally.accounting.verification.binomials import Binomial

_HALF = Fraction(1, 2)


def one_bin_delta(
    fakes: int, bins: Fraction | int, grow: arb, nats: float, replaced: Fraction = Fraction(0)
) -> Bounds:
    """Return delta of one record among ``fakes`` uniform ones; ``grow`` is e^eps.

    ``bins`` is the number of bins. If one slot of a record is sent, it is the number of bins
    divided by the number of bins of the record. ``replaced`` is the probability, below 1, that the
    record itself is uniform. Raises UndecidedError if balls overlap.
    """
    records = fakes + 1
    scale = exact_ball((1 - replaced) * bins / records)
    taken = (grow - 1) * exact_ball(replaced) / scale
    if bins == 2:
        value = _walk(records, [arb(1)], grow, taken) * scale
        return Bounds(value, value)
    binomial, others = Binomial(records, Fraction(2) / bins), Binomial(fakes, Fraction(2) / bins)
    low, high = binomial.window(nats)
    low, high = max(low, 1), max(high, 1)  # T = 0 contributes nothing
    cut = others.lower_tail_bound(low - 2) + others.upper_tail_bound(high)
    hardly = _far_outcomes_bound(low, grow)
    if hardly < NEGLIGIBLE_DELTA:
        return Bounds(arb(0), cut + hardly)
    value = _walk(high, binomial.points(low, high), grow, taken) * scale
    return Bounds(value, value + cut)


def over_planes_delta(fakes: int, planes: tuple[int, int], grow: arb, nats: float) -> Bounds:
    """Return delta of a record that names a plane and is hidden by ``fakes`` only.

    ``planes`` are p and t. Raises UndecidedError if balls overlap.
    """
    records, (p, t) = fakes + 1, planes
    meeting = Fraction(p ** (t - 1) - 1, p**t - 1)
    both, others = Binomial(records, meeting / p), Binomial(fakes, meeting / p)
    exactly_one = 2 * (1 - meeting) / (p - meeting)
    first, last = both.window(nats)
    value, cut = arb(0), others.lower_tail_bound(first - 1) + others.upper_tail_bound(last)
    widest = arb(0)
    for met, chance in enumerate(both.points(first, last), first):
        if met >= records:
            break  # all messages point at both values
        law = Binomial(records - met, exactly_one)
        low, high = law.window(nats)
        low, high = max(low, 1), max(high, 1)
        value += chance * _walk(high, law.points(low, high), grow, (grow - 1) * met)
        # The person's message points at both values, or it is one of the others.
        fewer = Binomial(records - met - 1, exactly_one)
        below = fewer.lower_tail_bound(low - 1) if low > 1 else arb(0)
        widest = widest.max(below + law.upper_tail_bound(high + 1) + fewer.upper_tail_bound(high))
    value = value * exact_ball(Fraction(p, records))
    return Bounds(value, value + cut + widest)


def count_terms(fakes: int, planes: tuple[int, int], nats: float) -> int:
    """Estimate the number of terms that ``over_planes_delta`` sums."""
    p, t = planes
    meeting = Fraction(p ** (t - 1) - 1, p**t - 1)
    laws = Binomial(fakes + 1, meeting / p), Binomial(fakes + 1, 2 * (1 - meeting) / p)
    (first, last), (low, high) = (law.window(nats) for law in laws)
    return (last - first + 1) * (high - low + 1)


def _far_outcomes_bound(low: int, grow: arb) -> arb:
    """Return an upper bound of the divergence from T >= ``low``, for very many fakes.

    This divergence is at most the probability of A >= k if one of the T messages is the person's.
    That is the probability of at least k - 1 heads in T - 1 tosses, at most exp(-2 (T - 1) x^2)
    with x = (k - 1) / (T - 1) - 1/2 (Hoeffding). Since k - 1 >= T e^eps / (1 + e^eps) - 1, and x
    grows with T, T = ``low`` is the worst.
    """
    if low < 2:
        return arb(1)
    more = (grow / (1 + grow) * low - 1) / (low - 1) - exact_ball(_HALF)
    return (-2 * (low - 1) * more**2).exp() if more > 0 else arb(1)


def _walk(high: int, weights: list[arb], grow: arb, taken: arb) -> arb:
    """Return the sum over T up to ``high`` of its weight times the expectation given T.

    ``taken`` is c, by which A must exceed e^eps B.
    """
    least, total = max(high - len(weights) + 1, least_integer_above(taken)), arb(0)
    if least > high:
        return total
    k = least_integer_above((grow * high + taken) / (1 + grow))
    tossed = Binomial(high, _HALF)
    point, tail = tossed.point(k), tossed.at_least(k)
    for t in range(high, least - 1, -1):
        mean = (t * tail + k * point) / 2
        total += weights[t - high - 1] * ((1 + grow) * mean - (grow * t + taken) * tail)
        if t == least:
            break
        below = least_integer_above((grow * (t - 1) + taken) / (1 + grow))
        fewer = point * (2 * k) / t  # P(Bin(t - 1, 1/2) = k - 1)
        if below == k:
            point, tail = fewer * (t - k) / k, tail - fewer / 2
        else:
            point, tail = fewer, tail + fewer / 2
        k = below
    return total
