"""Candidates of ``clear-shaped``: records in clear among fakes that mixes draw by a shape.

A shape is a distribution of the number of fakes in each bin (``planning.shapes``). Messages with
two bins have paired fakes, which need less noise and fewer fakes for every guarantee.
``planning.choose`` calls this module.
"""

from mixtally.accounting.accountant import Accountant
from mixtally.model.encodings import Encoding
from mixtally.model.plan import Cover
from mixtally.model.question import MOST_BINS, Question
from mixtally.model.shape import AnyShape
from mixtally.planning.flips import budget_shortfall
from mixtally.planning.layouts import part_in_clear, parts_without_fakes
from mixtally.planning.options import Candidate, Infeasible, Result, check_limits, own_bytes_excess
from mixtally.planning.request import PlanRequest
from mixtally.planning.shapes import least_shape

NAME = "clear-shaped"
NO_LOCAL_EPSILON_REASON = (
    "no --local-epsilon: answers travel in clear, so colluding mixes can read them"
)
"""The change of a request that protocols without noise in the records require."""


def candidate_by_mixes(request: PlanRequest, encoding: Encoding, accountant: Accountant) -> Result:
    """Return the candidate whose mixes draw the fakes by the shape of least variance."""
    clear = questions_in_clear(encoding)
    if clear is None:
        return None
    size = clear[0].max_set
    if request.local_epsilon is not None:
        return Infeasible(NAME, NO_LOCAL_EPSILON_REASON)
    if not request.mixes_draw:
        return Infeasible(NAME, "a mix that is trusted to draw the fakes: --mix-fakes")
    if (short := budget_shortfall(NAME, request, encoding, size)) is not None:
        return short
    if (large := own_bytes_excess(NAME, request, parts_without_fakes(clear, size))) is not None:
        return large
    messages, paired = len(clear) * size, size == 1 and all(part.bins == 2 for part in clear)
    cells = sum(part.bins for part in clear) + (size if size > 1 else 0)

    def fits(shape: AnyShape) -> bool:
        return shape.mean_of(cells) <= request.max_mix_messages

    shape = least_shape(request, messages, accountant, fits, paired=paired)
    if shape is None:
        return Infeasible(NAME, "a larger epsilon or delta: its fakes would be too many")
    if not fits(shape):
        return Infeasible(NAME, f"--mix-messages {shape.mean_of(cells)}: {shape.mean:.0f} per bin")
    parts = tuple(part_in_clear(part.bins, None, shape, most_set=size) for part in clear)
    found = Candidate(request, request.question, parts, Cover.MIXES)
    return check_limits(found)


def questions_in_clear(encoding: Encoding) -> tuple[Question, ...] | None:
    """Return the question of each part of a record that is sent in clear, without flips.

    Return None if such records cannot be sent in clear.
    """
    if encoding.is_whole_set:
        (first,) = encoding.parts
        return encoding.parts if first.bins + first.max_set <= MOST_BINS else None
    clear = encoding.to_clear()
    return None if clear is None else clear.parts
