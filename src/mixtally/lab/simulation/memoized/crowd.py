"""Play a crowd whose answers are memoized: what is kept, every report, what averaging finds.

A person is a row of the data with one value; who they are is the number of their row.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixtally.errors import ParameterError
from mixtally.model.mechanism import Memoized
from mixtally.model.memoized_plan import MemoizedPlan
from mixtally.primitives.bits import Rows, spans
from mixtally.primitives.chance import Chance
from mixtally.primitives.counting import column_counts
from mixtally.primitives.progress import Progress, ignore_progress
from mixtally.protocol.encode.bloom import encode_bloom
from mixtally.protocol.estimate.memoized import Recovery, least_ones
from mixtally.protocol.randomize.memoized import (
    cohort_of,
    derive_response,
    draw_permanent_response,
    draw_reports,
)

MOST_CELLS = 20_000_000
"""Counts kept in memory: cohorts times reports times bits."""
_SPAN_BYTES = 1 << 22
_WATCHED_BYTES = 1 << 16


@dataclass(frozen=True, slots=True, eq=False)
class MemoizedCrowd:
    """Everybody's true record and their permanent response.

    where
      records   shape (people, row bytes)
      responses   the same shape
      cohorts   shape (people,)
    """

    mechanism: Memoized
    records: Rows
    responses: Rows
    cohorts: NDArray[np.int64]

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many people are in each cohort, shape (cohorts,)."""
        return np.bincount(self.cohorts, minlength=self.mechanism.cohorts)


def memoize_crowd(
    plan: MemoizedPlan,
    values: Sequence[str],
    codes: NDArray[np.int64],
    key: bytes,
    chance: Chance,
    *,
    derived: bool = False,
) -> MemoizedCrowd:
    """The crowd with its memoized answers.

    where
      values   shape (people,), each person's value
      codes    shape (people,), its bin, where values are not hashed
      derived  whether answers are derived from ``key``, as devices do, or drawn for this run
    """
    mechanism, people = plan.mechanism, [str(row) for row in range(len(values))]
    cohorts = np.zeros(len(values), dtype=np.int64)
    if mechanism.cohorts > 1:
        cohorts[:] = [cohort_of(key, mechanism, person) for person in people]
    if mechanism.hashed:
        records = encode_bloom(plan, cohorts.tolist(), values)
    else:
        records = mechanism.layout.rows(codes)
    if derived:
        responses = derive_response(plan, key, people, values, records)
    else:
        responses = draw_permanent_response(mechanism, records, chance)
    return MemoizedCrowd(mechanism, records, responses, cohorts)


def check_reports(mechanism: Memoized, reports: int) -> None:
    """Raises ParameterError when that many counts do not fit in memory."""
    if reports < 1 or mechanism.cohorts * reports * mechanism.bins > MOST_CELLS:
        raise ParameterError(
            "reports",
            expected=f"at least 1, and at most {MOST_CELLS:,} counts (cohorts x reports x bits)",
            got=f"{reports:,} reports, {mechanism.cohorts:,} cohorts, {mechanism.bins:,} bits",
            do="play fewer reports",
        )


def play_reports(
    crowd: MemoizedCrowd, reports: int, chance: Chance, progress: Progress = ignore_progress
) -> NDArray[np.int64]:
    """How many people showed a 1, shape (cohorts, reports, bits); everybody reports every time.

    Raises ParameterError as ``check_reports`` does.
    """
    mechanism = crowd.mechanism
    check_reports(mechanism, reports)
    ones = np.zeros((mechanism.cohorts, reports, mechanism.bins), dtype=np.int64)
    order = np.argsort(crowd.cohorts, kind="stable")
    ends = np.cumsum(crowd.sizes)
    done = 0
    for cohort, people in enumerate(np.split(order, ends[:-1])):
        for span in spans(len(people), max(1, _SPAN_BYTES // mechanism.layout.message_bytes)):
            responses = crowd.responses[people[span]]
            for turn in range(reports):
                ones[cohort, turn] += column_counts(
                    draw_reports(mechanism, responses, chance), mechanism.bins
                )
            done += len(responses)
            progress("report", done, len(order))
    return ones


def measure_recovery(crowd: MemoizedCrowd, reports: int, chance: Chance) -> Recovery:
    """How often an observer who averages ``reports`` reports of a person guesses a bit wrong.

    Measured on the first people, as ``protocol.estimate.memoized.recovery`` is stated; NaN when
    their bits are all alike.
    """
    return measure_recoveries(crowd, [reports], chance)[0]


def measure_recoveries(
    crowd: MemoizedCrowd, points: Sequence[int], chance: Chance
) -> list[Recovery]:
    """``watch`` after so many reports each, rising: one observer who goes on watching."""
    mechanism, found = crowd.mechanism, []
    few = slice(0, max(1, _WATCHED_BYTES // mechanism.layout.message_bytes))
    responses, true = (
        _unpack_bits(mechanism, crowd.responses[few]),
        _unpack_bits(mechanism, crowd.records[few]),
    )
    ones = np.zeros(responses.shape, dtype=np.int64)
    for turn in range(1, points[-1] + 1):
        ones += _unpack_bits(mechanism, draw_reports(mechanism, crowd.responses[few], chance))
        if turn in points:
            guess = ones >= least_ones(mechanism, turn)
            found.append(Recovery(_balanced_error(guess, responses), _balanced_error(guess, true)))
    return found


def _unpack_bits(mechanism: Memoized, rows: Rows) -> NDArray[np.uint8]:
    return np.unpackbits(rows, axis=1, count=mechanism.bins, bitorder="little")


def _balanced_error(guess: NDArray[np.bool_], truth: NDArray[np.uint8]) -> float:
    one = truth.astype(np.bool_)
    if one.all() or not one.any():
        return float("nan")
    return float((~guess[one]).mean() + guess[~one].mean()) / 2.0
