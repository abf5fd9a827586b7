"""The least noise that one mechanism needs for a request: flips, fakes or a shape.

The protocols' files of the planner call these functions, which translate a request into a
calibration of the accountant.
"""

import math
from fractions import Fraction

from mixtally.accounting.accountant import Accountant, Record
from mixtally.accounting.calibrate import TOLERANCE, calibrate, probably_satisfies
from mixtally.errors import EffortError, ParameterError
from mixtally.model.encodings import Encoding
from mixtally.model.mechanism import (
    BitFlips,
    BlankFakes,
    InClear,
    Parameter,
    Shuffled,
    UniformFakes,
)
from mixtally.model.planes import Planes
from mixtally.planning.layouts import CAPPED_FROM, CAPS_DELTA_SHARE
from mixtally.planning.options import CONFIDENCE
from mixtally.planning.request import PlanRequest
from mixtally.primitives.fixed_point import MOST_THRESHOLD, SCALE

_EXACT_TOLERANCE = 1e-12
"""Relative tolerance of a flip probability for exact formulas; ``_SEARCH_TOLERANCE`` is for
bounds."""
_SEARCH_TOLERANCE = 1e-6
_ROUNDED_DOWN = 1.0 - 1e-13
"""A factor for a local epsilon, which covers how it is rounded when it is stated."""
_PROOF_FACTOR = Fraction("1.001")
"""A surplus of fakes. Without it the proof of a plan takes long, because delta is close to its
target.
"""


def least_flips(
    accountant: Accountant, request: PlanRequest, encoding: Encoding, hiding: BitFlips, fakes: int
) -> int | None:
    """Return the least flip probability that keeps the guarantee, times 2^64.

    Return None if counts with this flip probability would not be informative.

    ``hiding`` has the fakes that certainly arrive, on which the proof relies. ``fakes`` is the
    number of all promised fakes, because every fake adds noise. If messages have a cap, a share of
    delta is reserved for its cost.
    """
    epsilon, delta = request.guarantee.epsilon, request.guarantee.delta
    if any(part.bins >= CAPPED_FROM for part in encoding.parts):
        delta *= 1.0 - CAPS_DELTA_SHARE
    messages = len(encoding.parts) * request.collections
    # Only this delta is cheap and smooth enough for the exact tolerance; others are bounds.
    exact = messages == 1 and not hiding.crowd and isinstance(hiding.fakes, BlankFakes)
    exact = exact and hiding.max_set == 1
    most = most_useful_flips(request, fakes, hiding.repeats)
    if request.accept_probable:
        most -= most >> 20  # Strictly below the limit, the candidate counts as informative.
        enough = Record.of(hiding.with_parameter(Parameter.FLIP, most))
        return most if probably_satisfies(accountant, enough, epsilon, delta, messages) else None
    found = least_noise(
        accountant,
        hiding,
        Parameter.FLIP,
        epsilon,
        delta,
        messages,
        tolerance=_EXACT_TOLERANCE if exact else _SEARCH_TOLERANCE,
        most=most,
    )
    return None if found is None else found.flip_threshold


def probably_private(
    accountant: Accountant, request: PlanRequest, mechanism: Shuffled, parts: int
) -> bool:
    """Return whether ``parts`` messages of ``mechanism`` most likely keep the guarantee.

    All collections of the request are counted.
    """
    guarantee, messages = request.guarantee, parts * request.collections
    return probably_satisfies(
        accountant, Record.of(mechanism), guarantee.epsilon, guarantee.delta, messages
    )


def most_useful_flips(request: PlanRequest, fakes: int, repeats: int) -> int:
    """Return the largest flip probability, times 2^64, with which counts are informative.

    Let n be the number of people, K the fakes, k the repeats, q the flip probability and x = q (1 -
    q). The variance of an empty bin is (n + K) x / ((1 - 4x) k). Let s be the largest variance of
    an informative count. The variance equals s at x = c / (1 + 4c) with c = s k / (n + K). If the
    request has a local epsilon, fewer than K fakes may be sent later. Therefore K = 0 is used then,
    which gives the largest q.
    """
    sent = request.users + (fakes if request.local_epsilon is None else 0)
    c = (request.users / CONFIDENCE) ** 2 * repeats / sent
    most: int = math.ceil(0.5 * SCALE * (1.0 - (1.0 + 4.0 * c) ** -0.5))
    return min(MOST_THRESHOLD, most)


