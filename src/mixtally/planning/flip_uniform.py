"""Candidates of ``flip-uniform``: flipped values among flipped fakes of uniform bins.

``planning.choose`` calls this module. Let q be the flip probability, d the number of bins, K the
number of fakes, and x = q d. If a record's own bit is still set after the flips, about K q / (1 -
e^-x) fakes hide the record. For many bins x is large: uniform fakes then hide no better than
blanks, and their additional variance K / d is wasted.

Records in clear need some number of fakes per bin. If K / d is close to this number, few flips are
needed. With at least half of the fakes that records in clear need, uniform fakes give a smaller
error than blanks (docs/explanation/accounting.md has the numbers). With all of them, records in
clear have an equal error and shorter messages.
"""

from fractions import Fraction

from mixtally.accounting.accountant import Accountant
from mixtally.model.encodings import Encoding
from mixtally.model.part import FakeRecord
from mixtally.model.question import Kind
from mixtally.planning.flips import budget_shortfall, candidate_among_people
from mixtally.planning.noise import uniform_fakes
from mixtally.planning.options import Infeasible, Result
from mixtally.planning.request import PlanRequest

NAME = "flip-uniform"
_ONE_MESSAGE_REASON = "a question that is asked once and answered in one message"


def candidate_by_people(request: PlanRequest, encoding: Encoding, accountant: Accountant) -> Result:
    """Return the candidate with all affordable fakes, but no more than records in clear need.

    The protocol is considered only if the request names it. The error of the protocol is at most an
    eighth smaller than the error of messages over planes, and its messages are longer. One value of
    its delta takes milliseconds to compute, so the delta of several messages or collections would
    take minutes.
    """
    (part, *rest) = encoding.parts
    if request.protocol != NAME or part.kind is not Kind.ONE:
        return None
    if rest or request.collections > 1:
        return Infeasible(NAME, _ONE_MESSAGE_REASON)
    if (short := budget_shortfall(NAME, request, encoding)) is not None:
        return short
    need = Fraction(uniform_fakes(accountant, request, encoding, part.bins), request.people or 1)
    return candidate_among_people(
        NAME,
        request,
        encoding,
        accountant,
        fakes=min(request.own_fakes(1), need),
        record=FakeRecord.UNIFORM,
        count_flips=request.count_crowd and request.people is not None,
    )
