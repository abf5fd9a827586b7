"""The game against a randomizer that is given as a matrix.

All other people hold one value: that of the worst known crowd, from which the accountant computes
its lower bound of delta. The counts of all messages are drawn from their distribution, because no
code of this project draws from a matrix. The statistic is that of ``counted_game``. Its weights are
R_u / b and R_v / b, where R_u and R_v are the rows of the person's two values, and b is the mean
distribution of the other messages. Without fakes the statistic is the exact log-likelihood ratio,
and no test is better.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from mixtally.lab.attacks.multinomial import Binomials
from mixtally.lab.attacks.outcome import AttackLab, Hypothesis, NoiseSource, Outcome, conclude_game
from mixtally.lab.attacks.outsiders import TELL_APART
from mixtally.lab.attacks.worlds import Worlds
from mixtally.model.certificate import Certificate
from mixtally.model.matrix import RandomizerMatrix
from mixtally.primitives.tails import Floats

_RUNS = 200_000
_MOST_COUNTS = 20_000_000
"""Counts in all runs together, which limits memory."""


@dataclass(frozen=True, slots=True)
class MatrixTarget:
    """A claim about a randomizer, with the crowd in which it is attacked.

    Attributes
    ----------
    matrix
        The probabilities of the randomizer's messages for each value.
    users, fakes
        The number of people, the attacked person included, and the number of fakes that are drawn
        from ``fake_row``.
    pair, crowd
        Labels of the two values that the attacked person may hold, and the label of the value that
        all others hold.
    epsilon, delta
        The claimed guarantee.
    exact
        The lower and the upper bound of delta at this epsilon.
    """

    matrix: RandomizerMatrix
    users: int
    fakes: int
    fake_row: tuple[Fraction, ...]
    pair: tuple[str, str]
    crowd: str
    epsilon: float
    delta: float
    exact: Certificate
    verified: bool = False

    @property
    def title(self) -> str:
        """The name of the target."""
        return f"a randomizer of {len(self.matrix.rows):,} values, {self.users:,} users"

    def facts(self) -> dict[str, Any]:
        """Return the claim and the computed delta."""
        return {
            "users": self.users,
            "fakes": self.fakes,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "exact_delta": self.exact.upper,
            "exact_delta_lower": self.exact.lower,
            **self.exact.terms(),
        }


def attack_matrix(target: MatrixTarget, lab: AttackLab) -> Outcome:
    """Play the game in the worst known crowd, and compare the proved epsilon with the claim."""
    most = max(100, _MOST_COUNTS // len(target.matrix.outputs))
    runs = min(lab.drawn or lab.runs or _RUNS, most)
    draw = Binomials(lab.chance, lab.tables)
    u, v = target.pair
    case = f"{u} or {v}, all others hold {target.crowd}"
    return conclude_game(
        Hypothesis(
            TELL_APART, case, target.epsilon, target.delta, "likelihood ratio of all counts"
        ),
        _draw_worlds(target, runs, draw),
        lab,
        played=f"{runs:,} runs with counts drawn from their distribution",
        noise=NoiseSource.DISTRIBUTION,
        pilot=_draw_worlds(target, runs, draw),
    )


def _draw_worlds(target: MatrixTarget, runs: int, draw: Binomials) -> Worlds:
    """Return the statistic of many runs in both worlds."""
    matrix = target.matrix
    one, other, crowd_row = (
        np.array([int(cell) / matrix.scale for cell in matrix.cells[matrix.row(label)]])
        for label in (*target.pair, target.crowd)
    )
    fake = np.array([float(chance) for chance in target.fake_row] or crowd_row)
    behind = (target.users - 1) * crowd_row + target.fakes * fake
    found = []
    for own in (one, other):
        counts = draw.draw_multinomial(target.users - 1, crowd_row, runs)
        counts += draw.draw_multinomial(target.fakes, fake, runs)
        counts += draw.draw_multinomial(1, own, runs)
        found.append(_log_ratio(counts.astype(np.float64), one, other, behind))
    return Worlds(*found)


def _log_ratio(counts: Floats, one: Floats, other: Floats, behind: Floats) -> Floats:
    """Return the statistic of every run, shape (runs,).

    ``one``, ``other`` and ``behind`` are the distributions of a message under the person's first
    value, under the second value, and of all other messages. If a run has a message that nobody
    else can send, this message alone determines the statistic.
    """
    shared = behind > 0.0
    weights = np.where(shared, counts / np.where(shared, behind, 1.0), 0.0)
    named = np.where(shared, 0.0, counts)
    exposed = named.any(axis=1)
    with np.errstate(divide="ignore"):
        found = [
            np.log(np.where(exposed, (named * own).sum(axis=1), (weights * own).sum(axis=1)))
            for own in (one, other)
        ]
    return np.asarray(found[0] - found[1])
