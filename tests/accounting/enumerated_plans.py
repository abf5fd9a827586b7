"""What is proved of random plans beside the truth, and how far above it that is.

cd tests && PYTHONPATH=../src:. python -m privacy.enumerated_plans 5000 --seed 1000
"""

import argparse
import math
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from random import Random
from typing import NamedTuple

from accounting import random_plans
from helpers.exact_plans import true_delta
from mixtally.accounting.accountant import Accountant
from mixtally.accounting.numerics.bracket import Bracket
from mixtally.accounting.plans.terms import PrivacyTerms, certify_terms
from mixtally.model.contract import Plan


class Case(NamedTuple):
    """A plan, by its mechanism, with what is proved and what is true."""

    name: str
    plan: Plan
    bounds: Bracket
    truth: Fraction

    @property
    def below(self) -> bool:
        """Whether more is promised than is kept."""
        return Fraction(self.bounds.upper) < self.truth

    @property
    def wrong(self) -> bool:
        """Whether the truth lies outside of its bounds."""
        return self.below or Fraction(self.bounds.lower) > self.truth

    @property
    def above(self) -> float:
        """How many times the truth is stated; infinite where nothing is true and some is stated."""
        if self.truth:
            return float(Fraction(self.bounds.upper) / self.truth)
        return 1.0 if self.bounds.upper < NOTHING else math.inf


NOTHING = 1e-15
"""Less than any delta that can be promised."""


def cases(
    seed: int, count: int, *names: str, priced: Callable[[Plan], Plan] = lambda plan: plan
) -> Iterator[Case]:
    """So many plans of these mechanisms, or of all; ``priced`` is what is priced in their place."""
    accountant = Accountant()
    for place, (name, plan) in enumerate(random_plans.several(seed, count, *names)):
        stated = certify_terms(PrivacyTerms.of(priced(plan)), accountant)
        truth = true_delta(plan, Random(place))
        yield Case(name, plan, Bracket(stated.lower, stated.upper), truth)


def table(found: Iterable[Case]) -> list[str]:
    """A line a mechanism: how many, how many wrong, and what is stated over what is true."""
    by_name: dict[str, list[Case]] = defaultdict(list)
    for one in found:
        by_name[one.name].append(one)
        by_name["all"].append(one)
    lines = [f"{'mechanism':24} plans  below  wrong  median    90 %     max"]
    for name in sorted(by_name, key=[*random_plans.MECHANISMS, "all"].index):
        own = by_name[name]
        above = sorted(one.above for one in own)
        counts = [len(own), sum(one.below for one in own), sum(one.wrong for one in own)]
        ends = [above[len(own) // 2], above[9 * len(own) // 10], above[-1]]
        numbers = [f"{one:6}" for one in counts] + [f"{one:7.4f}" for one in ends]
        lines.append(f"{name:22} {' '.join(numbers)}")
    return lines


def main() -> None:
    """Enumerate, print the table; the status is 1 where a truth lies outside of its bounds."""
    parser = argparse.ArgumentParser(description="Random plans, enumerated.")
    parser.add_argument("count", type=int, help="of plans, of all mechanisms in turn")
    parser.add_argument("--seed", type=int, default=1000)
    asked = parser.parse_args()
    found = []
    for one in cases(asked.seed, asked.count):
        found.append(one)
        if one.wrong:
            print(one, flush=True)
    print("\n".join(table(found)))
    sys.exit(any(one.wrong for one in found))


if __name__ == "__main__":
    main()
