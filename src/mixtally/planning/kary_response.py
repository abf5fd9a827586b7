"""Candidates of ``kary-response``: values that uniform values replace at random, among fakes.

``planning.choose`` calls this module. The protocol belongs to the same family as ``clear-uniform``.
Let n be the number of people, g the probability that a value is replaced by a uniform one, and m
the number of fakes. Records in clear need a fixed number of uniform messages per bin. Replacements
and fakes together give n g + m uniform messages. A fake costs a message. A replacement costs
accuracy: the variance of a bin with z people increases by z g / (1 - g). Hence the fakes of the
budget are used first, and replacements provide the rest. If the fakes alone suffice, nothing is
replaced and the protocol is ``clear-uniform``. An empty bin has the smallest error without fakes,
so a budget of one message is always considered too.

A set of at most k values is sent as k messages, each of which is replaced independently. Then k n
g + m uniform messages arrive. A cell (a bin, or one of the p planes of a direction) needs as many
of these uniform messages as if the sets were sent in clear.
"""

import math
from fractions import Fraction
from functools import partial

import numpy as np

from mixtally.accounting.accountant import Accountant
from mixtally.accounting.divergence.set_in_clear import GROWTH
from mixtally.accounting.numerics.search import usual_cover
from mixtally.device.contract.planes import LARGEST_PRIME
from mixtally.model.encodings import Encoding
from mixtally.model.mechanism import InClear, KaryResponse, Parameter, UniformFakes
from mixtally.model.part import FakeRecord, OwnFakes
from mixtally.model.recipe import NoRecipe
from mixtally.planning.clear_shaped import questions_in_clear
from mixtally.planning.flips import TOO_FEW_PEOPLE, budget_shortfall, missing_people_reason
from mixtally.planning.layouts import part_in_clear, parts_without_fakes
from mixtally.planning.noise import fakes_without_coins, least_noise, probably_private
from mixtally.planning.options import (
    CONFIDENCE,
    Candidate,
    Infeasible,
    Result,
    check_limits,
    own_bytes_excess,
)
from mixtally.planning.planes import (
    can_use_planes,
    candidate_of_planes,
    choose_planes,
    cover_of_cell,
    large_messages,
    planes_to_price,
    widen_messages,
)
from mixtally.planning.pricing import least_replaced, own_fakes
from mixtally.planning.request import PlanRequest
from mixtally.primitives.fixed_point import LEAST_THRESHOLD, SCALE
from mixtally.primitives.tails import Floats

NAME = "kary-response"
_TOLERANCE = 1e-4
"""The relative tolerance of a replacement probability."""
_CHANCES = 1e-3, 0.95, 24
"""The replacement probabilities that are compared: the least, the largest, and their number."""
_FEWEST, _HALVINGS, _PLACES, _WIDE = 1e-3, 11, 48, 9.0
"""Numerical settings of ``_least_means``: the least mean, the bisection steps, the counts per mean,
and their range in standard deviations.
"""
_HELPING_SHARE = 0.1
"""A share of the needed uniform messages. Fewer fakes than this share reduce the error by at most
about 5 %."""
_FAKES_SUFFICE_REASON = (
    "a smaller --messages-per-user: its fakes suffice, and nothing need be replaced"
)


def candidate_by_people(request: PlanRequest, encoding: Encoding, accountant: Accountant) -> Result:
    """Return the candidate with the least replacement probability, given the fakes of the budget.

    The delta of some candidates is costly to compute. So the result is None in three cases, unless
    the request names the protocol: mixes may draw the fakes, a record has several messages, or
    there are several collections with so few fakes that these hardly reduce the error.
    """
    clear, asked = questions_in_clear(encoding), request.protocol == NAME
    if clear is None or request.question.hashed is not None:
        return None
    bins, size = [part.bins for part in clear], clear[0].max_set
    if not asked and (request.mixes_draw or len(bins) > 1):
        return None
    if request.people is None:
        return Infeasible(NAME, missing_people_reason(request)) if asked else None
    if (short := budget_shortfall(NAME, request, encoding, size)) is not None:
        return short
    if (large := own_bytes_excess(NAME, request, parts_without_fakes(clear, size))) is not None:
        return large if asked else None
    own = _affordable_fakes(request, len(bins), size, request.people)
    if not asked and request.collections > 1 and _has_too_few_fakes(request, own, max(bins), size):
        return None
    certain = _certain_fakes(request, own, len(bins), request.people)
    hiding = InClear(bins=max(bins), max_set=size, fakes=UniformFakes(certain))
    if (
        certain
        and request.local_epsilon is None
        and probably_private(accountant, request, hiding, len(bins))
    ):
        return Infeasible(NAME, _FAKES_SUFFICE_REASON) if asked else None
    most = _most_useful_replacement(request, min(bins), own, size)
    chance = _least_replacement(request, hiding, len(bins), most, accountant)
    if chance is None:
        return Infeasible(NAME, TOO_FEW_PEOPLE.replace("flips", "replaced values"))
    parts = tuple(
        part_in_clear(each, own, NoRecipe(), replaced=chance, most_set=size) for each in bins
    )
    found = Candidate(request, request.question, parts, count_flips=True)
    return check_limits(found)


