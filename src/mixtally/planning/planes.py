"""Candidates of ``clear-uniform`` over planes: values of large and open domains, and sets of them.

``planning.choose`` calls this module. A message does not name its value, but a plane of values that
contains the value (``model.planes``). Let n be the number of people, m the number of fakes, and p a
prime. A message draws a direction, which has p parallel planes, and names one of them. These planes
are called *cells*. The variance of a count is about (n + m) / p. A cell needs a nearly fixed number
of fakes, so the fakes suffice for a limited number of cells. The greatest prime up to this number
is p. If the domain has no more values than p, messages name values instead.

A set of k values is sent as k messages, so n people send k n messages. A value is a point with a
number of digits in base p. If messages have 8 bytes, sets need more than k digits, and therefore a
smaller prime. If this limits the number of cells, messages of up to 16 bytes are tried as well.
With a budget of bytes, longer messages leave fewer fakes, so the candidate of smaller error is
used.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial

from msgspec.structs import replace

from mixtally.accounting.accountant import Accountant
from mixtally.accounting.divergence.planes import MOST_PRIME
from mixtally.device.contract.planes import (
    LARGEST_PRIME,
    MOST_MESSAGES,
    MOST_WIDE_MESSAGES,
    digits_for,
    is_prime,
    most_digits,
)
from mixtally.device.contract.question import MOST_BINS
from mixtally.model.encodings import Encoding
from mixtally.model.part import FakeRecord, Part
from mixtally.model.plan import Cover
from mixtally.model.planes import Planes
from mixtally.model.question import Kind, Question
from mixtally.model.recipe import NoRecipe, UniformRecipe
from mixtally.planning.flips import budget_shortfall
from mixtally.planning.layouts import part_in_clear, parts_without_fakes
from mixtally.planning.noise import fakes_with_coins, fakes_without_coins, uniform_fakes
from mixtally.planning.options import Candidate, Infeasible, Result, check_limits, own_bytes_excess
from mixtally.planning.pricing import own_fakes
from mixtally.planning.request import PlanRequest
from mixtally.primitives.fixed_point import SCALE

NAME = "clear-uniform"
_ENOUGH_PER_USER, _ENOUGH_IN_ALL = 25, 100_000
"""A mix's fakes per user, and in all, above which more fakes reduce the error by at most 2 %."""
_USUAL_CELLS = 1_000
"""A number of cells from which on the fakes per cell are nearly constant."""
_FINE = 10
"""The search stops when the number of cells is known up to one part in 2^10."""


def candidate_by_people(request: PlanRequest, encoding: Encoding, accountant: Accountant) -> Result:
    """Return the candidate with the most cells for which the fakes of devices suffice.

    Return None if the fakes suffice for as many cells as values, because messages then name values.
    """
    return widen_messages(request, partial(_by_people, request, encoding, accountant))


