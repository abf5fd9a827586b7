"""Three kinds of fake users in one histogram, and a histogram without fake users.

The protocols are those of chapter 5 of the Notes (2020): records in clear, flipped records among
fakes that look like people, and flipped records among blank fakes. Each is simulated with the least
noise that keeps the guarantee, and compared with the noise of the formulas in the Notes.

Look at the predicted and the measured errors. They are smallest in clear. With few fakes, uniform
fakes hide flips better than blank ones. Look at the formulas too: (5.16) leaves a delta more than
20 times as large as stated, and without fakes it guarantees almost nothing.

Data: flights from New York City 2013 (included, CC0), each as a person who names an airport.
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
"""The fakes of the whole crowd: two thirds of those that records in clear would need."""
WAYS = (
    ("5.1", "clear-uniform", None),
    ("5.2", "flip-uniform", FEW),
    ("5.2", "flip", 0),
    ("5.3", "flip-blank", FEW),
    ("5.3", "flip-blank", None),
)
"""Section, protocol, and the number of fakes; None for at most one per person."""


def published(section: str, plan: Plan) -> str:
    """Return the noise of the formula in the Notes, and the delta that it leaves."""
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
    """Return the probability that a bit is flipped."""
    return (plan.parts[0].threshold or 0) / 2**64


def main() -> None:
    """Simulate every histogram and compare the measured error with the predicted one."""
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
