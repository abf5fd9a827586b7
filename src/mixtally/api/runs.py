"""How Python plays a crowd: its seed and the level of its intervals.

This file is loaded by every simulation, so it imports none of them.
"""

from mixtally.api import checks
from mixtally.app.outcome import Run
from mixtally.lab.simulation.lab import Lab
from mixtally.lab.simulation.seeded import chance_of


def run_of(seed: object, level: object) -> Run:
    """Return how a crowd is played, before its source is known."""
    drawn = checks.maybe_whole("seed", seed)
    within = checks.number("level", level)
    return Run(lab=Lab(chance_of(drawn)), source="", seed=drawn, level=within)
