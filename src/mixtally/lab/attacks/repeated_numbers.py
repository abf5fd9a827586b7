"""The attack ``averaging`` for numbers: a number is reported repeatedly, and its mean is taken.

Each of the numbers 0 to 15 has one bit, and the true number is 10. Let b_v be the bit of number v
in a report, p* the mean of a bit whose number is not the true one, and p* + gain the mean of the
true number's bit. Let w_v be the signed distance of v from the middle of the range. From one
report, the attacker estimates the number as the middle plus the sum over v of w_v (b_v - p*) /
gain, which is unbiased. With fresh noise, the mean of T such estimates converges to the true
number. If the first report is repeated, all estimates have the same error. With a memoized answer,
the mean converges to the memoized number, whose error was drawn once.

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
"""The number of possible values, and the true value."""
POINTS = (1, 2, 3, 5, 7, 10, 14, 20, 30, 50, 70, 100)
"""The numbers of reports at which the error is measured."""
_RUNS = 2_000
"""The number of people who are simulated."""
_FIRST = 3
"""The number of reports of one person that the outcome lists."""
_MIDDLE = (NUMBERS - 1) / 2.0
"""The middle of the range of numbers."""
_WEIGHTS = np.arange(NUMBERS) - _MIDDLE
"""The signed distance of each number from the middle."""


def repeated_numbers(
    name: str, target: MemoizedTarget, lab: AttackLab, recall: Recall
) -> list[Outcome]:
    """Return the error of the mean of T reports for three kinds of noise.

    The list is empty if the memoized noise is a fair coin, because then no answer can be found.
    """
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
    """Return the estimate of the number from each report, shape (reports, people)."""
    return np.array([
        _MIDDLE + (unpack_bits(rows,
            NUMBERS) - one.offset) @ _WEIGHTS / one.gain for rows in reported
    ])  # fmt: skip


def _distances(shown: Floats) -> tuple[Point, ...]:
    """Return pairs (T, root mean square error of the mean of T estimates) for T in ``POINTS``.

    ``shown`` has the estimates of ``_numbers``.
    """
    total = np.cumsum(shown, axis=0)
    return tuple(
        (float(t), float(np.sqrt(np.mean((total[t - 1] / t - TRUE) ** 2)))) for t in POINTS
    )


def _variance(one: Memoized, reports: float) -> float:
    """Return the variance of the mean of ``reports`` reports of one memoized number.

    With infinitely many reports, only the noise of the memoized number is left.
    """
    squares = _WEIGHTS**2
    true_weight, others = float(squares[TRUE]), float(squares.sum() - squares[TRUE])
    return true_weight * one.variance(reports, 1.0, 0.0) + others * one.variance(reports, 0.0, 1.0)
