"""What the same guarantee costs when somebody is trusted with every answer: three mechanisms.

Where 336,776 flights out of New York went. Discrete Laplace and Gaussian noise on every count, and
the exponential mechanism, which only names the busiest airport, are built and drawn with OpenDP.
Each comes with a statement of its accuracy; every mechanism is played often, and the share of plays
that keep the statement is printed beside it. Last the counts through mixes, where nobody is
trusted with an answer, held to the same questions.

OpenDP draws from the operating system and takes no seed: shares differ a little from run to run.
Away from the repository: pip install 'mixtally[baselines]'.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from mixtally.lab.data.flights import flights
from mixtally.lab.simulation import central
from mixtally.lab.simulation.lab import Lab
from mixtally.lab.simulation.plan_choice import choose_plan
from mixtally.lab.simulation.run import simulate_release
from mixtally.model.baseline import Baseline
from mixtally.model.guarantee import Guarantee
from mixtally.planning import PlanRequest
from mixtally.primitives.chance import SecureChance

PROMISED = Guarantee(epsilon=1.0, delta=1e-6)
LEVEL, PLAYS, MIXED = 0.95, 300, 8
"""Confidence of the statements, how often a mechanism is played, and how often the mixes are."""

Counts = NDArray[np.int64]


def noise(line: Baseline, make: Callable[[float], object], truth: Counts) -> None:
    """Play a mechanism that publishes every count."""
    measure, counts = make(line.scale), truth.tolist()
    errors = np.array([measure(counts) for _ in range(PLAYS)]) - truth
    one, every = np.abs(errors) <= line.one_within, np.abs(errors) <= line.all_within
    print(f"{line.name}: epsilon = {line.epsilon:.4g}, delta = {line.delta:g}")
    print(f"  error {line.standard_error:.2f}, seen {np.sqrt(np.mean(errors**2)):.2f}")
    print(f"  one count within {line.one_within} at {LEVEL:.0%}: kept {one.mean():.1%}")
    print(
        f"  all {len(truth)} within {line.all_within} at {LEVEL:.0%}: kept "
        f"{every.all(axis=1).mean():.1%}"
    )


def choice(line: Baseline, truth: Counts) -> None:
    """Play the mechanism that names the largest count, also where that is as hard as can be."""
    hard = np.full_like(truth, 1000)
    hard[0] += line.one_within + 1
    measure = central.selection_measurement(line.scale)
    print(f"{line.name}: epsilon = {line.epsilon:.4g}, delta = {line.delta:g}")
    for what, counts in (("the flights", truth), ("all others just too far below", hard)):
        below = [counts.max() - counts[measure(counts.tolist())] for _ in range(PLAYS)]
        kept = np.mean(np.array(below) <= line.one_within)
        print(
            f"  {what}: named at most {line.one_within} below the largest at {LEVEL:.0%}: "
            f"kept {kept:.1%}"
        )


def main() -> None:
    """Three mechanisms of the central model, then the mixes."""
    crowd = flights()
    truth, bins = crowd.truth, crowd.question.bins
    noise(
        central.discrete_laplace(PROMISED.epsilon, bins, LEVEL),
        central.laplace_measurement, truth,
    )  # fmt: skip
    noise(
        central.gaussian(PROMISED.epsilon, PROMISED.delta, bins, LEVEL),
        central.gaussian_measurement, truth,
    )  # fmt: skip
    choice(central.exponential(PROMISED.epsilon, bins, LEVEL), truth)
    for trusted in (True, False):
        wish = PlanRequest(
            question=crowd.question, guarantee=PROMISED, users=crowd.users, mix_fakes=trusted
        )
        plan, _ = choose_plan(wish)
        lab = Lab(SecureChance())
        found = [simulate_release(plan, crowd, lab).result.estimate.counts for _ in range(MIXED)]
        seen = float(np.sqrt(np.mean(np.square(np.array(found) - truth))))
        who = "a mix draws the fakes" if trusted else "nobody trusted"
        print(f"{plan.name}, {who}: error {plan.standard_error:.2f}, seen {seen:.2f}")


if __name__ == "__main__":
    main()
