"""The attack ``linking``: whether reports from two places come from one memoized answer.

The attacker sees T reports at each place, and knows the true value, which is the same in both
worlds. So only the memoized noise can show that both series of reports come from one person. Bits
are independent. For each bit, the attacker counts the ones at either place. The statistic is the
sum over bits of the log-likelihood ratio of these two counts. This statistic is optimal.

Source: Side Notes on Differential Privacy, section 4.
"""

import numpy as np

from mixtally.lab.attacks.memoized import (
    MemoizedTarget,
    Recall,
    count_ones,
    log_likelihood_true,
    simple_recall,
    true_rows,
)
from mixtally.lab.attacks.outcome import AttackLab, Hypothesis, Outcome, conclude_game
from mixtally.lab.attacks.refute import clopper_pearson_lower
from mixtally.lab.attacks.worlds import Worlds, power_at
from mixtally.model.mechanism import Memoized
from mixtally.primitives.bits import spans
from mixtally.primitives.tails import Floats

NAME = "linking"
RATE = 1e-4
"""The false-alarm rate at which the power is reported."""
_RUNS, _SPAN_BITS = 100_000, 1 << 24
"""The most runs by default, and the number of bits that are drawn at once."""


def run_memoized(
    target: MemoizedTarget, lab: AttackLab, recall: Recall | None = None
) -> list[Outcome]:
    """Measure the power to distinguish one person at both places from two people.

    The two people have the same value.
    """
    bits = 8 * target.mechanism.bins * target.reports  # drawn and examined in one run, roughly
    runs = lab.runs if lab.runs is not None else max(2_000, min(_RUNS, int(2e9) // bits))
    worlds = link(target, runs, lab, recall or simple_recall(target.mechanism))
    power, case = power_at(worlds, RATE), f"{target.reports} reports at two places each"
    found = conclude_game(
        Hypothesis(NAME, case, None, 0.0, "likelihood ratio of both places' reports; optimal"),
        worlds,
        lab,
        played="one memoized answer at both places against two of the same value",
        power=power,
        at_false_alarms=RATE,
        power_at_least=float(clopper_pearson_lower(np.array(power * runs), runs, lab.error)),
    )
    return [found]


def link(target: MemoizedTarget, runs: int, lab: AttackLab, recall: Recall) -> Worlds:
    """Return the statistics if one person is at both places (u), and if two people are (v)."""
    mechanism, count = target.mechanism, target.reports
    tables = np.array([link_evidence(mechanism, count, bit) for bit in (0, 1)])
    of_bit = np.zeros(mechanism.bins, dtype=np.int64)
    of_bit[: mechanism.hashes] = 1
    worlds: tuple[list[Floats], list[Floats]] = ([], [])
    for span in spans(runs, max(1, _SPAN_BITS // mechanism.bins)):
        true = true_rows(mechanism, span.stop - span.start)
        same = recall(true, mechanism.bins, 2 * count, lab.chance)
        one, other = (recall(true, mechanism.bins, count, lab.chance) for _ in range(2))
        for side, places in enumerate(((same[:count], same[count:]), (one, other))):
            first_ones, second_ones = (count_ones(part, mechanism.bins) for part in places)
            worlds[side].append(tables[of_bit, first_ones, second_ones].sum(axis=1))
        lab.progress(NAME, span.stop, runs)
    return Worlds(np.concatenate(worlds[0]), np.concatenate(worlds[1]))


def link_evidence(mechanism: Memoized, reports: int, true_bit: int) -> Floats:
    """Return log(P(s, t | one memoized answer) / (P(s) P(t))), shape (reports + 1, reports + 1).

    s and t are the numbers of ones of a bit in the reports at the first and the second place.
    """
    # If both come from one memoized answer, the likelihood depends only on the sum s + t.
    both = log_likelihood_true(mechanism, true_bit, 2 * reports)
    separate = log_likelihood_true(mechanism, true_bit, reports)
    places = np.arange(reports + 1)
    with np.errstate(invalid="ignore"):  # numbers of ones that are never shown
        return np.asarray(both[np.add.outer(places, places)] - np.add.outer(separate, separate))
