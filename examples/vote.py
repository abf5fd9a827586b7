"""A real electorate, counted twice: by randomized ballots without mixes, and through mixes.

944 people answered the American National Election Study of 1996 (part of statsmodels, in the public
domain): whom they expected to vote for, and which party they feel close to. Each of them is a voter
here. Run it from the root of the repository:

    .venv/bin/python examples/vote.py
    .venv/bin/python examples/vote.py --seed 1 --epsilon 2 --out vote-pages

The program prints both votes in both versions. With --out it writes a page for each. Outside the
repository: pip install 'mixtally[examples]'.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
from rich.console import Console
from statsmodels.datasets import anes96

from mixtally.app.options import build_options
from mixtally.app.outcome import Run
from mixtally.app.simulate import SimulateOptions, simulate
from mixtally.errors import MixtallyError
from mixtally.lab.data.population import Population
from mixtally.lab.simulation.lab import Lab
from mixtally.lab.simulation.seeded import build_chance
from mixtally.lab.simulation.study import Study
from mixtally.lab.simulation.study_document import document
from mixtally.model.question import Question
from mixtally.primitives.chance import Chance
from mixtally.report.page import page
from mixtally.report.terminal import opening_lines, render_summary

QUESTIONS = {
    "vote": ("Clinton", "Dole"),
    "PID": (
        "strong Democrat",
        "weak Democrat",
        "independent Democrat",
        "independent",
        "independent Republican",
        "weak Republican",
        "strong Republican",
    ),
}
"""Columns of the study, with the labels of their numbers 0, 1, 2.."""
NAMES = {"vote": "vote, 1996", "PID": "party, 1996"}


def electorate(column: str) -> Population:
    """Return everyone's answer in ``column``."""
    answers = anes96.load_pandas().data[column].to_numpy().astype(np.int64)
    labels = QUESTIONS[column]
    return Population(Question(name=NAMES[column], bins=len(labels), labels=labels), answers)


def held(population: Population, asked: SimulateOptions, chance: Chance, seed: int | None) -> Study:
    """Return the study of a vote in both versions at the same epsilon."""
    source = (
        f"{population.users} people of the American National Election Study 1996, each played as a "
        "voter. They are a sample: its error comes on top of the one shown."
    )
    return simulate(asked, population, Run(lab=Lab(chance), source=source, seed=seed)).study()


def main() -> None:
    """Simulate both columns."""
    asked = argparse.ArgumentParser(description="A real electorate, counted twice.")
    asked.add_argument("--epsilon", type=float, default=1.0)
    asked.add_argument("--delta", type=float, default=1e-6)
    asked.add_argument("--seed", type=int, default=None)
    asked.add_argument("--out", type=Path, default=None, help="write a page for each vote here")
    given = asked.parse_args()
    chance = build_chance(given.seed)
    try:
        promise = {"epsilon": given.epsilon, "delta": given.delta}
        asked_for = build_options(SimulateOptions, {"winner": True, **promise})
        votes = {c: held(electorate(c), asked_for, chance, given.seed) for c in QUESTIONS}
    except MixtallyError as error:
        sys.exit(f"vote.py: {error}")
    console = Console()
    for column, study in votes.items():
        shown = document(study, 20)
        for line in opening_lines(shown):
            console.print(line, markup=False, highlight=False)
        console.print(render_summary(shown))
        if given.out is not None:
            given.out.mkdir(parents=True, exist_ok=True)
            path = given.out / f"{column.lower()}.html"
            path.write_text(page(shown), encoding="utf-8")
            console.print(f"wrote {path}", markup=False, highlight=False, soft_wrap=True)


if __name__ == "__main__":
    main()
