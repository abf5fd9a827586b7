"""A number: the ages of 944 people, with their mean and quantiles.

Look at the mean: it is right on every grid, because numbers are rounded at random. More points add
noise and reduce rounding, and the planner selects the number of points with the least error. A
quantile is known up to two steps, so it is finer with more points.

Data: American National Election Study 1996 (statsmodels, public domain).
"""

import numpy as np
from statsmodels.datasets import anes96

from mixtally.lab.data.population import Population
from mixtally.lab.simulation.lab import Lab
from mixtally.lab.simulation.plan_choice import choose_plan
from mixtally.lab.simulation.rounding import round_crowd
from mixtally.lab.simulation.run import simulate_release
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.lab.simulation.truth import truth_of
from mixtally.model.guarantee import Guarantee
from mixtally.model.question import Question
from mixtally.planning import Planner, PlanRequest, forecast_mean
from mixtally.planning.rounding_grid import round_to_grid
from mixtally.protocol.encode.numbers import Points


def main() -> None:
    """Count ages on the best grid and on a finer one."""
    ages = anes96.load_pandas().data["age"].to_numpy().astype("float64")
    question, planner, lab = Question(name="age", bins=2), Planner(), Lab(SeededChance(7))
    for points in (None, 36):
        scale = Points(20.0, 90.0, points)  # Ages below 20 and above 90 count as the ends.
        wish = PlanRequest(
            question=question, guarantee=Guarantee(epsilon=1.0, delta=1e-6), users=len(ages),
            mix_fakes=True,
        )  # fmt: skip
        plan, _ = choose_plan(round_to_grid(wish, scale, planner), planner)
        nobody = np.zeros(len(ages), dtype=np.int64)  # Rounding replaces these points.
        crowd = Population(question, nobody, scale.clip(ages))
        crowd = round_crowd(crowd, plan, lab.chance)
        result = simulate_release(plan, crowd, lab).result
        (figures,), true = result.figures, truth_of(crowd, result).figures["numbers"]
        expected = forecast_mean(plan)
        print("" if expected is None else expected.sentence)
        for row, value in zip(figures.rows, true, strict=True):
            print(
                f"  {row.label:14} {row.estimate:9.2f}, 95 % {row.lower:.2f} .. {row.upper:.2f}, "
                f"true {value:.2f}"
            )


if __name__ == "__main__":
    main()
