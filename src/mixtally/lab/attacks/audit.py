"""An audit: exact tests of counts that share the false-alarm rate of an attack, and its outcome."""

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
TEST = "exact binomial tests, Bonferroni; the smallest p-value times their number"


@dataclass(frozen=True, slots=True)
class Checks:
    """Counts that should be binomial, shape (tests,) each or scalars that fit.

    where
      hits      what was counted
      trials    of how many independent draws
      chance    the probability each draw should have
    """

    name: str
    hits: NDArray[np.int64]
    trials: NDArray[np.int64]
    chance: Floats

    @classmethod
    def of(cls, name: str, hits: object, trials: object, chance: object) -> "Checks":
        """Counts, trials and chances stretched to one shape."""
        h, n, c = np.broadcast_arrays(
            np.atleast_1d(np.asarray(hits, dtype=np.int64)),
            np.asarray(trials, dtype=np.int64),
            np.asarray(chance, dtype=np.float64),
        )
        return cls(name, h, n, c)

    @classmethod
    def of_difference(cls, name: str, off: int) -> "Checks":
        """A number that is never ``off``."""
        return cls.of(name, abs(off), max(1, abs(off)), 0.0)

    def __add__(self, other: "Checks") -> "Checks":
        """The same tests, of more draws."""
        return replace(self, hits=self.hits + other.hits, trials=self.trials + other.trials)

    def p_values(self) -> Floats:
        """Twice the smaller tail, at most 1: a false alarm at level a has chance at most a."""
        h, n, c = self.hits.astype(np.float64), self.trials.astype(np.float64), self.chance
        some, rest = np.maximum(h, 1.0), np.maximum(n - h, 1.0)
        above = np.where(h > 0, betainc(some, n - some + 1.0, c), 1.0)
        below = np.where(h < n, betaincc(n - rest + 1.0, rest, c), 1.0)
        return np.where(n > 0, np.minimum(1.0, 2.0 * np.minimum(above, below)), 1.0)


@dataclass(frozen=True, slots=True)
class FailedTest:
    """A test that failed: which, and where; what was counted, of how many draws; what was due."""

    test: str
    place: int
    counted: int
    of: int
    expected: float
    p_value: float


def find_failures(groups: list[Checks], error: float) -> tuple[list[FailedTest], int, float]:
    """Failed tests, the number of all tests, and the smallest p-value times that number.

    Every test may use an equal share of ``error`` (Bonferroni), so that a sound device is flagged
    with chance at most ``error``.
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
    """Violated when one of ``checks`` fails, which sound code does with chance ``lab.error``."""
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


def word_checks(chance: Chance) -> list[Checks]:
    """Words in large and small draws, from ``chance`` and from two fresh secure sources.

    Of n words one that came before has a chance below n / 2^64 each.
    """
    drawn = []
    for source in (chance, SecureChance(), SecureChance()):
        drawn.append(source.words(_MANY).copy())
        drawn += [source.words(1 + i % 3).copy() for i in range(_TIMES)]
    words = np.concatenate(drawn)
    again = len(words) - len(np.unique(words))
    return [Checks.of("word that came before", again, len(words), len(words) / SCALE)]
