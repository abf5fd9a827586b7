"""flip-uniform: flipped values among flipped fakes that cover the bins nearly as in clear.

With x = q d, a record that shows its own bit is hidden by about K q / (1 - e^-x) messages. Where
bins are many, x is large: uniform fakes hide like blank ones, and their variance of K / d is for
nothing. Where K / d is nearly what records in clear need, few flips are left to add. From about
half of those fakes on that gives a smaller error than blank fakes do
(docs/explanation/accounting.md has the numbers); with all of them records in clear give as small a
one, in shorter messages.
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
    """As many fakes as are affordable, up to those that suffice in clear, and the least flips.

    Only where it is requested by name: between half and all of the fakes that records in clear need
    it errs up to an eighth less than a message over planes, in longer messages. A point of
    its curve takes milliseconds, so that several messages or collections would take minutes.
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
