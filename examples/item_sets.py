"""Destinations that leave New York together: frequent pairs and triples from flipped records.

    .venv/bin/python examples/item_sets.py           # boards of two successive departures
    .venv/bin/python examples/item_sets.py --full    # also boards of three and of four

Every board of successive departures is a person, and its destinations are the person's set. Look at
BQN + PSE, which leave together far more often than by accident. With --full, look at how larger
sets reduce the pairs that are found, and that no triple is found. ``mixtally simulate baskets``
does this for any file.
"""

import argparse

from mixtally.lab.data.flights import flights
from mixtally.lab.data.population import Population
from mixtally.lab.simulation.baskets import (
    BasketResult,
    count_holders,
    count_pairs,
    find_sets,
    group_rows,
)
from mixtally.lab.simulation.lab import Lab
from mixtally.lab.simulation.seeded import build_chance
from mixtally.model.guarantee import Guarantee
from mixtally.planning import PlanRequest, choose
from mixtally.report.numbers import at_most

TOP = 20


def show(boards: Population, found: BasketResult) -> None:
    """Print the most frequent and the least accidental sets, with the truth."""
    plan, label = found.items.plan, boards.question.label
    print(
        f"\n{plan.users:,} boards of {boards.question.max_set}, {plan.protocol}, epsilon "
        f"{plan.guarantee.epsilon:g}, delta <= {at_most(plan.certificate.upper)}, error of an "
        f"airport {found.items.estimate.standard_error:.0f}"
    )
    both = count_pairs(boards)
    pairs = sorted(((i, j) for j in range(len(both)) for i in range(j)), key=lambda one: -both[one])
    for size, sets in found.sets.items():
        true = count_holders(boards, [one.items for one in sets]).tolist()
        named = {one.items for one in sets[:TOP]}
        told = f"sets of {size}: {len(sets)} certainly held, {true.count(0)} of them by nobody"
        if size == 2:
            first = sum(one in named for one in pairs[:TOP])
            told += f"; {first} of the true first {TOP} among the first {TOP}"
        print(told)
        for one, held in list(zip(sets, true, strict=True))[:3]:
            print(
                f"  {' + '.join(map(label, one.items)):16} {one.count:8,.0f} "
                f"in {one.lower:,} .. {one.upper:,}, truth {held:6,}"
            )
    once = [rule for rule in found.rules if rule.given < (rule.then,)]
    for rule in sorted(once, key=lambda rule: -rule.lift.lower)[:3]:
        print(
            f"  {' + '.join(map(label, (*rule.given, rule.then)))} leave together "
            f"{rule.lift.estimate:.1f} times as often as by accident "
            f"({rule.lift.lower:.1f} .. {rule.lift.upper:.1f})"
        )


def main() -> None:
    """Make the boards, plan, simulate, find sets, and compare with the truth."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="boards of two, three and four")
    parser.add_argument("--seed", type=int, help="repeatable randomness")
    asked = parser.parse_args()
    chance = build_chance(asked.seed)

    for size in (2, 3, 4) if asked.full else (2,):
        boards = group_rows(flights(), size)
        wish = PlanRequest(
            question=boards.question,
            guarantee=Guarantee(epsilon=1.0, delta=1e-6),
            users=boards.users,
            protocol="flip-blank",  # Its message contains the whole board, so pairs can be counted.
        )
        show(boards, find_sets(choose(wish).plan, boards, Lab(chance)))


if __name__ == "__main__":
    main()
