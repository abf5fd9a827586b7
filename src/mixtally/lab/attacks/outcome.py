"""What an attack reports: promised, attacked, margin, how it was played, and its curves."""

from dataclasses import dataclass, field
from enum import StrEnum
from math import exp
from typing import Any

import numpy as np

from mixtally.accounting.accountant import Accountant
from mixtally.errors import ParameterError, in_range
from mixtally.lab.attacks.device import Device, Play, refuse_to_play
from mixtally.lab.attacks.epsilon_proof import LEAST_RUNS, Proof, prove, prove_either
from mixtally.lab.attacks.multinomial import MOST_BYTES
from mixtally.lab.attacks.refute import clopper_pearson_lower, clopper_pearson_upper
from mixtally.lab.attacks.worlds import Worlds, roc, roc_band
from mixtally.primitives.chance import Chance
from mixtally.primitives.memo import Memo
from mixtally.primitives.progress import Progress, ignore_progress
from mixtally.report.curves import Band, Chart, Curve

EPSILON = "eps"
P_VALUE = "p"
"""The unit of audits: a smallest p-value, which must not fall below what is promised."""
_MOST_RUNS, _MOST_DRAWN = 10_000_000, 100_000_000
_MOST_GROWTH = 700.0
_RATES = [10.0 ** (k / 12.0) for k in range(-84, 1)]


class NoiseSource(StrEnum):
    """Where an attack's messages come from."""

    CODE = "code"
    """The randomizer and mix that people run."""
    DISTRIBUTION = "distribution"
    """Counts drawn from the distribution the code is meant to have: more runs, none of the code."""


class Verdict(StrEnum):
    """What an attack says about a promise."""

    CONSISTENT = "consistent"
    """Nothing was proved against it: no proof that it is true."""
    VIOLATED = "violated"
    """The promise is false, but for the stated chance of a false alarm."""
    MEASURED = "measured only"
    """No promise speaks of it: the number is what the attack can do."""


@dataclass(frozen=True, slots=True)
class AttackLab:
    """What attacks share; raises ParameterError for numbers of runs that are out of range.

    where
      runs         how often a game is played through the code, None for as many as are quick
      drawn        how often with counts drawn from their distribution, None for as quick, 0 for not
                   at all
      error        chance of a false alarm that each of them may use
      device       the code that draws noise
      play         plays a whole collection, for the attack that needs one
      accountant   proves what fakes or a crowd alone are worth
      tables       what counts were drawn from, for those that are drawn next
    """

    chance: Chance
    error: float
    runs: int | None = None
    device: Device = field(default_factory=Device)
    progress: Progress = ignore_progress
    drawn: int | None = 0
    play: Play = refuse_to_play
    accountant: Accountant = field(default_factory=Accountant)
    tables: Memo = field(default_factory=lambda: Memo(MOST_BYTES))

    def __post_init__(self) -> None:
        do = "leave it out for as many as are quick"
        if self.runs is not None:
            in_range("runs", self.runs, LEAST_RUNS, _MOST_RUNS, do)
        if self.drawn:
            in_range("drawn", self.drawn, LEAST_RUNS, _MOST_DRAWN, do + ", or say 0 for none")


def checked_level(level: float) -> float:
    """A confidence of a whole table of attacks; raises ParameterError outside its range."""
    if 0.5 <= level <= 1.0 - 1e-9:
        return level
    raise ParameterError(
        "level",
        expected="a number in [0.5, 1 - 1e-9]",
        got=level,
        do="0.9999 flags a sound plan once in ten thousand times",
    )


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A promise under attack: that two worlds are (promised, delta) indistinguishable.

    where
      attack, case   what attacks it, and where
      promised       epsilon; None when nothing is promised and the attack is only measured
      test           the statistic, and whether it is optimal
    """

    attack: str
    case: str
    promised: float | None
    delta: float
    test: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """One attack on one promise.

    where
      promised   the most that may be true, in ``unit``; None when nothing is promised; for an audit
                 the chance of a false alarm, below which a p-value flags
      attacked   what the attack proved or measured, in ``unit``
      best       what half of all repetitions prove by the best test, None where no distribution is
                 known
      played     what was played, and what was left out and why
      test       the statistic, and whether it is optimal
      noise      what drew the messages
    """

    attack: str
    case: str
    promised: float | None
    attacked: float
    unit: str
    verdict: Verdict
    runs: int
    played: str
    test: str
    numbers: dict[str, Any] = field(default_factory=dict)
    charts: tuple[Chart, ...] = ()
    noise: NoiseSource = NoiseSource.CODE
    best: float | None = None

    @property
    def title(self) -> str:
        """What it is called where it stands alone."""
        return describe_attack(self.attack, self.case, self.noise)

    @property
    def margin(self) -> float | None:
        """How far the attack stayed within the promise; negative when it is violated."""
        if self.promised is None:
            return None
        room = self.promised - self.attacked
        return -room if self.unit == P_VALUE else room

    def facts(self) -> dict[str, Any]:
        """The outcome as JSON takes it."""
        return {
            "attack": self.attack, "case": self.case, "noise": str(self.noise),
            "promised": self.promised, "attacked": self.attacked, "margin": self.margin,
            "best_of_any_test": self.best,
            "unit": self.unit, "verdict": str(self.verdict), "runs": self.runs,
            "played": self.played, "test": self.test, **self.numbers,
            "curves": [
                {"title": c.title, "x": c.x_name, "y": c.y_name,
                 "curves": {curve.name: list(curve.points) for curve in c.curves}}
                for c in self.charts
            ],
        }  # fmt: skip


def describe_attack(attack: str, case: str, noise: NoiseSource) -> str:
    """An attack in a few words; the code's own noise is not mentioned."""
    drawn = ", noise from the distribution" if noise is NoiseSource.DISTRIBUTION else ""
    return f"{attack}: {case}{drawn}"