def candidate_over_planes(
    request: PlanRequest, encoding: Encoding, accountant: Accountant
) -> Result:
    """Return the candidate whose messages name planes, with about the best number of cells."""
    return widen_messages(request, partial(_over_planes, request, encoding, accountant))


def _over_planes(
    request: PlanRequest, encoding: Encoding, accountant: Accountant, most: int
) -> Result:
    asked, people, size = request.protocol == NAME, request.people, request.question.max_set
    if (
        not can_use_planes(request, encoding)
        or people is None
        or (request.mixes_draw and not asked)
    ):
        return None
    if (short := budget_shortfall(NAME, request, encoding, size)) is not None:
        return None if request.question.hashed is None else short
    if (large := large_messages(NAME, request, encoding)) is not None:
        return large if asked else None
    own = _affordable_fakes(request, 1, size, people)
    certain = _certain_fakes(request, own, 1, people)
    cells = _best_cells(request, encoding, certain, people, accountant)
    planes = choose_planes(request, cells, most)
    if planes is None:
        return None
    over = planes_to_price(planes.prime, size)
    hiding = InClear(bins=planes.prime, max_set=size, planes=over, fakes=UniformFakes(certain))
    if (
        certain
        and request.local_epsilon is None
        and probably_private(accountant, request, hiding, 1)
    ):
        return None
    met = size / planes.prime if size > 1 else planes.collision_probability
    chance = _least_replacement(
        request,
        hiding,
        1,
        _most_useful_replacement(request, planes.prime, own, size, met),
        accountant,
    )
    if chance is None:
        return None
    part = part_in_clear(planes.points, own, NoRecipe(), planes, replaced=chance, most_set=size)
    return candidate_of_planes(request, planes, part, count_flips=True)


def _best_cells(
    request: PlanRequest, encoding: Encoding, certain: int, people: int, accountant: Accountant
) -> int:
    """Estimate the number of cells p with the least error at the request's count.

    The result is 0 if no number fits, or if messages that name bins have a smaller error. Let g be
    the replacement probability and mu the least mean number of messages of a cell. Then p = (n g +
    m) / mu.
    """
    g, guarantee, size = np.geomspace(*_CHANCES), request.guarantee, request.question.max_set
    if size > 1:  # The proof for sets does not count on the person's own replacements.
        mean: float | Floats = cover_of_cell(accountant, request, encoding)
    else:
        given = _epsilon_per_collection(request), guarantee.delta
        mean = accountant.distributions.get(("means", *given), lambda: _least_means(*given, g))
    cells = (size * people * g + certain) / mean
    bins, lost = request.question.bins, request.count * g * (1.0 - g)
    own = (size * request.users * g + certain) / bins + lost
    own = np.where(cells >= bins, own / (1.0 - g) ** 2, math.inf)
    cells = np.minimum(cells, min(bins, LARGEST_PRIME))
    spread = (size * request.users + certain) / np.maximum(cells, 1.0) + lost
    error = np.where(cells >= 2.0 * size, spread / (1.0 - g) ** 2, math.inf)
    best = int(error.argmin())
    if request.question.hashed is None and own.min() <= error[best]:
        return 0
    return round(float(cells[best])) if math.isfinite(error[best]) else 0


def _least_means(epsilon: float, delta: float, g: Floats) -> Floats:
    """Estimate the least mean number of messages of a cell, for each replacement probability g.

    Let A and B be the Poisson counts of two cells with mean mu, and c = g mu / (1 - g). The result
    is the mu with

        (1 - g) / mu  E (A - e^eps B - (e^eps - 1) c)_+ = delta.
    """
    low, high = np.full(len(g), math.log(_FEWEST)), np.full(len(g), 0.0)
    high += math.log(2.0 * usual_cover(epsilon, delta) + 10.0)
    growth, others = math.exp(epsilon), (g / (1.0 - g))[:, np.newaxis, np.newaxis]
    for _ in range(_HALVINGS):
        mean = np.exp((low + high) / 2.0)[:, np.newaxis]
        seen, chance = _poisson(mean)
        least = growth * seen[:, np.newaxis, :] + (growth - 1.0) * others * mean[:, :, np.newaxis]
        over = np.maximum(seen[:, :, np.newaxis] - least, 0.0)
        deltas = (1.0 - g) / mean[:, 0] * np.einsum("ga,gb,gab->g", chance, chance, over)
        low = np.where(deltas > delta, (low + high) / 2.0, low)
        high = np.where(deltas > delta, high, (low + high) / 2.0)
    return np.asarray(np.exp(high), dtype=np.float64)