def _by_people(
    request: PlanRequest, encoding: Encoding, accountant: Accountant, most: int
) -> Result:
    people, size = request.people, request.question.max_set
    if not _can_use_planes_in_clear(request, encoding) or people is None:
        return None
    if large_messages(NAME, request, encoding) is not None:
        return None
    own = request.own_fakes(1) + 1 - size
    fakes = math.floor(fakes_without_coins(request, own * people, 1))
    cells = _find_most_cells(accountant, request, encoding, fakes, most)
    planes = choose_planes(request, cells, most)
    if planes is not None and request.bytes_per_user is not None:
        sent = Candidate(request, request.question, (_part(planes, SCALE, size),)).bytes_per_user
        slots = math.floor(Fraction(request.bytes_per_user) * (size + 1) / sent)
        own = Fraction(max(0, slots - size))  # A fake drawn by a coin also needs a whole slot.
        fakes = min(fakes, math.floor(fakes_without_coins(request, own * people, 1)))
        cells = _find_most_cells(accountant, request, encoding, fakes, most)
        planes = choose_planes(request, cells, most)
    if planes is None or (request.question.hashed is None and cells == request.question.bins):
        return None
    need = fakes_with_coins(
        request, _needed_fakes(accountant, request, encoding, planes.prime, size), 1
    )
    return candidate_of_planes(request, planes, _part(planes, -(-need * SCALE // people), size))


def candidate_by_mixes(request: PlanRequest, encoding: Encoding, accountant: Accountant) -> Result:
    """Return the candidate with the most cells for which the fakes of every single mix suffice."""
    return widen_messages(request, partial(_by_mixes, request, encoding, accountant))


def _by_mixes(
    request: PlanRequest, encoding: Encoding, accountant: Accountant, most_planes: int
) -> Result:
    if not request.mixes_draw or not _can_use_planes_in_clear(request, encoding):
        return None
    size = request.question.max_set
    if (short := budget_shortfall(NAME, request, encoding, size)) is not None:
        return short
    if (large := large_messages(NAME, request, encoding)) is not None:
        return large
    most = min(request.max_mix_messages, max(_ENOUGH_IN_ALL, _ENOUGH_PER_USER * request.users))
    cells = _find_most_cells(accountant, request, encoding, most, most_planes)
    planes = choose_planes(request, cells, most_planes)
    if planes is None or (request.question.hashed is None and cells == request.question.bins):
        return None
    count = min(most, _needed_fakes(accountant, request, encoding, planes.prime, size))
    part = part_in_clear(planes.points, None, UniformRecipe(count), planes, most_set=size)
    return candidate_of_planes(request, planes, part, Cover.MIXES)


def widen_messages(request: PlanRequest, make: Callable[[int], Result]) -> Result:
    """Return the candidate with messages of up to 8 bytes, or of up to 16 bytes.

    ``make`` takes the maximum number of different messages, and returns the candidate. The
    candidate with messages of up to 16 bytes is returned if its error is smaller. It is computed
    only for sets, and only if longer messages allow more cells.
    """
    size, short = request.question.max_set, make(MOST_MESSAGES)
    error = math.inf
    if isinstance(short, Candidate):
        error = short.error
        if not is_limited_by_bytes(short.parts[0].planes, size):
            return short
    long = make(MOST_WIDE_MESSAGES) if size > 1 else None
    return long if isinstance(long, Candidate) and long.error < error else short


def is_limited_by_bytes(planes: Planes | None, size: int) -> bool:
    """Return whether the prime of ``planes`` is the largest that fits into a message of 8 bytes.

    The limit depends on ``size``, the maximum number of values in a set. A larger prime would make
    the error smaller.
    """
    if planes is None or size == 1 or planes.messages > MOST_MESSAGES:
        return False
    return planes.prime == _largest_prime(LARGEST_PRIME, size, MOST_MESSAGES)


def can_use_planes(request: PlanRequest, encoding: Encoding) -> bool:
    """Return whether records are single values or sets, and the request allows planes."""
    (first, *rest) = encoding.parts
    single = not rest and first.kind is Kind.ONE and request.edges is None and request.grid is None
    return (single or encoding.is_whole_set) and request.over_planes


def large_messages(name: str, request: PlanRequest, encoding: Encoding) -> Infeasible | None:
    """Return the reason if messages that name planes have too many bytes; otherwise None.

    The check uses the length of messages that name values, because messages that name planes are no
    shorter. The result is None for an open domain, where the length depends on the planes.
    """
    if request.question.hashed is not None:
        return None
    parts = parts_without_fakes(encoding.parts, request.question.max_set)
    return own_bytes_excess(name, request, parts)


def _can_use_planes_in_clear(request: PlanRequest, encoding: Encoding) -> bool:
    """Return whether planes are possible for records without noise of their own."""
    return can_use_planes(request, encoding) and request.local_epsilon is None


def _part(planes: Planes, mean: int, size: int) -> Part:
    own = own_fakes(FakeRecord.UNIFORM, mean)
    return part_in_clear(planes.points, own, NoRecipe(), planes, most_set=size)


def candidate_of_planes(
    request: PlanRequest,
    planes: Planes,
    part: Part,
    cover: Cover = Cover.PEOPLE,
    *,
    count_flips: bool = False,
) -> Result:
    """Return the candidate whose values are points of ``planes``, with the limits checked."""
    asked: Question = request.question
    if asked.hashed is not None:
        asked = replace(asked, bins=planes.device_planes.text_bins)
    own = replace(part, bins=asked.bins)
    found = Candidate(request, asked, (own,), cover, count_flips)
    return check_limits(found)


def choose_planes(request: PlanRequest, cells: int, most: int) -> Planes | None:
    """Return the planes of the greatest possible prime up to ``cells``.

    A message names a direction and a plane. The prime is limited, because the number of different
    messages is at most ``most``. Return None if the prime is at least the number of values, or too
    small. Open domains and sets get the largest possible number of points.
    """
    question, size = request.question, request.question.max_set
    prime = _largest_prime(min(cells, LARGEST_PRIME), size, most)
    if prime < 2 * size or (question.hashed is None and prime >= question.bins):
        return None
    if size == 1:
        return _planes_for_one(request, prime)
    return Planes(prime, most_digits(prime, most))


def _planes_for_one(request: PlanRequest, prime: int) -> Planes:
    """Return the planes of single values.

    Points have as few digits as a list of values allows. Points of an open domain have as many
    digits as possible.
    """
    question = request.question
    if question.hashed is None:
        return Planes(prime, digits_for(prime, question.bins))
    return Planes(prime, most_digits(prime))


def _needed_fakes(
    accountant: Accountant, request: PlanRequest, encoding: Encoding, prime: int, size: int
) -> int:
    """Return the number of fakes that must certainly arrive for ``prime`` cells.

    For a small prime, single values over planes need fewer fakes than single values in ``prime``
    bins. Otherwise records over planes need about as many fakes as records in ``prime`` bins.
    """
    over = planes_to_price(prime, size)
    question = request.question
    # With as many cells as values, messages name values, and planes do not apply.
    listed = question.hashed is None and prime >= question.bins
    if size == 1 and prime <= MOST_PRIME and is_prime(prime) and not listed:
        over = _planes_for_one(request, prime)
    return uniform_fakes(accountant, request, encoding, prime, size, over)


def planes_to_price(prime: int, size: int) -> Planes | None:
    """Return the planes for which delta is computed; None to compute it for ``prime`` bins.

    The planes have the fewest possible digits, because more digits hardly change delta. The result
    is None for single values if a question can have ``prime`` bins.
    """
    if size == 1 and prime <= MOST_BINS:
        return None
    return Planes(prime, size + 1)


def cover_of_cell(accountant: Accountant, request: PlanRequest, encoding: Encoding) -> float:
    """Estimate the number of uniform messages that a cell needs if there are many cells."""
    return (
        _needed_fakes(accountant, request, encoding, _USUAL_CELLS, request.question.max_set)
        / _USUAL_CELLS
    )


def _largest_prime(most: int, size: int, most_planes: int) -> int:
    """Return the greatest possible prime up to ``most``; a number below 2 if there is none.

    If messages have 8 bytes, the points of sets of ``size`` values need more than ``size`` digits:
    then the errors derived in ``model.planes`` are right. This limits the prime. Messages of 16
    bytes have enough points for every prime.
    """
    digits = size if size > 1 and most_planes <= MOST_MESSAGES else 0
    if digits:
        most = min(most, math.floor(most_planes ** (1.0 / (digits + 1))))
    while most >= 2 and not (is_prime(most) and (not digits or most_digits(most) > digits)):
        most -= 1
    return most


def _find_most_cells(
    accountant: Accountant,
    request: PlanRequest,
    encoding: Encoding,
    fakes: int,
    most_planes: int,
) -> int:
    """Return the largest number of cells for which ``fakes`` suffice, or 0 if there is none.

    The result is at most the number of values. The needed fakes grow slightly faster than the
    cells. Hence each number that is tried is the previous one, multiplied by the ratio of available
    to needed fakes. A tried number is a prime unless it is the number of values. If the request
    accepts a probable candidate, the search ends after the first multiplication.
    """
    size = request.question.max_set
    most, least = min(request.question.bins, LARGEST_PRIME, fakes), 2 * size
    if most < least:
        return 0
    trial = min(most, _USUAL_CELLS)
    need = _needed_fakes(accountant, request, encoding, trial, size)
    if request.accept_probable:
        return min(most, fakes * trial // need)
    over, fit = most + 1, 0
    while over - fit > 1:
        if need <= fakes:
            fit = trial
            trial += (fakes - need) * trial // need
        else:
            over = trial
            trial = trial * fakes // need
        trial = max(fit + 1, min(trial, over - 1))
        if trial < request.question.bins:
            trial = _largest_prime(trial, size, most_planes)
        if trial < least or trial - fit <= fit >> _FINE:
            break
        need = _needed_fakes(accountant, request, encoding, trial, size)
    return fit if fit >= least else 0
