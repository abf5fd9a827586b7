"""``mixtally demo``: all steps of a collection on real data that the package contains."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from mixtally.app.outcome import Outcome, Run, outcome_of_study
from mixtally.cli import options as o
from mixtally.cli.option_groups import with_option_groups
from mixtally.cli.playing import play
from mixtally.lab.simulation.demo import simulate_demo as play_demo
from mixtally.model.guarantee import Guarantee
from mixtally.protocol.estimate.analysis import Analysis


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoRun(o.RunOptions):
    """How the flights are simulated; the report is always written."""

    out: Annotated[Path | None, o.folder_option("Where the report goes.")] = Path("mixtally-demo")
    top: o.Top = 12


@with_option_groups
def demo(epsilon: o.Epsilon = 1.0, delta: o.Delta = 1e-6, *, run: DemoRun) -> None:
    """Count real flights privately.

    Counts the destinations of 336,776 flights from New York. Epsilon and delta limit what is
    learned about any one flight.
    """
    guarantee = Guarantee(epsilon=epsilon, delta=delta)

    def flights(made: Run) -> Outcome:
        study = play_demo(guarantee, made.lab, Analysis(level=made.level), seed=made.seed)
        return outcome_of_study(study, made.top, ())

    play(run, "", flights)
