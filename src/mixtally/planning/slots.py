"""Candidates of ``clear-uniform`` that send some slots of a record, drawn anew each time.

``planning.choose`` calls this module. A record of k slots has one bin for each attribute or bit, or
is a set of at most k members and its pads (bins in place of missing members). A device sends m of
these bins among uniform fakes. A device that sends one slot sends one message instead of k. This
message needs k times fewer fakes than a message with one value among as many bins. The price is
accuracy: the variance of a bin with c people grows
by c (k/m - 1).
"""

import math
from collections.abc import Iterator
from fractions import Fraction

from mixtally.accounting.accountant import Accountant
from mixtally.accounting.divergence.set_in_clear import GROWTH
from mixtally.accounting.numerics.search import usual_cover
from mixtally.model.encodings import Encoding, slots_question
from mixtally.model.layout import Form, Layout
from mixtally.model.mechanism import InClear, Parameter, UniformFakes
from mixtally.model.part import FakeRecord, OwnFakes, Part
from mixtally.model.plan import Cover
from mixtally.model.question import MOST_BINS, Question
from mixtally.model.recipe import NoRecipe, Recipe, UniformRecipe
from mixtally.planning.clear_shaped import NO_LOCAL_EPSILON_REASON
from mixtally.planning.flips import missing_people_reason
from mixtally.planning.noise import (
    fakes_with_coins,
    fakes_without_coins,
    least_noise,
    probably_private,
)
from mixtally.planning.options import Candidate, Infeasible, Result, check_limits
from mixtally.planning.pricing import own_fakes
from mixtally.planning.request import PlanRequest
from mixtally.primitives.fixed_point import SCALE

NAME = "clear-uniform"
_TRIES = 2
"""How many numbers of slots above one are searched, beginning with the smallest estimated error."""
_WORTHWHILE, _NEARLY = 0.98, 1.02
"""Two factors. Several slots are worth a search if their error is below the first one times the
error of one slot. An estimate fits if it is at most the second one times the budget.
"""


def candidate_of_one(request: PlanRequest, encoding: Encoding, accountant: Accountant) -> Result:
    """Return the candidate in which devices send one slot of their record, and draw fakes."""
    return _candidate_by_people(request, encoding, accountant, several=False)


def candidate_of_several(
    request: PlanRequest, encoding: Encoding, accountant: Accountant
) -> Result:
    """Return the candidate in which devices send two or more slots, with about the least error."""
    return _candidate_by_people(request, encoding, accountant, several=True)


def candidate_by_mixes(request: PlanRequest, encoding: Encoding, accountant: Accountant) -> Result:
    """Return the candidate of one slot in which every mix draws the fakes.

    The result is None if the budget allows a message for every slot, because whole records among
    shaped fakes then have smaller errors.
    """
    asked = _question_of_slots(request, encoding)
    if asked is None or not request.mixes_draw or request.slots not in (None, 1):
        return None
    if request.local_epsilon is not None:
        return _infeasible(request, NO_LOCAL_EPSILON_REASON)
    if request.slots is None and request.messages_per_user >= asked.max_set:
        return None
    count = _least_fakes(request, asked, 1, accountant)
    if count is None:
        return _infeasible(request, "a larger epsilon or delta")
    if count > request.max_mix_messages:
        return _infeasible(request, f"{count:,} fakes: --mix-messages {count}")
    part = _part(asked, 1, None, UniformRecipe(count))
    return _keep_if_asked(
        request, check_limits(Candidate(request, request.question, (part,), Cover.MIXES))
    )


