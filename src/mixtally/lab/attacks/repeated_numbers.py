"""averaging, of numbers: a number is reported again and again, and a listener takes the mean.

Numbers 0 to 15, a bit each; the true one is 10. A report is read as the number it shows on
average, sum of v (b_v - p*) / gain over its bits b_v, counted from the middle of the range: it is
centered at the true number. Of fresh noise the mean of T reports closes in on it; the first report,
repeated, stays where it is; of a memoized answer the mean closes in on what is memoized, and what
that shows is as far off as it was drawn.

Source: Side Notes on Differential Privacy, section 4 (x = 10 is reported as 12, 7 and 9).
"""

import math

import numpy as np
from msgspec.structs import replace

from mixtally.lab.attacks.memoized import MemoizedTarget, Recall, true_rows, unpack_bits
from mixtally.lab.attacks.outcome import AttackLab, Outcome, Verdict
from mixtally.model.mechanism import Memoized
from mixtally.primitives.bits import Rows
from mixtally.primitives.tails import Floats
from mixtally.report.curves import Chart, Curve, Point

NUMBERS, TRUE = 16, 10
POINTS = (1, 2, 3, 5, 7, 10, 14, 20, 30, 50, 70, 100)
_RUNS = 2_000
_FIRST = 3
_MIDDLE = (NUMBERS - 1) / 2.0
_WEIGHTS = np.arange(NUMBERS) - _MIDDLE


def repeated_numbers(
    name: str, target: MemoizedTarget, lab: AttackLab, recall: Recall
) -> list[Outcome]:
    """How far the mean of T reports is from the number, in three ways; none where f is 1."""
    one = replace(target.mechanism, bins=NUMBERS, hashes=1, hashed=False, cohorts=1)
    if not one.gain:
        return []
    runs = min(lab.runs or _RUNS, _RUNS)
    true, most = true_rows(one, runs, TRUE), POINTS[-1]
    memoized = _numbers(one, recall(true, NUMBERS, most, lab.chance))
    fresh = _numbers(one, [recall(true, NUMBERS, 1, lab.chance)[0] for _ in range(most)])
    anew = _distances(fresh)
    curves = {
        "fresh noise every time": anew,
        "drawn once": tuple((reports, anew[0][1]) for reports, _ in anew),
        "memory": _distances(memoized),
    }
    expected = {
        "fresh noise every time": {float(t): math.sqrt(_variance(one, 1.0) / t) for t in POINTS},
        "memory": {float(t): math.sqrt(_variance(one, float(t))) for t in POINTS},
    }
    numbers = {
        "number": TRUE,
        "first_reports": [round(float(x), 1) for x in fresh[:_FIRST, 0]],
        "distances": {name: dict(points) for name, points in curves.items()},
        "expected_distances": expected,
        "distance_of_what_is_memoized": math.sqrt(_variance(one, math.inf)),
    }
    return [
        Outcome(
            name,
            f"mean of {most} reports of a number",
            None,
            dict(curves["memory"])[float(most)],
            "numbers",
            Verdict.MEASURED,
            runs,
            f"{runs:,} people report the number {TRUE} of {NUMBERS}, {most} times",
            "mean of the reports; unbiased, and not optimal",
            numbers=numbers,
            charts=(_chart(name, curves),),
        )
    ]


def _chart(name: str, curves: dict[str, tuple[Point, ...]]) -> Chart:
    return Chart(
        "attack",
        f"{name}: a number, by the number of linked reports",
        f"Anyone who knows the sender takes the mean of their reports of {TRUE}, among the numbers "
        f"0 to {NUMBERS - 1}. Of fresh noise it closes in on the number, of a memory on what is "
        "memoized.",
        "reports seen",
        "root mean square distance from the number",
        tuple(Curve(name, points, dots=True) for name, points in curves.items()),
        log_x=True,
    )


def _numbers(one: Memoized, reported: list[Rows]) -> Floats:
    """The number that each report shows, shape (reports, people)."""
    return np.array([
        _MIDDLE + (unpack_bits(rows,
            NUMBERS) - one.offset) @ _WEIGHTS / one.gain for rows in reported
    ])  # fmt: skip


def _distances(shown: Floats) -> tuple[Point, ...]:
    """After so many reports, how far their mean is from the true number."""
    total = np.cumsum(shown, axis=0)
    return tuple(
        (float(t), float(np.sqrt(np.mean((total[t - 1] / t - TRUE) ** 2)))) for t in POINTS
    )


def _variance(one: Memoized, reports: float) -> float:
    """Of the mean of so many reports of a memoized number; infinitely many leave what is kept."""
    squares = _WEIGHTS**2
    held, others = float(squares[TRUE]), float(squares.sum() - squares[TRUE])
    return held * one.variance(reports, 1.0, 0.0) + others * one.variance(reports, 0.0, 1.0)
