"""Candidates of ``flip-blank``: flipped values or sets among flipped blanks.

Devices or every mix draw the blanks. ``planning.choose`` calls this module. Let n be the number of
people, K the number of blanks, k the set bits of a record, and q the flip probability. The q that
the guarantee needs falls as K^(-1/k). The variance of a count is about (n + K) q, which is least at
K = n / (k - 1). Hence more blanks are never drawn. If mixes draw the blanks, each mix draws an
equal share of this number.
"""

from fractions import Fraction

from mixtally.accounting.accountant import Accountant
from mixtally.model.encodings import Encoding
from mixtally.model.question import Kind
from mixtally.planning.flips import (
    budget_shortfall,
    candidate_among_mix_blanks,
    candidate_among_people,
)
from mixtally.planning.options import Candidate, Infeasible, Result
from mixtally.planning.request import PlanRequest

NAME = "flip-blank"
_FAKES = "fakes: --messages-per-user above {own}"


def candidate_by_people(request: PlanRequest, encoding: Encoding, accountant: Accountant) -> Result:
    """Return the candidate whose devices send as many blanks as are affordable and useful."""
    if any(part.kind is Kind.BITS for part in encoding.parts):
        return None
    if (short := budget_shortfall(NAME, request, encoding)) is not None:
        return short
    fakes = request.own_fakes(len(encoding.parts))
    most = max(part.max_set for part in encoding.parts)
    if most > 1:
        fakes = min(fakes, Fraction(1, most - 1))
    crowd = request.count_crowd and request.people is not None
    found = candidate_among_people(
        NAME, request, encoding, accountant, fakes=fakes, count_flips=crowd
    )
    if request.protocol == NAME and isinstance(found, Candidate) and found.protocol != NAME:
        # Without blanks the candidate is that of another protocol, which was not requested.
        return Infeasible(NAME, _FAKES.format(own=len(encoding.parts)))
    return found


def candidate_by_mixes(request: PlanRequest, encoding: Encoding, accountant: Accountant) -> Result:
    """Return the candidate whose mixes draw as many blanks as are allowed and reduce the error."""
    if not request.mixes_draw or any(part.kind is Kind.BITS for part in encoding.parts):
        return None
    each = min(request.max_mix_messages // len(encoding.parts), request.users)
    most = max(part.max_set for part in encoding.parts)
    if most > 1:
        each = min(each, request.users // (request.mix_count * (most - 1)))
    return candidate_among_mix_blanks(NAME, request, encoding, accountant, each)
