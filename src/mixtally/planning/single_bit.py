"""single-bit: bits one by one, among zeros of devices or mixes and everybody's flips."""

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
    """Among other people's flips and as many zeros of devices as the budget allows."""
    if not _are_bits(encoding):
        return None
    if (short := budget_shortfall(NAME, request, encoding)) is not None:
        return short
    fakes = request.own_fakes(len(encoding.parts))
    return candidate_among_people(
        NAME, request, encoding, accountant, fakes=fakes, count_flips=True
    )


def candidate_by_mixes(request: PlanRequest, encoding: Encoding, accountant: Accountant) -> Result:
    """Among as many zeros of every mix as it may add."""
    if not request.mixes_draw or not _are_bits(encoding):
        return None
    each = min(request.max_mix_messages // len(encoding.parts), request.users)
    return candidate_among_mix_blanks(NAME, request, encoding, accountant, each)


def _are_bits(encoding: Encoding) -> bool:
    return all(part.kind is Kind.BITS and part.bins == 1 for part in encoding.parts)
