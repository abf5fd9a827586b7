"""clear-shaped: values in clear among fakes of the distribution of least spread, drawn by mixes."""

import math

from mixtally.planner.flips import lacks
from mixtally.planner.layouts import in_clear
from mixtally.planner.options import Candidate, Infeasible, Result, tells_nothing
from mixtally.planner.request import PlanRequest
from mixtally.planner.shapes import least_shape
from mixtally.privacy.accountant import Accountant
from mixtally.records.encodings import Encoding
from mixtally.records.plan import Cover
from mixtally.records.shape import AnyShape

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
    bins = sum(part.bins for part in clear.parts)

    def fits(shape: AnyShape) -> bool:
        return shape.mean_of(bins) <= request.drawn

    shape = least_shape(request, len(clear.parts), accountant, fits)
    if shape is None:
        return Infeasible(NAME, "a larger epsilon or delta: its fakes would be too many")
    if not fits(shape):
        return Infeasible(NAME, f"--mix-messages {shape.mean_of(bins)}: {shape.mean:.0f} a bin")
    parts = tuple(in_clear(part.bins, None, shape) for part in clear.parts)
    found = Candidate(request, request.question, parts, Cover.MIXES)
    if not found.fits_bytes:
        return Infeasible(NAME, f"--bytes-per-user {math.ceil(found.bytes_per_user)}")
    return tells_nothing(found) or found
