"""Simulation of a crowd with memoized answers: responses, reports, and averaging of reports.

``app.memoized`` calls these functions. A *permanent response* is a record whose bits were
randomized once. Each report randomizes it again. A person is a row of the data with one value,
identified by the number of the row. People are divided into *cohorts*, which hash values
differently.
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
"""Largest number of counts in memory: cohorts times reports times bits."""
_SPAN_BYTES = 1 << 22
"""Bytes of reports that are drawn at a time."""
_WATCHED_BYTES = 1 << 16
"""Bytes of records of the people on whom averaging is measured, which limits the time."""


@dataclass(frozen=True, slots=True, eq=False)
class MemoizedCrowd:
    """The true records of all people and their permanent responses.

    ``records`` and ``responses`` have the shape (people, row bytes), ``cohorts`` the shape
    (people,).
    """

    mechanism: Memoized
    records: Rows
    responses: Rows
    cohorts: NDArray[np.int64]

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of people in each cohort, shape (cohorts,)."""
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
    """Return the crowd with its permanent responses.

    Parameters
    ----------
    plan : MemoizedPlan
        The question and the mechanism.
    values : sequence of str
        The value of each person.
    codes : array of int64, shape (people,)
        The bin of each person; used if values are not hashed.
    key : bytes
        The key from which responses are derived.
    chance : Chance
        The source of random words if responses are not derived.
    derived : bool
        Whether responses are derived from ``key``, as on devices. Otherwise they are drawn for this
        run.
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
    """Raise ParameterError if the counts of this number of reports exceed the memory limit."""
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
    """Return the number of people who reported a 1, shape (cohorts, reports, bits).

    Every person sends ``reports`` reports. Raises ParameterError as `check_reports` does.
    """
    mechanism = crowd.mechanism
    check_reports(mechanism, reports)
    ones = np.zeros((mechanism.cohorts, reports, mechanism.bins), dtype=np.int64)
    # Sorting by cohort makes each cohort a contiguous run, which is counted in spans.
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
    """Return the shares of wrong guesses of an observer who averages each person's reports.

    One share is for guesses of the memoized bits, the other for guesses of the true bits. The
    observer guesses as in ``protocol.estimate.memoized.recovery``.
    Only the first people of the crowd are measured. A share is NaN if all bits of these people are
    equal.
    """
    return measure_recoveries(crowd, [reports], chance)[0]


def measure_recoveries(
    crowd: MemoizedCrowd, points: Sequence[int], chance: Chance
) -> list[Recovery]:
    """Return the result of `measure_recovery` for each number of reports in ``points``.

    The numbers must be ascending. For a larger number, the same people send further reports in
    addition to those of the smaller number.
    """
    mechanism, found = crowd.mechanism, []
    # Only the first people are watched, so that the time does not grow with the crowd.
    few = slice(0, max(1, _WATCHED_BYTES // mechanism.layout.message_bytes))
    responses = _unpack_bits(mechanism, crowd.responses[few])
    true = _unpack_bits(mechanism, crowd.records[few])
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
    # Without both kinds of bits one of the two error rates has no value.
    if one.all() or not one.any():
        return float("nan")
    return float((~guess[one]).mean() + guess[~one].mean()) / 2.0
