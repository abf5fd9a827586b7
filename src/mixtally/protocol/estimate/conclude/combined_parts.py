"""One estimate for a record that is sent in several parts, by concatenation of their bins.

A *part* is one of the messages of a record, with a tally of its own. ``conclude`` calls
``combine_parts``.
"""

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from mixtally.model.estimates import Estimate, Intervals
from mixtally.model.question import Kind, Question
from mixtally.protocol.estimate.debias import join_intervals


def part_of(question: Question, asked: list[Question], place: int) -> tuple[int, int]:
    """Return the index of the part that counts bin ``place``, and the bin's index in this part.

    ``question`` is the question of the whole record, and ``asked`` has the question of each part.
    """
    if len(asked) == 1 and asked[0].bins == question.bins:
        return 0, place
    places = [range(one.bins)[select_counted_bins(question, one)] for one in asked]
    ends = np.cumsum([len(one) for one in places])
    part = int(np.searchsorted(ends, place, side="right"))
    # The index is negative: it counts from the end of this part.
    return part, places[part][place - int(ends[part])]


def select_counted_bins(question: Question, part: Question) -> slice:
    """Return the slice of a part's bins that are bins of the record.

    ``question`` is the question of the record, and ``part`` that of the part. A bit that is sent in
    clear has a bin for no and a bin for yes. Only the second is a bin of the record.
    """
    if question.kind is Kind.BITS and part.attributes is not None:
        return slice(1, None, 2)
    return slice(1, 2) if question.kind is Kind.BITS and part.kind is Kind.ONE else slice(None)


def combine_parts(own: Question, asked: list[Question], found: list[Estimate]) -> Estimate:
    """Concatenate the estimates of all parts into one.

    ``own`` is the question of the record, ``asked`` has the question of each part, and ``found``
    the estimate of each part.
    """
    if len(found) == 1 and asked[0].bins == own.bins:
        return found[0]
    places = [select_counted_bins(own, question) for question in asked]
    pairs = list(zip(found, places, strict=True))
    errors = np.concatenate([_bin_errors(f)[k] for f, k in pairs])
    return Estimate(
        counts=np.concatenate([f.counts[k] for f, k in pairs]),
        standard_error=float(errors.max()),
        individual=_join_slices([(f.individual, k) for f, k in pairs]),
        simultaneous=_join_slices([(f.simultaneous, k) for f, k in pairs]),
        errors=None if math.isclose(errors.min(), errors.max(), rel_tol=1e-12) else errors,
    )


def _bin_errors(found: Estimate) -> NDArray[np.float64]:
    """Return the standard error of every bin, shape (bins,)."""
    alike = np.full(len(found.counts), found.standard_error)
    return alike if found.errors is None else found.errors


def _join_slices(bounds: list[tuple[Intervals, slice]]) -> Intervals:
    """Concatenate the bins that each slice selects from the intervals in front of it."""
    return join_intervals([replace(i, lower=i.lower[k], upper=i.upper[k]) for i, k in bounds])