def conclude_game(
    hypothesis: Hypothesis,
    worlds: Worlds,
    lab: AttackLab,
    *,
    played: str,
    noise: NoiseSource = NoiseSource.CODE,
    pilot: Worlds | None = None,
    charts: tuple[Chart, ...] = (),
    **numbers: Any,
) -> Outcome:
    """The outcome of a game in which two worlds are distinguished by a statistic.

    ``charts`` and ``numbers`` are what else there is to show of it.

    ``pilot`` holds runs of its distribution, which choose the event that is counted. The code may
    have another distribution: it shares its error with an event that a quarter of its own runs
    choose.
    """
    attack, case, promised = hypothesis.attack, hypothesis.case, hypothesis.promised
    delta = hypothesis.delta
    if pilot is None or noise is NoiseSource.DISTRIBUTION:
        proof = prove(worlds, delta, lab.error, pilot)
    else:
        proof = prove_either(worlds, delta, lab.error, pilot)
    verdict = Verdict.MEASURED
    if promised is not None:
        verdict = Verdict.VIOLATED if proof.epsilon > promised else Verdict.CONSISTENT
    curve = roc_chart(describe_attack(attack, case, noise), worlds, promised, delta, lab.error)
    return Outcome(
        attack,
        case,
        promised,
        proof.epsilon,
        EPSILON,
        verdict,
        len(worlds.u),
        played,
        hypothesis.test,
        numbers=_proof_numbers(proof, hypothesis, lab.error) | numbers,
        charts=(curve, *charts),
        noise=noise,
        best=proof.best,
    )


def _proof_numbers(proof: Proof, hypothesis: Hypothesis, error: float) -> dict[str, Any]:
    """``delta_seen`` is the largest delta at the promised epsilon that the event proves."""
    grow = exp(min(_MOST_GROWTH, hypothesis.promised or 0.0))
    low = float(clopper_pearson_lower(np.array(proof.hits), proof.trials, error / 2.0))
    high = float(clopper_pearson_upper(np.array(proof.alarms), proof.trials, error / 2.0))
    return {
        "delta": hypothesis.delta,
        "delta_seen": max(0.0, low - grow * high),
        "false_alarm_rate": error,
        "hits": proof.hits,
        "alarms": proof.alarms,
        "tested_runs": proof.trials,
        "event": f"statistic {'>=' if proof.favors == 'u' else '<='} {proof.cut:.6g}",
    }


def roc_chart(
    title: str, worlds: Worlds, promised: float | None, delta: float, error: float
) -> Chart:
    """Return the chart of an attack's ROC curve, with its confidence band.

    Parameters
    ----------
    title : str
        What the chart is called.
    worlds : Worlds
        The statistic in both worlds.
    promised : float or None
        Epsilon of the promise; None where nothing is promised.
    delta : float
        Delta of the promise.
    error : float
        The largest probability that the band misses the true curve, as that of a false verdict.
    """
    points = tuple((a, p) for a, p in roc(worlds) if a > 0.0 and p > 0.0)
    seen = Curve("the attack", points or ((1.0, 1.0),))
    rates = [r for r in _RATES if r >= 0.5 / len(worlds.v)]
    curves = [seen, Curve("guessing", tuple((r, r) for r in rates))]
    caption = (
        f"How often the attacker is right in world u at a given rate of false alarms in world v, "
        f"over {len(worlds.u):,} runs."
    )
    if promised is not None and promised < 700.0:
        grow = exp(promised)
        most = tuple(
            (r, max(0.0, min(1.0, grow * r + delta, 1.0 - (1.0 - delta - r) / grow))) for r in rates
        )
        curves.append(Curve("most that is allowed", most))
        caption += (
            " Chance can lift the attack above the most that is allowed. Only a band that lies "
            "above it as a whole contradicts the promise."
        )
    sure = f"{100.0 * (1.0 - error):.7g} %"
    return Chart(
        "attack",
        title,
        caption,
        "rate of false alarms",
        "power",
        tuple(curves),
        log_x=True,
        log_y=True,
        bands=(Band(f"the true curve, with {sure} confidence", *roc_band(worlds, error)),),
    )
