"""flip: records hidden by other people's flips alone, sent once or several times."""

from fractions import Fraction

from mixtally.accounting.accountant import Accountant
from mixtally.model.encodings import Encoding
from mixtally.model.question import Kind
from mixtally.planning.flips import budget_shortfall, candidate_among_people
from mixtally.planning.options import Result
from mixtally.planning.request import PlanRequest

NAME = "flip"


def candidate_by_people(
    request: PlanRequest, encoding: Encoding, accountant: Accountant, repeats: int = 1
) -> Result:
    """Free vectors whole, ``repeats`` times; other records when requested by name."""
    (question, *rest) = encoding.parts
    free = question.kind is Kind.BITS
    if (free and (rest or question.bins == 1)) or (not free and request.protocol != NAME):
        return None
    if (short := budget_shortfall(NAME, request, encoding, repeats)) is not None:
        return short if repeats == 1 else None
    return candidate_among_people(
        NAME,
        request,
        encoding,
        accountant,
        fakes=Fraction(0),
        count_flips=True,
        repeats=repeats if free else 1,
    )
