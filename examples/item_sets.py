"""Which destinations leave New York together: frequent pairs and triples from flipped records.

    .venv/bin/python examples/item_sets.py           # boards of two successive departures
    .venv/bin/python examples/item_sets.py --full    # also boards of three and of four

Every board of successive departures is a person, and its destinations are the set they hold.
Look at BQN + PSE, which leave together far more often than by accident; with --full at how many
pairs larger sets cost, and that no triple is left.
"""

import argparse

from mixtally.data.flights import flights
from mixtally.ground.chance import SecureChance
from mixtally.planner import PlanRequest, choose
from mixtally.records.guarantee import Guarantee
from mixtally.report.words import at_most
from mixtally.simulation.item_sets import Baskets, SetStudy, find_sets, in_a_row
from mixtally.simulation.seeded import SeededChance

TOP = 20


def show(boards: Baskets, found: SetStudy) -> None:
    """The most frequent and the least accidental sets, beside the truth."""
    plan, labels = found.plan, boards.question.labels or ()
    print(
        f"\n{plan.users:,} boards of {boards.question.max_set}, {plan.protocol}, epsilon "
        f"{plan.guarantee.epsilon:g}, delta <= {at_most(plan.certificate.upper)}, error of an "
        f"airport {found.item_error:.0f}"
    )
    for size, sets in found.frequent.items():
        true = boards.truly_frequent(size, 1)
        wrong = sum(one.items not in true for one in sets)
        most = sorted(true, key=lambda one: -true[one])[:TOP]
        named = {one.items for one in sets[:TOP]}
        print(
            f"sets of {size}: {len(sets)} surely held, {wrong} of them by nobody; "
            f"{sum(one in named for one in most)} of the true first {TOP} among the first {TOP}"
        )
        unusual = sorted(sets[:TOP], key=lambda one: -one.count)[:3]
        unusual += sorted(sets, key=lambda one: -one.lift)[:3]
        for one in dict.fromkeys(unusual):
            print(
                f"  {' + '.join(labels[i] for i in one.items):16} {one.count:8,.0f} "
                f"+- {one.standard_error:4.0f}, truth {true.get(one.items, 0):6,}, "
                f"{one.lift:.2f} times as often as by accident"
            )


def main() -> None:
    """Make the boards, plan, play, find, compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="boards of two, three and four")
    parser.add_argument("--seed", type=int, help="repeatable randomness")
    asked = parser.parse_args()
    chance = SecureChance() if asked.seed is None else SeededChance(asked.seed)

    for size in (2, 3, 4) if asked.full else (2,):
        boards = in_a_row(flights(), size)
        wish = PlanRequest(
            question=boards.question,
            guarantee=Guarantee(epsilon=1.0, delta=1e-6),
            users=len(boards.members),
        )
        show(boards, find_sets(choose(wish).best.plan, boards, chance))


if __name__ == "__main__":
    main()