def _poisson(mean: Floats) -> tuple[Floats, Floats]:
    """Return evenly spaced counts around each mean, and their approximate Poisson probabilities.

    ``mean`` has the shape (means, 1), and both results have the shape (means, counts).

    Source: Gosper, for the factorial (Proc. Natl. Acad. Sci. 75 (1978), 40).
    """
    width = _WIDE * np.sqrt(mean) + _WIDE
    low = np.floor(np.maximum(mean - width, 0.0))
    count: Floats = low + np.ceil((mean + width - low) / _PLACES) * np.arange(_PLACES)
    log = count * np.log(mean) - count * np.log(np.maximum(count, 1.0)) + count - mean
    chance = np.exp(log) / np.sqrt(count + 1.0 / 6.0)
    return count, chance / chance.sum(axis=1, keepdims=True)


def _epsilon_per_collection(request: PlanRequest) -> float:
    """Estimate the epsilon of a single collection as epsilon / sqrt(collections).

    For the Gaussian mechanism this estimate is nearly exact.
    """
    return request.guarantee.epsilon / math.sqrt(request.collections)


def _has_too_few_fakes(request: PlanRequest, own: OwnFakes | None, bins: int, size: int) -> bool:
    """Return whether there are fakes, but too few to reduce the error noticeably.

    This is the case if all fakes are drawn by coins, and their mean number is less than a tenth of
    the number of uniform messages that are needed.
    """
    if own is None or own.whole:
        return False
    need = (
        usual_cover(_epsilon_per_collection(request), request.guarantee.delta) * bins * size**GROWTH
    )
    return bool(own.mean * (request.people or 0) < _HELPING_SHARE * need)


def _affordable_fakes(request: PlanRequest, parts: int, size: int, people: int) -> OwnFakes | None:
    """Return the fakes of a device for each part, as many as the budget allows.

    Return None if the devices of all ``people`` together send less than one fake on average.
    """
    units = math.floor((request.own_fakes(parts) + 1 - size) * SCALE)
    return own_fakes(FakeRecord.UNIFORM, units) if units * people >= SCALE else None


def _certain_fakes(request: PlanRequest, own: OwnFakes | None, parts: int, people: int) -> int:
    """Return the number of certain fakes that hide a record as well as the fakes of all people.

    ``own`` are the fakes of one person, whose number may depend on a coin.
    """
    if own is None:
        return 0
    certain = own.mean_for(people)
    return round(fakes_without_coins(request, Fraction(certain), parts)) if own.coin else certain


def _least_replacement(
    request: PlanRequest, clear: InClear, parts: int, most: int, accountant: Accountant
) -> int | None:
    """Return the least replacement probability, times 2^64, given the fakes of ``clear``.

    Return None if it exceeds ``most``, above which the counts are not informative.
    """
    floor, messages = 1, parts * request.collections
    hiding = KaryResponse(
        bins=clear.bins,
        max_set=clear.max_set,
        planes=clear.planes,
        replaced=max(1, most),
        fakes=UniformFakes(clear.fakes_promised),
        crowd=request.people or 0,
    )
    if request.local_epsilon is not None:
        floor = least_replaced(request.local_epsilon / messages, hiding)
    if most < max(floor, LEAST_THRESHOLD):
        return None
    if request.accept_probable:
        return most if probably_private(accountant, request, hiding, parts) else None
    given = request.guarantee.epsilon, request.guarantee.delta, messages
    found = least_noise(
        accountant, hiding, Parameter.REPLACED, *given, tolerance=_TOLERANCE, most=most
    )
    return max(floor, found.replaced) if isinstance(found, KaryResponse) else None


def _most_useful_replacement(
    request: PlanRequest, cells: int, own: OwnFakes | None, size: int, met: float = 0.0
) -> int:
    """Return the largest replacement probability, times 2^64, with informative counts.

    Let n, g, m and k be as in the module's docstring, and d the number of ``cells``. The variance
    of an empty bin is at most (k n + m) / (d (1 - g)^2). Over p planes it is divided by (1 -
    kappa)^2 for single values, where kappa is the probability that two values share a plane, and by
    (1 - k/p)^2 for sets. ``met`` is kappa or k/p.
    """
    sent = request.users * (size if own is None else size + own.mean)
    least = CONFIDENCE / request.users * math.sqrt(sent / cells) / (1.0 - met)
    return math.floor((1.0 - min(1.0, least)) * SCALE)