def uniform_fakes(
    accountant: Accountant,
    request: PlanRequest,
    encoding: Encoding,
    bins: int,
    most_set: int = 1,
    planes: Planes | None = None,
) -> int:
    """Return the least number of certain fakes that keeps the guarantee for records in clear.

    Raises
    ------
    ParameterError
        If no number of fakes keeps the guarantee.
    """
    sent = InClear(bins=bins, max_set=most_set, planes=planes, fakes=UniformFakes(0))
    found = calibrate(
        accountant,
        Record.of(sent),
        Parameter.FAKES,
        request.guarantee.epsilon,
        request.guarantee.delta,
        collections=len(encoding.parts) * request.collections,
    )
    return found.message.mechanism.fakes_promised


def fakes_with_coins(request: PlanRequest, fakes: int, parts: int) -> int:
    """Return the mean number of fakes with coins that hides as well as ``fakes`` certain fakes.

    Let m be the number of messages of a record in all collections, each among K certain fakes.
    Delta is about exp(-s K) with s <= ln(1 / delta) / K. Each of the m messages contributes a
    factor exp(-s K / m). With coins, the number of fakes of each message is random, with mean K and
    a variance of at most K. Then the mean of delta is about the delta of K - s K / (2 m) certain
    fakes.
    """
    return math.ceil(fakes * _PROOF_FACTOR + _coins_margin(request, parts))


def fakes_without_coins(request: PlanRequest, fakes: Fraction, parts: int) -> Fraction:
    """Return the number of certain fakes that hides as well as a mean of ``fakes`` with coins."""
    return max(Fraction(0), (fakes - _coins_margin(request, parts)) / _PROOF_FACTOR)


def _coins_margin(request: PlanRequest, parts: int) -> Fraction:
    """Return the additional fakes of one message that make up for the randomness of coins."""
    messages = parts * request.collections
    return Fraction(0.5 * math.log(1.0 / request.guarantee.delta)) / messages


def fewest_fakes(
    accountant: Accountant,
    request: PlanRequest,
    encoding: Encoding,
    hiding: BitFlips,
    threshold: int,
) -> int | None:
    """Return the least number of fakes with which a flip probability keeps the guarantee.

    ``threshold`` is the flip probability times 2^64. The result is the mean number of fakes of all
    people together in one part, with coins. It is None if the accountant finds no such number.
    """
    parts, flipped = len(encoding.parts), hiding.with_parameter(Parameter.FLIP, threshold)
    given = request.guarantee.epsilon, request.guarantee.delta, parts * request.collections
    found = least_noise(accountant, flipped, Parameter.FAKES, *given)
    if found is None:
        return None
    return fakes_with_coins(request, found.fakes_promised, parts) if found.fakes_promised else 0


def least_noise(
    accountant: Accountant,
    mechanism: Shuffled,
    parameter: Parameter,
    epsilon: float,
    delta: float,
    messages: int,
    *,
    tolerance: float = TOLERANCE,
    most: int | None = None,
) -> Shuffled | None:
    """Return the mechanism with the least value of ``parameter`` that keeps the guarantee.

    ``messages`` is the number of messages over which delta is composed, and ``most`` the largest
    allowed value of the parameter. Return None if no allowed value keeps the guarantee.
    """
    try:
        found = calibrate(
            accountant,
            Record.of(mechanism),
            parameter,
            epsilon,
            delta,
            collections=messages,
            tolerance=tolerance,
            most=most,
        )
    # An EffortError is a ParameterError too, but it does not say that no noise is enough.
    except EffortError:
        raise
    except ParameterError:
        return None
    return found.message.mechanism


def least_flips_for_local_epsilon(request: PlanRequest, flipped: BitFlips, parts: int) -> int:
    """Return the least flip probability, times 2^64, that keeps the local epsilon.

    Return 0 if the request has no local epsilon. Let q be the flip probability and p = 1 - q. In
    every collection a limited number of bits differ between two records. Each differing bit has the
    privacy loss ln(p/q) if its message can be traced to its sender.
    """
    if request.local_epsilon is None:
        return 0
    differ = flipped.bins if flipped.max_set is None else 2 * flipped.max_set
    touched = differ * flipped.repeats * parts
    # Solve touched * collections * ln(p/q) <= local epsilon for q. Rounding q up is the safe side.
    share = request.local_epsilon * _ROUNDED_DOWN / (touched * request.collections)
    least = SCALE / (1.0 + math.exp(share))
    return min(MOST_THRESHOLD - 1, math.ceil(least * (1.0 + 1e-15)) + 1)
