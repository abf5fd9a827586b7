"""The accuracy of the same guarantee with a trusted server: three mechanisms, then the mixes.

The data are the destinations of 336,776 flights from New York. OpenDP builds and draws three
mechanisms: discrete Laplace and Gaussian noise on every count, and the exponential mechanism, which
only names the busiest airport. Each comes with a statement of its accuracy. Every mechanism is run
often, and the share of runs that satisfy the statement is printed with it. Finally the counts are
made through mixes, where nobody is trusted with an answer, and compared in the same way.

OpenDP uses the randomness of the operating system and accepts no seed, so shares differ slightly
between runs. Outside the repository: pip install 'mixtally[baselines]'.
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
LEVEL, PLAYS, MIXED = 0.95, 600, 16
"""The confidence of the statements, the runs of a mechanism, and the runs of the mixes."""

Counts = NDArray[np.int64]


def noise(line: Baseline, make: Callable[[float], object], truth: Counts) -> None:
    """Run a mechanism that publishes every count."""
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
    """Run the mechanism that names the largest count, also in its hardest case."""
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
    """Run three mechanisms of the central model, then the mixes."""
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
