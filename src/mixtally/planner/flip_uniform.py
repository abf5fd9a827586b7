"""flip-uniform: flipped values among flipped fakes that cover the bins nearly as in clear.

With x = q d, a record that shows its own bit is hidden by about K q / (1 - e^-x) messages. Where
bins are many, x is large: uniform fakes hide like blank ones, and their variance of K / d is for
nothing. Where K / d is nearly what records in clear need, few flips are left to add. From about
half of those fakes on that gives a smaller error than blank fakes do (docs/accounting.md has the
numbers); with all of them records in clear give as small a one, in shorter messages.
"""

from fractions import Fraction

from mixtally.planner.flips import among_people, lacks
from mixtally.planner.noise import uniform_fakes
from mixtally.planner.options import Infeasible, Result
from mixtally.planner.request import PlanRequest
from mixtally.privacy.accountant import Accountant
from mixtally.records.encodings import Encoding
from mixtally.records.part import FakeRecord
from mixtally.records.question import Kind

NAME = "flip-uniform"
_LEAST_SHARE = 0.5
"""Of the fakes that records in clear need: with fewer, blank fakes are hardly worse or better."""
_ONCE = "a question that is asked once and answered in one message"


def of_people(request: PlanRequest, encoding: Encoding, accountant: Accountant) -> Result:
    """As many fakes as are affordable, up to those that suffice in clear, and the least flips.

    Unless it is requested by name, None also where nothing is to be gained. A point of its curve
    takes milliseconds, so that several messages or collections, composed, would be searched for
    minutes: they are not offered.
    """
    (part, *rest) = encoding.parts
    asked = request.protocol == NAME
    if part.kind is not Kind.ONE:
        return None
    if rest or request.collections > 1:
        return Infeasible(NAME, _ONCE) if asked else None
    if not asked and (request.mixes_draw or request.local_epsilon is not None):
        return None
    if (short := lacks(NAME, request, encoding)) is not None:
        return short
    fakes, people = request.own_fakes(1), request.people or 1
    if not asked and fakes * people < 1:
        return None
    need = Fraction(uniform_fakes(accountant, request, encoding, part.bins), people)
    if not asked and not _LEAST_SHARE * need <= fakes < need:
        return None
    return among_people(
        NAME,
        request,
        encoding,
        accountant,
        fakes=min(fakes, need),
        record=FakeRecord.UNIFORM,
        count_flips=request.count_crowd and request.people is not None,
    )
