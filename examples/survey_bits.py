"""Three yes-or-no answers of one person, sent whole or bit by bit, and their correlations.

Look at the two standard errors. Bit by bit is more accurate, but only whole vectors show pairs,
their correlations, and the 2 x 2 table of each pair.

Data: American National Election Study 1996 (statsmodels, public domain). Every person represents
fifty with the same answers, because a vector that is sent whole needs a larger crowd.
"""

import numpy as np
from statsmodels.datasets import anes96

from mixtally.lab.data.population import Population
from mixtally.lab.simulation.lab import Lab
from mixtally.lab.simulation.plan_choice import choose_plan
from mixtally.lab.simulation.run import simulate_release
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.lab.simulation.truth import truth_of
from mixtally.model.guarantee import Guarantee
from mixtally.model.question import Kind, Question
from mixtally.planning import PlanRequest
from mixtally.protocol.encode.bits import pack_vectors
from mixtally.protocol.estimate.analysis import Analysis

LABELS = ("votes Dole", "college degree", "news every day")


def main() -> None:
    """Compare both ways, then count pairs, which only whole vectors show."""
    study = anes96.load_pandas().data
    answers = np.array([study["vote"] == 1, study["educ"] >= 6, study["TVnews"] == 7]).T
    vectors = np.repeat(answers.astype("uint8"), 50, axis=0)
    question = Question(name="survey", bins=3, labels=LABELS, kind=Kind.BITS)
    crowd = Population(question, pack_vectors(vectors.tobytes(), 3))
    guarantee = Guarantee(epsilon=2.0, delta=1e-6)
    whole = PlanRequest(
        question=question, guarantee=guarantee, users=crowd.users, messages_per_user=1,
        protocol="flip",
    )  # fmt: skip
    split = PlanRequest(
        question=question, guarantee=guarantee, users=crowd.users, messages_per_user=4
    )
    for wish, analysis in ((split, Analysis()), (whole, Analysis(pairs=True))):
        plan, _ = choose_plan(wish)
        result = simulate_release(plan, crowd, Lab(SeededChance(7)), analysis).result
        true = truth_of(crowd, result)
        print(f"{plan.name}: standard error {plan.standard_error:.1f} of {crowd.users} people")
        for i, label in enumerate(LABELS):
            print(f"  {label:32} {result.estimate.counts[i]:9.1f}   true {crowd.truth[i]}")
        for figures in result.figures:
            digits = 3 if figures.name == "correlations" else 1
            print(f"  {figures.title}:")
            for row, value in zip(figures.rows, true.figures[figures.name], strict=True):
                shown = f"{row.estimate:9.{digits}f}   true {value:.{digits}f}"
                print(f"    {row.label:37} {shown}")


if __name__ == "__main__":
    main()