def _candidate_by_people(
    request: PlanRequest, encoding: Encoding, accountant: Accountant, *, several: bool
) -> Result:
    asked, people = _question_of_slots(request, encoding), request.people
    if asked is None or (request.slots is not None and (request.slots > 1) != several):
        return None
    if request.local_epsilon is not None:
        return _infeasible(request, NO_LOCAL_EPSILON_REASON)
    if people is None:
        return _infeasible(request, missing_people_reason(request))
    if request.accept_probable:
        return None if several else _probable_candidate(request, asked, people, accountant)
    for slots in _numbers_of_slots(request, asked, people, several=several):
        need = _least_fakes(request, asked, slots, accountant)
        if need is None:
            return _infeasible(request, "a larger epsilon or delta, or more people")
        need = fakes_with_coins(request, need, 1)
        # Rounded up, so that the people who certainly take part send enough fakes on average.
        own = own_fakes(FakeRecord.UNIFORM, -(-need * SCALE // people))
        sent = slots + Fraction(need, people)
        if sent <= request.own_fakes(1) + 1:
            found = check_limits(
                Candidate(request, request.question, (_part(asked, slots, own, NoRecipe()),))
            )
            return _keep_if_asked(request, found)
        more = math.ceil(1000 * sent) / 1000
        if request.slots is not None:
            return Infeasible(NAME, f"{need:,} fakes: --messages-per-user {more:.10g}")
    return None


def _probable_candidate(
    request: PlanRequest, asked: Question, people: int, accountant: Accountant
) -> Candidate | None:
    """Return a candidate with all fakes of the budget, if these most likely suffice."""
    fakes = math.floor(request.own_fakes(1) * people)
    if fakes < 1:
        return None
    certain = math.floor(fakes_without_coins(request, Fraction(fakes), 1))
    if not probably_private(accountant, request, _mechanism(asked, 1, certain), 1):
        return None
    own = own_fakes(FakeRecord.UNIFORM, fakes * SCALE // people)
    found = Candidate(request, request.question, (_part(asked, 1, own, NoRecipe()),))
    return found if found.is_informative and found.fits_bytes else None


def _question_of_slots(request: PlanRequest, encoding: Encoding) -> Question | None:
    """Return the question in the form that is needed to send a sample of a record's slots.

    Return None if records must be sent whole, or cannot be sampled.
    """
    if request.whole_records or encoding.parts != (request.question,):
        return None
    asked = slots_question(request.question)
    return asked if asked is not None and asked.bins + asked.max_set <= MOST_BINS else None


def _numbers_of_slots(
    request: PlanRequest, asked: Question, people: int, *, several: bool
) -> Iterator[int]:
    """Yield the numbers of slots to try, those of the smallest estimated errors first.

    If the request states a number, this is the only one. Otherwise ``several`` says whether numbers
    above one are tried, or only one slot.
    """
    if request.slots is not None:
        yield request.slots
        return
    if not several:
        yield 1
        return
    k, cells = asked.max_set, _layout(asked).bins
    cover = usual_cover(
        request.guarantee.epsilon / math.sqrt(request.collections), request.guarantee.delta
    )
    budget = float(request.messages_per_user) * _NEARLY

    # The known total of an attribute's or bit's bins reduces the variance. Of n people, c in a bin
    # then count as c - c^2 / n.
    known = asked.attributes is not None and people > 0
    effective_count = request.count * (1.0 - min(1.0, request.count / people) * known)

    def variance(slots: int) -> float:
        fakes = cover * slots**GROWTH / (k if slots == 1 else 1)
        return float(effective_count * (k / slots - 1.0) + (k / slots) ** 2 * fakes)

    fitting = [m for m in range(2, k) if m + cover * m**GROWTH * cells / people <= budget]
    better = [m for m in fitting if variance(m) < _WORTHWHILE**2 * variance(1)]
    yield from sorted(better, key=variance)[:_TRIES]


def _least_fakes(
    request: PlanRequest, asked: Question, slots: int, accountant: Accountant
) -> int | None:
    """Return the number of fakes that must certainly arrive; None if no number is enough."""
    given = request.guarantee.epsilon, request.guarantee.delta, request.collections
    found = least_noise(accountant, _mechanism(asked, slots, 0), Parameter.FAKES, *given)
    return None if found is None else found.fakes_promised


def _mechanism(asked: Question, slots: int, fakes: int) -> InClear:
    return InClear(
        bins=asked.bins,
        max_set=asked.max_set,
        slots=slots,
        full=asked.attributes is not None,
        fakes=UniformFakes(fakes),
    )


def _layout(asked: Question) -> Layout:
    """Return the layout of a message, which names a bin. For a set, its pads are bins, too."""
    return Layout(Form.INDEX, asked.bins + (asked.max_set if asked.attributes is None else 0))


def _part(asked: Question, slots: int, own: OwnFakes | None, recipe: Recipe) -> Part:
    return Part(
        bins=asked.bins,
        most_set=asked.max_set,
        threshold=None,
        own=own,
        recipe=recipe,
        layout=_layout(asked),
        repeats=1,
        slots=slots,
    )


def _infeasible(request: PlanRequest, needs: str) -> Infeasible | None:
    """Return ``Infeasible`` with the text ``needs`` if slots were requested; otherwise None.

    If None is returned, the candidates of whole records state their own reason.
    """
    return None if request.slots is None else Infeasible(NAME, needs)


def _keep_if_asked(request: PlanRequest, found: Candidate | Infeasible) -> Result:
    if isinstance(found, Infeasible):
        return _infeasible(request, found.needs)
    return found
