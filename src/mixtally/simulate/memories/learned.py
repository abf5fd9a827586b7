"""What an observer learns about one person, by the number of reports and between two places.

Every report is seen with its sender. Three ways to report, for one bit that is as likely 0 as 1:

    drawn once    the first report is repeated: nothing is added, the guess stays as it was
    fresh noise   both levels are drawn anew every time: the posterior falls to the truth
    memory        the guess of what is kept becomes sure, that of the truth stops at f/2

Source: Side Notes on Differential Privacy, section 4.
"""

import math

import numpy as np

from mixtally.attacks.kept import simple_recall
from mixtally.attacks.linking import link
from mixtally.attacks.outcome import Lab
from mixtally.attacks.refute import clopper_pearson_lower
from mixtally.attacks.target import Remembered
from mixtally.attacks.worlds import power_at
from mixtally.estimate.remembered import Recovery, recovery, recovery_without_memory
from mixtally.ground.chance import Chance
from mixtally.privacy.numerics.memory_loss import eps_one, eps_reports
from mixtally.protocols.two_level import TwoLevel
from mixtally.simulate.memoized import Crowd, watched
from mixtally.simulate.memories.prices import Facts

FALSE_ALARMS = 0.01
_SHORTEST = 1000
_ERROR = 0.05
_MOST_PLACE_REPORTS = 10
_MOST_BITS = 1000
_DRAWN_BITS = 20_000_000
_LEAST_RUNS, _MOST_RUNS = 500, 10_000


def learned(crowd: Crowd, reports: int, chance: Chance) -> Facts:
    """The error of whoever averages, exactly and as measured on the crowd; losses; linking."""
    plan, points = crowd.plan, _points(reports)
    played = [point for point in points if point <= reports]
    measured = dict(zip(played, watched(crowd, played, chance), strict=True))
    exact, seen = recovery(plan, reports), measured[reports]
    return {
        "recovery": {
            "kept_bit_wrong": exact.kept,
            "true_bit_wrong": exact.true,
            "true_bit_wrong_at_least": plan.f / 2.0,
            "kept_bit_wrong_measured": _known(seen.kept),
            "true_bit_wrong_measured": _known(seen.true),
        },
        "by_reports": [_after(plan, point, measured.get(point)) for point in points],
        "linking": _linked(plan, reports, chance),
    }


def _points(reports: int) -> list[int]:
    """Numbers of reports evenly on a logarithmic scale, ``reports`` among them."""
    most = max(_SHORTEST, reports)
    steps = 10 ** math.ceil(math.log10(most))
    round_numbers = [m * 10**k for k in range(len(str(steps))) for m in (1, 2, 3, 5, 7)]
    return sorted({p for p in round_numbers if p <= most} | {reports, most})


def _after(plan: TwoLevel, reports: int, measured: Recovery | None) -> Facts:
    """One row: the losses, and how often each guess of a bit is wrong."""
    memory = (plan.f, *plan.shown, plan.hashes)
    exact = recovery(plan, reports)
    return {
        "reports": reports,
        "eps_T": eps_reports(*memory, reports),
        "eps_fresh": reports * eps_one(*memory),
        "drawn_once_wrong": recovery_without_memory(plan, 1),
        "fresh_wrong": recovery_without_memory(plan, reports),
        "true_bit_wrong": exact.true,
        "kept_bit_wrong": exact.kept,
        "true_bit_wrong_measured": None if measured is None else _known(measured.true),
        "kept_bit_wrong_measured": None if measured is None else _known(measured.kept),
    }


def _known(share: float) -> float | None:
    return None if math.isnan(share) else share


def _linked(plan: TwoLevel, reports: int, chance: Chance) -> Facts | None:
    """How often one person is recognized at two places; None for too few bits to set."""
    bits, count = min(plan.bits, _MOST_BITS), min(reports, _MOST_PLACE_REPORTS)
    if bits < 2 * plan.hashes:
        return None
    p, q = plan.shown
    memory = Remembered(
        permanent=plan.f, p=max(p, 2.0**-40), q=min(q, 1.0 - 2.0**-40), hashes=plan.hashes,
        reports=count, bits=bits,
    )  # fmt: skip
    runs = max(_LEAST_RUNS, min(_MOST_RUNS, _DRAWN_BITS // (4 * bits * count)))
    worlds = link(memory, runs, Lab(chance, _ERROR), simple_recall(memory))
    power = power_at(worlds, FALSE_ALARMS)
    return {
        "reports_at_each_place": count,
        "bits": bits,
        "runs": runs,
        "false_alarms": FALSE_ALARMS,
        "recognized": power,
        "recognized_at_least": float(clopper_pearson_lower(np.array(power * runs), runs, _ERROR)),
    }
