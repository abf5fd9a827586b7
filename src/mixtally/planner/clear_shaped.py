"""clear-shaped: values in clear among fakes of the distribution of least spread, drawn by mixes."""

import math

from mixtally.planner.flips import lacks
from mixtally.planner.layouts import in_clear
from mixtally.planner.noise import least_cover
from mixtally.planner.options import Candidate, Infeasible, Result, tells_nothing
from mixtally.planner.request import PlanRequest
from mixtally.privacy.accountant import Accountant, Record
from mixtally.privacy.divergence import CalibrationTarget
from mixtally.privacy.divergence.in_clear import start, usual_ratio
from mixtally.records.encodings import Encoding
from mixtally.records.mechanism import InClear, Parameter, ShapedFakes
from mixtally.records.mechanism.fakes import MOST_SHIFT
from mixtally.records.plan import Cover
from mixtally.records.recipe import ShapedRecipe

NAME = "clear-shaped"
IN_CLEAR = "no --local-epsilon: answers travel in clear, so nothing survives broken mixes"


def of_mixes(request: PlanRequest, encoding: Encoding, accountant: Accountant) -> Result:
    """The least fakes a bin: devices send nothing but their reports."""
    clear = encoding.in_clear()
    if clear is None:
        return None
    if request.local_epsilon is not None:
        return Infeasible(NAME, IN_CLEAR)
    if not request.mixes_draw:
        return Infeasible(NAME, "a mix that is trusted to draw the fakes: --mix-fakes")
    if (short := lacks(NAME, request, encoding)) is not None:
        return short
    ratio = usual_ratio(request.guarantee.epsilon, len(clear.parts) * request.collections)
    shift = _least_shift(request, ratio, len(clear.parts), accountant)
    if shift is None:
        return Infeasible(NAME, "a larger epsilon or delta: its fakes would be too many")
    drawn = shift * sum(part.bins for part in clear.parts)
    if drawn > request.drawn:
        return Infeasible(NAME, f"--mix-messages {drawn}: {shift} a bin")
    recipe = ShapedRecipe(ratio, shift)
    parts = tuple(in_clear(part.bins, None, recipe) for part in clear.parts)
    found = Candidate(request, request.question, parts, Cover.MIXES)
    if not found.fits_bytes:
        return Infeasible(NAME, f"--bytes-per-user {math.ceil(found.bytes_per_user)}")
    return tells_nothing(found) or found


def _least_shift(
    request: PlanRequest, ratio: int, parts: int, accountant: Accountant
) -> int | None:
    """The least shift that keeps the guarantee, or where a search for it begins, if that is enough;
    None for none.
    """
    one, guarantee = InClear(bins=2, fakes=ShapedFakes(ratio, 1)), request.guarantee
    if request.likely:
        together = parts * request.collections
        goal = CalibrationTarget(guarantee.epsilon, guarantee.delta, together)
        shift = start(Record.of(one).message, Parameter.SHIFT, goal)
        return shift if shift <= MOST_SHIFT else None
    found = least_cover(accountant, request, parts, one, Parameter.SHIFT)
    return None if found is None or found.shaped is None else found.shaped.shift
