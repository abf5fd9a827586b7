"""Candidates of ``single-bit``: bits that are flipped and mixed one by one.

Zeros from devices or mixes, and the flips of all people, hide a bit. ``planning.choose`` calls this
module.
"""

from mixtally.accounting.accountant import Accountant
from mixtally.model.encodings import Encoding
from mixtally.model.question import Kind
from mixtally.planning.flips import (
    budget_shortfall,
    candidate_among_mix_blanks,
    candidate_among_people,
)
from mixtally.planning.options import Result
from mixtally.planning.request import PlanRequest

NAME = "single-bit"


def candidate_by_people(request: PlanRequest, encoding: Encoding, accountant: Accountant) -> Result:
    """Return the candidate with affordable zeros of devices and the flips of other people."""
    if not _are_bits(encoding):
        return None
    if (short := budget_shortfall(NAME, request, encoding)) is not None:
        return short
    fakes = request.own_fakes(len(encoding.parts))
    return candidate_among_people(
        NAME, request, encoding, accountant, fakes=fakes, count_flips=True
    )


def candidate_by_mixes(request: PlanRequest, encoding: Encoding, accountant: Accountant) -> Result:
    """Return the candidate in which every mix adds flipped zeros, as many as the budget allows."""
    if not request.mixes_draw or not _are_bits(encoding):
        return None
    each = min(request.max_mix_messages // len(encoding.parts), request.users)
    return candidate_among_mix_blanks(NAME, request, encoding, accountant, each)


def _are_bits(encoding: Encoding) -> bool:
    return all(part.kind is Kind.BITS and part.bins == 1 for part in encoding.parts)
