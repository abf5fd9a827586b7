"""Fake users, three ways: one histogram in clear, one of flips among fakes that look like people,
one of flips among fakes that say nothing; and one of flips without any.

The protocols of chapter 5 of the Notes (2020), each played with the least noise that keeps the
promise, beside the noise that the Notes' own formulas ask for.

Look at error, predicted and seen: in clear least, and of few fakes uniform ones hide flips better
than blank ones. And at the formulas: (5.16) leaves more than 20 times the delta it promises, and
without fakes next to no promise at all.

Data: flights out of New York City 2013 (shipped, CC0), each as a person who names an airport.
"""

from fractions import Fraction

import numpy as np

from mixtally.accounting.accountant import Accountant, Record
from mixtally.lab.data.flights import flights
from mixtally.lab.formulas import notes
from mixtally.lab.simulation.lab import Lab
from mixtally.lab.simulation.plan_choice import choose_plan
from mixtally.lab.simulation.run import simulate_release
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.model.contract import Plan
from mixtally.model.guarantee import Guarantee
from mixtally.model.mechanism import Parameter
from mixtally.planning import PlanRequest
from mixtally.primitives.fixed_point import threshold_of

PROMISE = Guarantee(epsilon=1.0, delta=1e-6)
FEW = 3_000
"""Fakes of the whole crowd: two in three of those that records in clear would need."""
WAYS = (
    ("5.1", "clear-uniform", None),
    ("5.2", "flip-uniform", FEW),
    ("5.2", "flip", 0),
    ("5.3", "flip-blank", FEW),
    ("5.3", "flip-blank", None),
)
"""Section, protocol, and how many fakes there are; at most one a person where that is None."""


def published(section: str, plan: Plan) -> str:
    """What the Notes' formula asks for, and what that would promise."""
    epsilon, delta = PROMISE.epsilon, PROMISE.delta
    users, fakes = plan.users, plan.fakes
    (part,) = plan.parts
    if section == "5.1":
        asked = round(notes.clear_uniform(epsilon, delta, part.bins))
        return f"(5.10) asks for {asked:,} fakes, {asked / fakes:.1f} times as many"
    if section == "5.2":
        flip = notes.flip(epsilon, delta, users, fakes)
        among = part.mechanism(fakes=fakes, crowd=plan.crowd)
        asked = Record.of(among.with_parameter(Parameter.FLIP, threshold_of(flip)))
        true = Accountant().certificate(asked, epsilon)
        left = f"{true.upper:.2g} by these fakes" if fakes else f"at least {true.lower:.2g}"
        return f"(5.16) asks for q = {flip:.2g}, which leaves a delta of {left}"
    flip, own = notes.flip_blank(epsilon, delta, fakes), share(plan)
    return f"(5.26) asks for q = {flip:.2g}, {flip / own:.1f} times as much"


def share(plan: Plan) -> float:
    """The chance that a bit is flipped."""
    return (plan.parts[0].threshold or 0) / 2**64


def main() -> None:
    """Play every histogram and compare the error seen with the one that was predicted."""
    crowd = flights()
    print(f"{crowd.users:,} people, {crowd.question.bins} airports, epsilon 1, delta 1e-6")
    for section, protocol, fakes in WAYS:
        budget = 2 if fakes is None else 1 + Fraction(fakes, crowd.users)
        wish = PlanRequest(
            question=crowd.question, guarantee=PROMISE, users=crowd.users, protocol=protocol,
            messages_per_user=budget,
        )  # fmt: skip
        plan, _ = choose_plan(wish)
        found = simulate_release(plan, crowd, Lab(SeededChance(1))).result.estimate
        seen = float(np.sqrt(np.mean((found.counts - crowd.truth) ** 2)))
        held = np.mean(
            (found.individual.lower <= crowd.truth) & (crowd.truth <= found.individual.upper)
        )
        flip = share(plan)
        print(
            f"\n{section} {protocol}: {plan.fakes:,} fakes, q = {flip:.3g}\n"
            f"  error {plan.standard_error:.2f} predicted, {seen:.2f} seen in "
            f"{crowd.question.bins} counts, {100 * held:.0f} % of intervals hold\n"
            f"  {published(section, plan)}"
        )
        for i in np.argsort(-found.counts)[:3].tolist():
            print(f"  {crowd.question.label(i)} {found.counts[i]:10,.1f}   true {crowd.truth[i]:,}")


if __name__ == "__main__":
    main()
