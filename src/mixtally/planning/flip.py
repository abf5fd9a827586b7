"""Candidates of ``flip``: flipped records that only other people's flips hide.

The record is sent once or several times. ``planning.choose`` calls this module.
"""

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
    """Return the candidate without fakes, in which only flips protect a person.

    Bit vectors of two or more bits are always considered, if they are sent whole. Other records
    are considered only if the request names the protocol, and are sent once.

    Parameters
    ----------
    request : PlanRequest
        The question, the guarantee and the budget.
    encoding : Encoding
        The encoding of the record.
    accountant : Accountant
        The accountant, which computes delta and keeps its results.
    repeats : int
        How often each bit vector is sent.
    """
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
