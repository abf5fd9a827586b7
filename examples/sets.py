"""Sets: every person names up to three airports.

Data: flights from New York City 2013 (included, CC0). Three successive flights in the file
represent one person's itinerary.

Look at the two errors. In clear, with one airport per message, the error of a count is 1.6 times
that of one airport per person. Only a message with the whole set shows which two airports are named
together. Such a message is hidden only by fakes that happen to show all of the set, and its error
is about 130 counts.
"""

import numpy as np

from mixtally.lab.data.flights import flights
from mixtally.lab.data.population import Population
from mixtally.lab.simulation.lab import Lab
from mixtally.lab.simulation.plan_choice import choose_plan
from mixtally.lab.simulation.run import simulate_release
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.lab.simulation.truth import truth_of
from mixtally.model.guarantee import Guarantee
from mixtally.model.question import Kind, Question
from mixtally.model.result import Result
from mixtally.planning import PlanRequest
from mixtally.protocol.encode.bits import rows_of
from mixtally.protocol.estimate.analysis import Analysis


def main() -> None:
    """Count airports and sizes of sets, then the pairs that are named together most."""
    legs = flights()
    users = len(legs.codes) // 3
    people = np.repeat(np.arange(users), 3)
    airports = legs.question
    question = Question(
        name="airports", bins=airports.bins, labels=airports.labels, kind=Kind.SET, max_set=3
    )
    crowd = Population(
        question, rows_of(people, legs.codes[: 3 * users], users, airports.bins)
    )  # fmt: skip
    wish = PlanRequest(question=question, guarantee=Guarantee(epsilon=1.0, delta=1e-6), users=users)
    plan, reason = choose_plan(wish)
    print(reason)
    result = simulate_release(plan, crowd, Lab(SeededChance(7))).result
    found = result.estimate
    for i in np.argsort(-found.counts)[:5].tolist():
        print(f"{question.label(i):9} {found.counts[i]:8.1f}   true {crowd.truth[i]}")
    show(result, "sizes", crowd)
    plan, reason = choose_plan(wish, pairs=True)
    print(reason)
    result = simulate_release(plan, crowd, Lab(SeededChance(7)), Analysis(pairs=True)).result
    show(result, "pairs", crowd)


def show(result: Result, name: str, crowd: Population) -> None:
    """Print the first three figures of one kind with the true values."""
    (rows,) = (one.rows for one in result.figures if one.name == name)
    true = truth_of(crowd, result).figures[name]
    for row, value in list(zip(rows, true, strict=True))[:3]:
        print(f"{row.label:9} {row.estimate:8.1f}   true {value:g}")


if __name__ == "__main__":
    main()
