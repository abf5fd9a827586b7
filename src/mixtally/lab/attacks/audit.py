"""Audits: exact tests of counts. All tests of an audit share one false-alarm probability.

The audits of this package (``randomizer``, ``collection``, ``responses``) collect ``Checks`` and
call ``audit`` for the outcome.
"""

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincc

from mixtally.lab.attacks.outcome import P_VALUE, AttackLab, Outcome, Verdict
from mixtally.primitives.chance import Chance, SecureChance
from mixtally.primitives.fixed_point import SCALE
from mixtally.primitives.tails import Floats

_SHOWN = 20
"""The number of failed tests that an outcome lists."""
TEST = "exact binomial tests, Bonferroni; the smallest p-value times their number"


@dataclass(frozen=True, slots=True)
class Checks:
    """Counts with a binomial distribution under the null hypothesis, one test per entry.

    All arrays have shape (tests,). ``hits`` are the counts, ``trials`` the numbers of independent
    draws, and ``chance`` the probabilities with which a draw adds one to its count.
    """

    name: str
    hits: NDArray[np.int64]
    trials: NDArray[np.int64]
    chance: Floats

    @classmethod
    def of(cls, name: str, hits: object, trials: object, chance: object) -> "Checks":
        """Return checks whose counts, trials and probabilities are broadcast to one shape."""
        h, n, c = np.broadcast_arrays(
            np.atleast_1d(np.asarray(hits, dtype=np.int64)),
            np.asarray(trials, dtype=np.int64),
            np.asarray(chance, dtype=np.float64),
        )
        return cls(name, h, n, c)

    @classmethod
    def of_difference(cls, name: str, off: int) -> "Checks":
        """Return a check that fails unless ``off`` is zero."""
        return cls.of(name, abs(off), max(1, abs(off)), 0.0)

    def __add__(self, other: "Checks") -> "Checks":
        """Return these tests with the hits and the trials of ``other`` added to their own."""
        return replace(self, hits=self.hits + other.hits, trials=self.trials + other.trials)

    def p_values(self) -> Floats:
        """Return twice the smaller tail of each count, at most 1.

        Under the null hypothesis, P[p-value <= a] <= a for every a in [0, 1].
        """
        h, n, c = self.hits.astype(np.float64), self.trials.astype(np.float64), self.chance
        some, rest = np.maximum(h, 1.0), np.maximum(n - h, 1.0)
        # betainc needs positive parameters; np.where replaces the entries without a tail by 1.
        above = np.where(h > 0, betainc(some, n - some + 1.0, c), 1.0)
        below = np.where(h < n, betaincc(n - rest + 1.0, rest, c), 1.0)
        return np.where(n > 0, np.minimum(1.0, 2.0 * np.minimum(above, below)), 1.0)


@dataclass(frozen=True, slots=True)
class FailedTest:
    """A failed test: its name and index, the count, the number of draws, and the expected count."""

    test: str
    place: int
    counted: int
    trials: int
    expected: float
    p_value: float


def find_failures(groups: list[Checks], error: float) -> tuple[list[FailedTest], int, float]:
    """Return the failed tests, the number of all tests, and their smallest corrected p-value.

    Every test uses an equal share of ``error`` (Bonferroni). Hence a correct device fails any test
    with probability at most ``error``. A corrected p-value is the p-value times the number of all
    tests, and at most 1.
    """
    total = sum(len(group.hits) for group in groups)
    flags, smallest = [], 1.0
    for group in groups:
        values = group.p_values()
        smallest = min(smallest, float(values.min(initial=1.0)))
        for i in np.flatnonzero(values * total < error):
            hits, trials = int(group.hits[i]), int(group.trials[i])
            due = float(trials * group.chance[i])
            flags.append(FailedTest(group.name, int(i), hits, trials, due, float(values[i])))
    flags.sort(key=lambda flag: flag.p_value)
    return flags, total, min(1.0, smallest * total)


def audit(attack: str, checks: list[Checks], lab: AttackLab, runs: int, played: str) -> Outcome:
    """Return the outcome of an audit, whose verdict is *violated* if any check fails.

    Correct code fails with probability at most ``lab.error``.
    """
    flags, total, smallest = find_failures(checks, lab.error)
    found: dict[str, Any] = {
        "tests": total,
        "flags": [asdict(flag) for flag in flags[:_SHOWN]],
        "flag_count": len(flags),
        "false_alarm_rate": lab.error,
    }
    return Outcome(
        attack,
        f"{total:,} tests, {len(flags):,} failed",
        lab.error,
        smallest,
        P_VALUE,
        Verdict.VIOLATED if flags else Verdict.CONSISTENT,
        runs,
        played,
        TEST,
        numbers=found,
    )


_MANY, _TIMES = 1 << 16, 300
"""The words of a large draw, and the number of small draws from each source."""


def word_checks(chance: Chance) -> list[Checks]:
    """Return checks that random words do not repeat, neither within a source nor between sources.

    The sources are ``chance`` and two new secure sources. Each of n uniform words repeats an
    earlier one with probability below n / 2^64.
    """
    drawn = []
    for source in (chance, SecureChance(), SecureChance()):
        drawn.append(source.words(_MANY).copy())
        drawn += [source.words(1 + i % 3).copy() for i in range(_TIMES)]
    words = np.concatenate(drawn)
    again = len(words) - len(np.unique(words))
    return [Checks.of("repeated random word", again, len(words), len(words) / SCALE)]
