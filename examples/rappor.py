"""Destinations asked every week of people who trust nobody, with the two levels of RAPPOR.

A sample of the flights that come with the package is the crowd. Every person hashes their airport
into a Bloom filter and derives one randomized response from their own key. They report from this
response every week. The collector counts candidate airports by regression. Then the collector acts
as an attacker and averages the reports of one person.

Look at the last table: averaging finds the memoized bit, but never the true bit.

Run it: python examples/rappor.py [folder for the keys] [--seed 1]
"""

import argparse
import tempfile
from pathlib import Path

from mixtally.accounting.divergence.memoized import loss
from mixtally.lab.data.flights import flights
from mixtally.lab.memoization import MemoizedDevice, device_key
from mixtally.lab.simulation.memoized.crowd import measure_recovery, memoize_crowd, play_reports
from mixtally.lab.simulation.seeded import build_chance
from mixtally.model.memoized_plan import hashed_question, make_memoized_plan
from mixtally.primitives.chance import Chance
from mixtally.protocol.encode.bloom import build_design
from mixtally.protocol.estimate.memoized import recovery
from mixtally.protocol.estimate.words import estimate_words

BITS, HASHES, COHORTS = 64, 2, 16
PERMANENT, P, Q = 0.25, 0.35, 0.65
WEEKS = 8
EVERY = 6
"""One flight in six is a person, which gives a crowd of 56,130."""
MADE_UP = ("XXA", "XXB", "XXC")
"""Candidates that no person has, so none of them should be found."""


def main(folder: Path, chance: Chance) -> None:
    """Simulate the crowd and one person, and print the results and the privacy loss."""
    plan = make_memoized_plan(hashed_question("airport", BITS, HASHES), PERMANENT, P, Q, COHORTS)

    # One person, with a key of their own.
    ann = MemoizedDevice(plan, device_key(folder / "ann.key", plan, chance).key)
    cohort, bits = ann.report("SEA", chance)
    print(f"Ann flies to SEA and says: cohort {cohort}, bits {bits.hex()}")
    print(
        f"Next week she says:        cohort {cohort}, bits {ann.report('SEA', chance).bits.hex()}"
    )

    # The crowd, whose responses one key gives.
    population = flights()
    names, codes = population.question.labels or (), population.codes[::EVERY]
    values = [names[code] for code in codes.tolist()]
    key = device_key(folder / "crowd.key", plan, chance).key
    crowd = memoize_crowd(plan, values, codes, key, chance, derived=True)
    ones = play_reports(crowd, WEEKS, chance)

    # The collector: candidates, most of them real, and how many people named each.
    candidates = (*names, *MADE_UP)
    table = build_design(plan, candidates)
    found = estimate_words(plan.mechanism, ones.mean(axis=1), crowd.sizes, table, WEEKS)
    print(f"\n{len(values):,} people, {WEEKS} weeks, their memoized answers by one key")
    print("airport  estimate       95 % interval    truth")
    for i in (-found.counts).argsort()[:12].tolist():
        truth = values.count(candidates[i])
        low, high = found.individual.lower[i], found.individual.upper[i]
        print(f"{candidates[i]:7} {found.counts[i]:9,.0f}   {low:8,} .. {high:<8,} {truth:8,}")
    real = sum(bool(seen) for seen in found.found[: len(names)])
    false = sum(bool(seen) for seen in found.found[len(names) :])
    print(f"significant: {real} of {len(names)} airports, {false} of {len(MADE_UP)} made-up ones")

    # What it costs, and what averaging the reports of one person tells.
    most = loss(plan.mechanism, WEEKS)
    print(f"\nepsilon: {most.eps_1:.3f} for one week, {most.eps_T:.3f} for {WEEKS}, ", end="")
    print(f"{most.eps_inf:.3f} for ever")
    print("weeks averaged   kept bit wrong (measured)   true bit wrong (measured)")
    for weeks in (1, 8, 50, 400):
        exact, seen = recovery(plan.mechanism, weeks), measure_recovery(crowd, weeks, chance)
        print(
            f"{weeks:14} {exact.memoized:12.3f} ({seen.memoized:.3f}) {exact.true:19.3f} "
            f"({seen.true:.3f})"
        )
    print(f"The true bit stays hidden: never below f/2 = {plan.mechanism.f / 2:.3f}.")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, help="where the keys are kept")
    parser.add_argument("--seed", type=int, help="repeatable randomness")
    asked = parser.parse_args()
    if asked.folder:
        asked.folder.mkdir(parents=True, exist_ok=True)
        main(asked.folder, build_chance(asked.seed))
    else:
        with tempfile.TemporaryDirectory() as made:
            main(Path(made), build_chance(asked.seed))
