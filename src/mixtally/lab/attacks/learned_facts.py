"""Facts that an observer learns about one person from repeated reports, or from two places.

The simulations of memoized answers show these facts. The observer sees the sender of every report.
Let f be the probability of the permanent noise, which replaces a bit by a fair coin when it is
memoized. There are three ways to report a bit that is 0 or 1 with equal probability:

    drawn once    the first report is repeated: no report adds evidence
    fresh noise   both levels of noise are drawn anew every time: the error of a guess of the bit
                  converges to zero
    memoized      the error of a guess of the memoized bit converges to zero, and the error of a
                  guess of the true bit converges to f/2

Source: Side Notes on Differential Privacy, section 4.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from msgspec.structs import replace

from mixtally.accounting.divergence.memoized import loss
from mixtally.lab.attacks.linking import link
from mixtally.lab.attacks.memoized import MemoizedTarget, simple_recall
from mixtally.lab.attacks.outcome import AttackLab
from mixtally.lab.attacks.refute import clopper_pearson_lower
from mixtally.lab.attacks.worlds import power_at
from mixtally.model.mechanism.memoized import LEAST_PERMANENT, Memoized
from mixtally.primitives.chance import Chance
from mixtally.primitives.fixed_point import SCALE
from mixtally.protocol.estimate.memoized import Recovery, recovery, recovery_redrawn

FALSE_ALARMS = 0.01
"""The false-alarm rate at which linking is reported."""
_SHORTEST = 1000
"""The number of reports at which the curves end, unless the caller asks for more reports."""
_ERROR = 0.05
"""The probability that the lower bound of the power is wrong."""
_MOST_PLACE_REPORTS, _MOST_BITS, _DRAWN_BITS = 10, 1000, 20_000_000
"""Limits of the simulated linking: reports at a place, bits of a record, and bits of all runs."""
_LEAST_RUNS, _MOST_RUNS = 500, 10_000


def compute_learned_facts(
    mechanism: Memoized, reports: int, measured: Mapping[int, Recovery], chance: Chance
) -> dict[str, Any]:
    """Return a JSON object with the keys ``recovery``, ``by_reports`` and ``linking``.

    ``recovery`` has the errors of averaging all reports. ``by_reports`` has the errors and the
    privacy losses after several numbers of reports. ``linking`` has the power of linking, or None.
    ``measured`` has the measured errors for exactly the numbers of reports in ``played_points``.
    ``chance`` is the random source of the simulated linking.
    """
    exact, seen = recovery(mechanism, reports), measured[reports]
    return {
        "recovery": {
            "kept_bit_wrong": exact.memoized,
            "true_bit_wrong": exact.true,
            "true_bit_wrong_at_least": mechanism.f / 2.0,
            "kept_bit_wrong_measured": _none_if_nan(seen.memoized),
            "true_bit_wrong_measured": _none_if_nan(seen.true),
        },
        "by_reports": [
            _row_after(mechanism, point, measured.get(point)) for point in _points(reports)
        ],
        "linking": _measure_linking(mechanism, reports, chance),
    }


def drop_measured(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts without the measured errors, which depend on people's true bits."""
    rows = [_drop_measured_keys(row) for row in found["by_reports"]]
    return {**found, "recovery": _drop_measured_keys(found["recovery"]), "by_reports": rows}


def _drop_measured_keys(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if not name.endswith("_measured")}


def played_points(reports: int) -> list[int]:
    """Return the numbers of reports at which the error is measured; the last is ``reports``."""
    return [point for point in _points(reports) if point <= reports]


def _points(reports: int) -> list[int]:
    """Return numbers of reports on a logarithmic scale, with ``reports`` among them."""
    most = max(_SHORTEST, reports)
    steps = 10 ** math.ceil(math.log10(most))
    round_numbers = [m * 10**k for k in range(len(str(steps))) for m in (1, 2, 3, 5, 7)]
    return sorted({p for p in round_numbers if p <= most} | {reports, most})


def _row_after(mechanism: Memoized, reports: int, measured: Recovery | None) -> dict[str, Any]:
    """Return the privacy losses and the error probabilities after ``reports`` reports, by name."""
    most, exact = loss(mechanism, reports), recovery(mechanism, reports)
    return {
        "reports": reports,
        "eps_T": most.eps_T,
        "eps_fresh": reports * most.eps_1,
        "drawn_once_wrong": recovery_redrawn(mechanism, 1),
        "fresh_wrong": recovery_redrawn(mechanism, reports),
        "true_bit_wrong": exact.true,
        "kept_bit_wrong": exact.memoized,
        "true_bit_wrong_measured": None if measured is None else _none_if_nan(measured.true),
        "kept_bit_wrong_measured": None if measured is None else _none_if_nan(measured.memoized),
    }


def _none_if_nan(share: float) -> float | None:
    return None if math.isnan(share) else share


def _measure_linking(mechanism: Memoized, reports: int, chance: Chance) -> dict[str, Any] | None:
    """Return the power of recognizing a person at two places, and the simulation's numbers.

    Return None if a record has too few bits for the simulation.
    """
    bits, count = min(mechanism.bins, _MOST_BITS), min(reports, _MOST_PLACE_REPORTS)
    if bits < 2 * mechanism.hashes:
        return None
    # With p and 1 - q of at least 2^-40, no report proves a bit: all likelihood ratios are finite.
    p, q = max(mechanism.p, LEAST_PERMANENT), min(mechanism.q, SCALE - LEAST_PERMANENT)
    target = MemoizedTarget(replace(mechanism, bins=bits, p=p, q=q), count)
    runs = max(_LEAST_RUNS, min(_MOST_RUNS, _DRAWN_BITS // (4 * bits * count)))
    recall = simple_recall(target.mechanism)
    worlds = link(target, runs, AttackLab(chance, _ERROR), recall)
    power = power_at(worlds, FALSE_ALARMS)
    return {
        "reports_at_each_place": count,
        "bits": bits,
        "runs": runs,
        "false_alarms": FALSE_ALARMS,
        "recognized": power,
        "recognized_at_least": float(clopper_pearson_lower(np.array(power * runs), runs, _ERROR)),
    }
