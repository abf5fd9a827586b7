"""The destinations of flights from New York on a map of hexagons.

    .venv/bin/python examples/map.py            # edges of about 180 km (H3 resolution 2)
    .venv/bin/python examples/map.py --full     # edges of about 70 km (resolution 3)

Every flight is a person at its destination, with the privacy that epsilon states. The grid covers
the whole box, whether people are there or not. The program writes map.svg to the folder --out. Look
for shaded hexagons without people: there are none.
"""

import argparse
import csv
from pathlib import Path

import numpy as np

from mixtally.cli.output import publish
from mixtally.lab.data.flights import flights
from mixtally.lab.data.places import Box, HexagonGrid, build_grid
from mixtally.lab.data.population import Population
from mixtally.lab.simulation.lab import Lab
from mixtally.lab.simulation.run import simulate_release
from mixtally.lab.simulation.seeded import build_chance
from mixtally.model.guarantee import Guarantee
from mixtally.planning import PlanRequest, choose
from mixtally.report.hexmap import hexmap
from mixtally.report.numbers import at_most

HERE = Path(__file__).parent
LOWER_48 = Box(south=24.0, north=50.0, west=-125.0, east=-66.0)


def points() -> dict[str, tuple[float, float]]:
    """Return the latitude and longitude of every airport."""
    with (HERE / "airports.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {row["dest"]: (float(row["latitude"]), float(row["longitude"])) for row in rows}


def located(population: Population, place: HexagonGrid) -> Population:
    """Return the same people with the hexagon of their airport as their answer."""
    where = np.array([points()[label] for label in population.question.labels or ()])
    bins = np.array(place.bins_of(where[:, 0], where[:, 1]), dtype=np.int64)
    return Population(place.question("hexagon"), bins[population.codes])


def main() -> None:
    """Build the grid, plan, simulate, draw the map, and compare with the truth."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="finer hexagons")
    parser.add_argument("--seed", type=int, help="repeatable randomness")
    parser.add_argument("--out", type=Path, default=Path("out/map"), help="where map.svg goes")
    asked = parser.parse_args()
    chance = build_chance(asked.seed)

    place = build_grid(LOWER_48, 3 if asked.full else 2)
    crowd = located(flights(), place)
    users = len(crowd.codes)
    promised = Guarantee(epsilon=1.0, delta=1e-6)
    plan = choose(PlanRequest(question=crowd.question, guarantee=promised, users=users)).plan
    found = simulate_release(plan, crowd, Lab(chance)).result.estimate
    note = (
        f"Elsewhere (Alaska, Hawaii, Puerto Rico, Virgin Islands): {found.counts[-1]:,.0f}. "
        f"epsilon 1, delta <= {at_most(plan.certificate.upper)}, {plan.protocol}."
    )
    title = f"Where {users:,} flights from New York went in 2013"
    picture = hexmap(title, place.outlines(), place.cells, found, note)
    (path,) = publish(asked.out, {"map.svg": picture + "\n"})

    wrong = float(np.sqrt(np.mean((found.counts - crowd.truth) ** 2)))
    shown, held = found.simultaneous.lower > 0, crowd.truth > 0
    print(
        f"{crowd.question.bins:,} bins, {plan.protocol}, delta <= {at_most(plan.certificate.upper)}"
    )
    print(f"error of a bin: {found.standard_error:.1f} expected, {wrong:.1f} measured")
    print(f"{held.sum()} bins hold somebody, {shown.sum()} shown, {(shown & ~held).sum()} empty")
    print(f"wrote {path}")


if __name__ == "__main__":
    main()
