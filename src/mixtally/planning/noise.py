"""The least noise of one mechanism for a request: flips, fakes, or none that is useful."""

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
_SEARCH_TOLERANCE = 1e-6
_PROOF_FACTOR = Fraction("1.001")
"""Relatively so many fakes more than are needed have a proof that is quickly found."""


def least_flips(
    accountant: Accountant, request: PlanRequest, encoding: Encoding, hiding: BitFlips, fakes: int
) -> int | None:
    """The least flip probability, times 2^64, of ``hiding``; None when nothing would be learned.

    ``hiding`` has those of the promised ``fakes`` that certainly arrive. Some of delta is left
    where messages are capped.
    """
    epsilon, delta = request.guarantee.epsilon, request.guarantee.delta
    if any(part.bins >= CAPPED_FROM for part in encoding.parts):
        delta *= 1.0 - CAPS_DELTA_SHARE
    together = len(encoding.parts) * request.collections
    # Cheap and smooth: others have bounds that are neither.
    exact = together == 1 and not hiding.crowd and isinstance(hiding.fakes, BlankFakes)
    exact = exact and hiding.max_set == 1
    most = most_useful_flips(request, fakes, hiding.repeats)
    if request.likely:
        most -= most >> 20  # where it is told from all people
        enough = Record.of(hiding.with_parameter(Parameter.FLIP, most))
        return most if probably_satisfies(accountant, enough, epsilon, delta, together) else None
    found = least_noise(
        accountant,
        hiding,
        Parameter.FLIP,
        epsilon,
        delta,
        together,
        tolerance=_EXACT_TOLERANCE if exact else _SEARCH_TOLERANCE,
        most=most,
    )
    return None if found is None else found.flip_threshold


def most_useful_flips(request: PlanRequest, fakes: int, repeats: int) -> int:
    """The most flips, times 2^64, with which an option may say enough of ``request``.

    With x = q (1 - q) an empty bin's variance (n + K) x / ((1 - 4x) k) is s at x = c / (1 + 4c),
    c = s k / (n + K). Under a local epsilon fewer fakes may be sent, and none adds least.
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
    """Fakes that must certainly arrive among records in clear; raises ParameterError for none."""
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
    """What a message needs where people toss coins for its fakes, if ``fakes`` of them are enough.

    delta falls about as exp(-s K), s at most ln(1 / delta) / K, with the fakes K of all m messages.
    Averaged over a K of variance K or less in each it is as if s K / 2 m fewer had come.
    """
    return math.ceil(fakes * _PROOF_FACTOR + _coins_margin(request, parts))


def fakes_without_coins(request: PlanRequest, fakes: Fraction, parts: int) -> Fraction:
    """What is enough where people toss coins for ``fakes`` of them."""
    return max(Fraction(0), (fakes - _coins_margin(request, parts)) / _PROOF_FACTOR)


def _coins_margin(request: PlanRequest, parts: int) -> Fraction:
    together = parts * request.collections
    return Fraction(0.5 * math.log(1.0 / request.guarantee.delta)) / together


def fewest_fakes(
    accountant: Accountant,
    request: PlanRequest,
    encoding: Encoding,
    hiding: BitFlips,
    threshold: int,
) -> int | None:
    """The fewest fakes that must arrive with this flip probability, with coins; None where none is
    known.
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
    together: int,
    *,
    tolerance: float = TOLERANCE,
    most: int | None = None,
) -> Shuffled | None:
    """``mechanism`` with the least ``parameter`` with which so many messages keep the guarantee,
    up to ``most``; None for none.
    """
    try:
        found = calibrate(
            accountant,
            Record.of(mechanism),
            parameter,
            epsilon,
            delta,
            collections=together,
            tolerance=tolerance,
            most=most,
        )
    except EffortError:
        raise
    except ParameterError:
        return None
    return found.message.mechanism


def least_flips_for_local_epsilon(request: PlanRequest, flipped: BitFlips, parts: int) -> int:
    """The least flip probability, times 2^64, that keeps the local epsilon requested, 0 without.

    In every collection some bits differ between two records, each telling ln(p/q) to whoever can
    trace messages to their senders.
    """
    if request.local_epsilon is None:
        return 0
    differ = flipped.bins if flipped.max_set is None else 2 * flipped.max_set
    touched = differ * flipped.repeats * parts
    # touched ln(p/q) <= cap, rounded to the safe side
    least = SCALE / (1.0 + math.exp(request.local_epsilon / (touched * request.collections)))
    return min(MOST_THRESHOLD - 1, math.ceil(least * (1.0 + 1e-15)) + 1)
