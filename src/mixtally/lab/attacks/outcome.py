"""Outcomes of attacks: the claimed and the measured loss, the verdict, and the curves.

``AttackLab`` has the randomness and the limits that all attacks of one call share.
``conclude_game`` makes an outcome from the statistics of a game.
"""

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

EPSILON, P_VALUE = "eps", "p"
"""The units of outcomes: a privacy loss, or the smallest p-value of an audit."""
_MOST_RUNS, _MOST_DRAWN = 10_000_000, 100_000_000
"""Upper limits of the number of runs with messages drawn by the code, and with drawn counts."""
_MOST_GROWTH = 700.0
"""The largest exponent whose exponential is a finite double, with a margin."""
_RATES = [10.0 ** (k / 12.0) for k in range(-84, 1)]
"""The false-alarm rates of the reference curves: twelve per decade from 1e-7 to 1."""


class NoiseSource(StrEnum):
    """The source of an attack's messages."""

    CODE = "code"
    """The randomizer and mix that people and operators run."""
    DISTRIBUTION = "distribution"
    """The specified distribution: it allows more runs, and tests none of the code."""


class Verdict(StrEnum):
    """The conclusion of an attack about a guarantee."""

    CONSISTENT = "consistent"
    """Nothing was proved against the guarantee, which is no proof that it is true."""
    VIOLATED = "violated"
    """The guarantee is false, except with the stated false-alarm probability."""
    MEASURED = "measured only"
    """No guarantee exists: the number is the measured loss."""
    OUTSIDE = "outside the guarantee"
    """The attack breaks the assumption on which the guarantee rests."""


@dataclass(frozen=True, slots=True)
class AttackLab:
    """The randomness and the limits that the attacks of one call share.

    Attributes
    ----------
    error : float
        The false-alarm probability that each attack may use.
    runs : int or None
        The number of runs in which the code of ``device`` draws messages. None for the number that
        takes a few seconds.
    device : Device
        The code that draws noise.
    drawn : int or None
        The number of runs with counts drawn from their distribution. None for the number that takes
        a few seconds, 0 for no such runs.
    play : Play
        Simulates a whole collection, for the attack that needs one.
    accountant : Accountant
        Computes the privacy loss that remains if an attack removes some of the noise.
    tables : Memo
        The tables of binomial draws, shared by all games.

    Raises
    ------
    ParameterError
        If a number of runs is out of range.
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
        do = "leave it out for a number that takes a few seconds"
        if self.runs is not None:
            in_range("runs", self.runs, LEAST_RUNS, _MOST_RUNS, do)
        if self.drawn:
            in_range("drawn", self.drawn, LEAST_RUNS, _MOST_DRAWN, do + ", or say 0 for none")


def checked_level(level: float) -> float:
    """Return the confidence level of a table of attacks, in [0.5, 1 - 1e-9].

    Raises
    ------
    ParameterError
        If the level is out of range.
    """
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
    """The guarantee under attack: two worlds are (promised, delta)-indistinguishable.

    ``promised`` is an epsilon, or None if nothing is guaranteed and the attack only measures.
    ``test`` says in words what the statistic is, and whether it is optimal.
    """

    attack: str
    case: str
    promised: float | None
    delta: float
    test: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one attack on one guarantee.

    Attributes
    ----------
    promised : float or None
        The largest value that the guarantee allows, in ``unit``; None without a guarantee. For an
        audit, the false-alarm probability; the audit fails if ``attacked``, its p-value, is less.
    attacked : float
        The proved or measured value, in ``unit``.
    played : str
        The runs that were made, and those that were left out with the reason.
    test : str
        The statistic, and whether it is optimal.
    noise : NoiseSource
        The source of the messages.
    best : float or None
        The value that the most powerful test would prove in half of all repetitions. None if the
        distribution of the statistic is unknown.
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
        """The name of the outcome for places that do not show the table of all outcomes."""
        return describe_attack(self.attack, self.case, self.noise)

    @property
    def margin(self) -> float | None:
        """The distance from ``attacked`` to ``promised``; negative if the guarantee is violated."""
        if self.promised is None:
            return None
        room = self.promised - self.attacked
        return -room if self.unit == P_VALUE else room

    def facts(self) -> dict[str, Any]:
        """Return the outcome as one JSON object."""
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
    """Return the name of an attack, with a remark if its noise is drawn from the distribution."""
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
    """Return the outcome of a game in which a statistic distinguishes two worlds.

    ``pilot`` has runs of the specified distribution, which select the event to count. If the code
    drew ``worlds``, its distribution may differ from the specified one. Half of the error is then
    used for this event, and half for an event that a quarter of the runs in ``worlds`` select.
    ``charts`` and ``numbers`` are added to the outcome.
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
    """Return the counts of the event, and the lower bound of delta that they prove.

    The bound is for the promised epsilon.
    """
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

    ``promised`` is None without a guarantee. ``error`` is the largest probability that the band
    misses the true curve.
    """
    points = tuple((a, p) for a, p in roc(worlds) if a > 0.0 and p > 0.0)
    seen = Curve("the attack", points or ((1.0, 1.0),))
    # Smaller rates are below one alarm in all runs and cannot be measured.
    rates = [r for r in _RATES if r >= 0.5 / len(worlds.v)]
    curves = [seen, Curve("guessing", tuple((r, r) for r in rates))]
    caption = (
        f"How often the attacker is right in world u at a given rate of false alarms in world v, "
        f"over {len(worlds.u):,} runs."
    )
    # The exponential of a larger epsilon overflows, and such an epsilon allows every power.
    if promised is not None and promised < _MOST_GROWTH:
        grow = exp(promised)
        most = tuple(
            (r, max(0.0, min(1.0, grow * r + delta, 1.0 - (1.0 - delta - r) / grow))) for r in rates
        )
        curves.append(Curve("most that is allowed", most))
        caption += (
            " Chance can lift the attack above the most that is allowed. Only a band that lies "
            "above it as a whole contradicts the promise."
        )
    confidence = f"{100.0 * (1.0 - error):.7g} %"
    return Chart(
        "attack",
        title,
        caption,
        "rate of false alarms",
        "power",
        tuple(curves),
        log_x=True,
        log_y=True,
        bands=(Band(f"the true curve, with {confidence} confidence", *roc_band(worlds, error)),),
    )
