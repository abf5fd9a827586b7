"""A number: the ages of 944 people, their mean and quantiles.

Look at how the intervals narrow with finer bins, up to where the noise of each bin takes over: a
value is known only up to its bin.

Data: American National Election Study 1996 (statsmodels, public domain).
"""

from statsmodels.datasets import anes96

from mixtally.data.population import Population
from mixtally.encode.numbers import Scale
from mixtally.estimate.analysis import Analysis
from mixtally.planner import PlanRequest
from mixtally.records.guarantee import Guarantee
from mixtally.records.question import Question
from mixtally.simulation.lab import Lab
from mixtally.simulation.offers import best
from mixtally.simulation.run import release
from mixtally.simulation.seeded import SeededChance
from mixtally.simulation.truth import truth_of


def main() -> None:
    """More bins are finer, and each has noise of its own."""
    ages = anes96.load_pandas().data["age"].to_numpy().astype("float64")
    for bins in (7, 14, 35):
        scale = Scale(20.0, 90.0, bins)  # younger and older people are counted at the ends
        question = Question(name="age", bins=bins, labels=scale.labels)
        crowd = Population(question, scale.codes(ages), scale.clipped(ages))
        wish = PlanRequest(
            question=question, guarantee=Guarantee(epsilon=1.0, delta=1e-6), users=crowd.users,
            mix_fakes=True,
        )  # fmt: skip
        plan, _ = best(wish)
        result = release(plan, crowd, Lab(SeededChance(7)), Analysis(edges=scale.edges)).result
        (figures,), true = result.figures, truth_of(crowd, result).figures["numbers"]
        print(f"{bins} bins")
        for row, value in zip(figures.rows, true, strict=True):
            print(
                f"  {row.label:14} {row.estimate:6.2f}, surely {row.lower:.1f} .. {row.upper:.1f}, "
                f"true {value:.2f}"
            )


if __name__ == "__main__":
    main()
