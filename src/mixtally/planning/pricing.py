"""The proof of a candidate, whose noise is raised from the estimate until the guarantee is kept.

A candidate's noise is the noise of one message among an average number of fakes. Three effects
change the needed noise slightly: the coins of devices for their fakes, caps on the bits of
messages, and parts of different sizes. ``planning.choose`` calls ``make_plan``, which includes all
three and certifies the resulting integers.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial

from msgspec import structs

from mixtally.accounting.accountant import Accountant
from mixtally.accounting.composition.pld import CLOSE, ROUGH, Tightness
from mixtally.accounting.numerics.search import (
    FLIPS,
    ROOT,
    Axis,
    SearchTolerance,
    find_least_meeting,
)
from mixtally.accounting.plans.terms import (
    PrivacyTerms,
    cap_cost,
    certify_terms,
    composed_upper,
    count_honest_parts,
    local_epsilon_of,
)
from mixtally.device.contract.part import MOST_OWN
from mixtally.device.contract.plan import VERSION
from mixtally.model.mechanism import BitFlips, KaryResponse, Shuffled
from mixtally.model.part import FakeRecord, OwnFakes, Part
from mixtally.model.plan import Cover, Plan
from mixtally.model.recipe import UniformRecipe
from mixtally.model.shape import Shape
from mixtally.planning.layouts import set_flip_threshold
from mixtally.planning.noise import least_flips_for_local_epsilon
from mixtally.planning.options import Candidate
from mixtally.primitives.fixed_point import LEAST_THRESHOLD, MOST_THRESHOLD, SCALE

_MARGINS = (0.0, 1e-6, 1e-4, 1e-3, 1e-2)
"""Relative increases of the noise that are tried in turn. Parts and caps together may cost slightly
more than the estimate.
"""
_MORE_SHIFTS = 4
"""The number of shifts that are tried from the estimated one on."""
_ROUNDED_DOWN = 1.0 - 1e-13
"""A factor that covers how a local epsilon, and the floating-point ``expm1``, are rounded."""
_UNITS = 1 << 40
"""The resolution of the search for the fewest fakes: steps for one fake."""
_TOLERANCE = 1e-4
"""The relative tolerance of the searches."""
_ROUGH, _FLOOR = 0.05, 1e-2
"""Rises of delta that a search accepts, because the bounds of an average over coins are not smooth:
a relative rise, and a rise as a share of the target."""
_NEAR_ONE, _NEAR = 2e-2, 0.1
"""The shares of delta that may stay unused, for one message and for several messages."""


def make_plan(found: Candidate, accountant: Accountant) -> Plan | None:
    """Return the plan of a candidate, with its noise raised as little as the guarantee allows.

    Return None if no such plan is affordable, or if its counts would not be informative.
    """
    # The estimates decide the order only. A plan needs the proof of its own integers.
    for settled in _raise_noise(found, accountant):
        # The budget is checked first, because a proof is costly.
        plan = _prove_plan(settled, accountant) if settled.is_affordable else None
        if plan is not None:
            return plan if settled.is_informative else None
    return None


def _raise_noise(found: Candidate, accountant: Accountant) -> Iterator[Candidate]:
    """Yield candidates that probably keep the guarantee, by increasing noise."""
    first = found.parts[0]
    if isinstance(first.recipe, UniformRecipe):
        for room in _MARGINS:
            yield replace(found, parts=tuple(_raise_mix_fakes(part, room) for part in found.parts))
    elif isinstance(first.recipe, Shape):
        for more in range(_MORE_SHIFTS):
            yield replace(found, parts=tuple(_raise_shift(part, more) for part in found.parts))
    elif first.replaced is not None:
        yield from _raise_replaced(found, first.replaced, accountant)
    elif first.threshold is None:
        yield from _raise_own_fakes(found, accountant)
    else:
        yield from _raise_flips(found, first.threshold, accountant)


def _raise_mix_fakes(part: Part, room: float) -> Part:
    """Return the part with more uniform fakes of every mix, by the relative amount ``room``."""
    assert isinstance(part.recipe, UniformRecipe)
    count = part.recipe.count + math.ceil(room * part.recipe.count)
    return structs.replace(part, recipe=UniformRecipe(count))


def _raise_shift(part: Part, more: int) -> Part:
    assert isinstance(part.recipe, Shape)
    recipe = structs.replace(part.recipe, shift=part.recipe.shift + more)
    return structs.replace(part, recipe=recipe)


def _raise_own_fakes(found: Candidate, accountant: Accountant) -> Iterator[Candidate]:
    """Yield the candidate in clear with the fewest uniform fakes of devices, if there is one."""
    owns: dict[int, OwnFakes] = {}
    for part in found.parts:
        if part.bins not in owns:
            own = _fewest_own_fakes(found, part, accountant)
            if own is None:
                return
            owns[part.bins] = own
    parts = tuple(structs.replace(part, own=owns[part.bins]) for part in found.parts)
    yield replace(found, parts=parts)


def _raise_replaced(found: Candidate, start: int, accountant: Accountant) -> Iterator[Candidate]:
    """Yield the candidate with the least replacement probability, if there is one.

    The probability is equal in all parts.
    """

    def with_replaced(value: int) -> Candidate:
        parts = (structs.replace(part, replaced=value) for part in found.parts)
        return replace(found, parts=tuple(parts))

    ends = LEAST_THRESHOLD, SCALE - LEAST_THRESHOLD
    if (local := found.request.local_epsilon) is not None:
        each = local / (len(found.parts) * found.request.collections)
        every = (part.mechanism(fakes=0, crowd=1) for part in found.parts)
        ends = max(least_replaced(each, one) for one in every), ends[1]
    least = _search_least(
        lambda value: with_replaced(value).privacy_terms, start, ends, ROOT, accountant
    )
    if least is not None:
        yield with_replaced(least)


def least_replaced(local_epsilon: float, mechanism: Shuffled) -> int:
    """Return the least replacement probability, times 2^64, that keeps a record's local epsilon.

    Let g be that probability, and p the number of cells among which a message chooses. The privacy
    loss of a message is ln(1 + (1 - g) p / g). The result is rounded up, which is the safe
    direction.
    """
    assert isinstance(mechanism, KaryResponse)
    each = local_epsilon * _ROUNDED_DOWN / mechanism.record_messages
    growth = Fraction(math.expm1(each) * _ROUNDED_DOWN)
    cells = Fraction(mechanism.hiding_cells)
    return min(SCALE - LEAST_THRESHOLD, math.ceil(SCALE * cells / (cells + growth)))


def _fewest_own_fakes(found: Candidate, part: Part, accountant: Accountant) -> OwnFakes | None:
    """Return the fewest fakes per device that suffice, if all parts were equal to ``part``."""
    assert part.own is not None

    def terms_with_fakes(units: int) -> PrivacyTerms:
        alike = structs.replace(part, own=own_fakes(FakeRecord.UNIFORM, units * _PER_UNIT))
        return replace(found, parts=(alike,) * len(found.parts)).privacy_terms

    start, most = -(-(part.own.whole * SCALE + part.own.coin) // _PER_UNIT), MOST_OWN * _UNITS
    least = (
        _search_least(terms_with_fakes, start, (1, most), ROOT, accountant)
        if start <= most
        else None
    )
    return None if least is None else own_fakes(FakeRecord.UNIFORM, least * _PER_UNIT)


_PER_UNIT = SCALE // _UNITS


def own_fakes(record: FakeRecord, mean: int) -> OwnFakes:
    """Return the fakes of a device with the given mean, which is in units of 2^-64."""
    return OwnFakes(record, *divmod(mean, SCALE))


def _raise_flips(found: Candidate, threshold: int, accountant: Accountant) -> Iterator[Candidate]:
    """Yield candidates with more flips.

    If coins decide the number of fakes, the least flips are searched for first.
    """
    least = threshold
    if any(part.own is not None and part.own.coin for part in found.parts):

        def terms_with_threshold(value: int) -> PrivacyTerms:
            return set_flip_threshold(found, value).privacy_terms

        first = found.parts[0].mechanism(fakes=0, crowd=found.crowd)
        assert isinstance(first, BitFlips)
        low = max(
            LEAST_THRESHOLD, least_flips_for_local_epsilon(found.request, first, len(found.parts))
        )
        found_least = _search_least(
            terms_with_threshold, threshold, (low, MOST_THRESHOLD - 1), FLIPS, accountant
        )
        if found_least is None:
            return
        least = found_least
    for room in _MARGINS:
        raised = least + round(least * room)
        if raised < MOST_THRESHOLD:
            yield set_flip_threshold(found, raised)


def _search_least(
    make_terms: Callable[[int], PrivacyTerms],
    start: int,
    ends: tuple[int, int],
    axis: Axis,
    accountant: Accountant,
) -> int | None:
    """Return approximately the least value whose terms keep the guarantee; None if no value does.

    ``ends`` has the smallest and the largest value that is tried, and ``start`` the first one. At
    the returned value, up to 2 % of delta can be unused. If the guarantee is for several messages,
    up to 10 % can be unused.
    """
    one = make_terms(start)
    delta, several = one.guarantee.delta, count_honest_parts(one).total() > 1
    rough = SearchTolerance(_ROUGH, floor=_FLOOR, near=_NEAR if several else _NEAR_ONE)
    # Evaluations of flips are costly. So a search with rough bounds, which are a few percent too
    # large, comes first and gives the close search its start.
    for tightness in (ROUGH, CLOSE) if several and axis is FLIPS else (CLOSE,):
        upper = partial(_upper, make_terms, accountant, tightness)
        found = find_least_meeting(
            upper, delta, *ends, start=start, tolerance=_TOLERANCE, axis=axis, rough=rough
        )
        if found is None:
            return None
        start = found
    return start


def _upper(
    make_terms: Callable[[int], PrivacyTerms],
    accountant: Accountant,
    tightness: Tightness,
    value: int,
) -> float:
    """Return the upper bound of delta for the privacy terms that ``make_terms`` makes of ``value``.

    Delta is computed at the epsilon of the guarantee, and includes the cost of caps.
    """
    terms = make_terms(value)
    return min(1.0, composed_upper(terms, accountant, tightness) + cap_cost(terms))


def _prove_plan(found: Candidate, accountant: Accountant) -> Plan | None:
    """Return the plan with the integers of the candidate; None if it breaks a promise.

    The promises are the guarantee and the local epsilon.
    """
    terms, request = found.privacy_terms, found.request
    proved, local = certify_terms(terms, accountant), local_epsilon_of(terms)
    # Written with "not" so that a bound that is not a number also fails.
    if not proved.upper <= terms.guarantee.delta:
        return None
    if request.local_epsilon is not None and (local is None or local > request.local_epsilon):
        return None
    crowd = request.crowd
    # The fakes of mixes do not depend on the crowd, so one person is enough.
    if found.cover is Cover.MIXES and request.minimum_crowd is None:
        crowd = 1
    return Plan(
        version=VERSION,
        question=found.question,
        edges=request.edges,
        grid=request.grid,
        prefixes=request.prefixes,
        guarantee=request.guarantee,
        users=request.users,
        minimum_crowd=crowd,
        honest_share=request.honest_share,
        count_flips=found.count_flips,
        collections=request.collections,
        hops=found.hops,
        cover=found.cover,
        parts=found.parts,
        certificate=proved,
        local_epsilon=local,
    )
