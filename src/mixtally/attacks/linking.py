"""linking: whether reports from two places come from one memory, whose noise is a fingerprint.

The attacker sees T reports at each place and knows the true value, the same in both worlds, so that
nothing but the remembered noise can betray its owner. Bits are independent: the statistic is a sum
of log-likelihood ratios over the two numbers of ones of every bit, and optimal.

Source: Side Notes on Differential Privacy, section 4.
"""

import numpy as np

from mixtally.attacks.kept import (
    Recall,
    ones_of,
    seen_law,
    simple_recall,
    true_rows,
)
from mixtally.attacks.outcome import Lab, Outcome, told_apart
from mixtally.attacks.refute import clopper_pearson_lower
from mixtally.attacks.target import Remembered
from mixtally.attacks.worlds import Worlds, power_at
from mixtally.ground.bits import spans
from mixtally.ground.tails import Floats

NAME = "linking"
RATE = 1e-4
"""The rate of false alarms at which the power is told."""
_RUNS = 100_000
_SPAN_BITS = 1 << 24


def run_memory(memory: Remembered, lab: Lab, recall: Recall | None = None) -> list[Outcome]:
    """One person at both places against two persons with the same value."""
    runs = lab.runs if lab.runs is not None else max(2_000, min(_RUNS, int(2e9) // _bits(memory)))
    worlds = link(memory, runs, lab, recall or simple_recall(memory))
    found = told_apart(
        NAME, f"{memory.reports} reports at two places each", worlds, lab,
        promised=None, delta=0.0,
        played="one memory at both places against two memories of the same value",
        test="likelihood ratio of both places' reports; optimal",
    )  # fmt: skip
    power = power_at(worlds, RATE)
    found.numbers.update(
        power=power, at_false_alarms=RATE,
        power_at_least=float(clopper_pearson_lower(np.array(power * runs), runs, lab.error)),
    )  # fmt: skip
    return [found]


def _bits(memory: Remembered) -> int:
    return 8 * memory.bits * memory.reports


def link(memory: Remembered, runs: int, lab: Lab, recall: Recall) -> Worlds:
    """Statistics of one person at both places (u) and of two persons (v)."""
    tables = np.array([link_evidence(memory, bit) for bit in (0, 1)])
    of_bit = np.zeros(memory.bits, dtype=np.int64)
    of_bit[: memory.hashes] = 1
    count = memory.reports
    worlds: tuple[list[Floats], list[Floats]] = ([], [])
    for span in spans(runs, max(1, _SPAN_BITS // memory.bits)):
        true = true_rows(memory, span.stop - span.start)
        same = recall(true, memory.bits, 2 * count, lab.chance)
        one, other = (recall(true, memory.bits, count, lab.chance) for _ in range(2))
        for side, places in enumerate(((same[:count], same[count:]), (one, other))):
            here, there = (ones_of(part, memory.bits) for part in places)
            worlds[side].append(tables[of_bit, here, there].sum(axis=1))
        lab.progress(NAME, span.stop, runs)
    return Worlds(np.concatenate(worlds[0]), np.concatenate(worlds[1]))


def link_evidence(memory: Remembered, true_bit: int) -> Floats:
    """Log of P(s, t | one memory) / P(s) P(t) for every pair of numbers of ones."""
    # With one memory, s and t ones at the places are as likely as any s + t of all its reports.
    both = seen_law(memory, true_bit, 2 * memory.reports)
    alone = seen_law(memory, true_bit, memory.reports)
    places = np.arange(memory.reports + 1)
    with np.errstate(invalid="ignore"):  # numbers of ones that no memory shows
        return np.asarray(both[np.add.outer(places, places)] - np.add.outer(alone, alone))
