"""The outcome of exact tests that share the false-alarm rate of an attack."""

from dataclasses import asdict
from typing import Any

from mixtally.attacks.checks import Checks, flagged
from mixtally.attacks.outcome import P_VALUE, Lab, Outcome, Verdict

_SHOWN = 20
TEST = "exact binomial tests, Bonferroni; the smallest p-value times their number"


def audit(attack: str, checks: list[Checks], lab: Lab, runs: int, played: str) -> Outcome:
    """Violated when one of ``checks`` fails, which sound code does with chance ``lab.error``."""
    flags, total, smallest = flagged(checks, lab.error)
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
