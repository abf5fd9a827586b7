"""``mixtally demo``: the whole flow on real data that ships with the package."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from mixtally.app.study import outcome
from mixtally.cli import options as o
from mixtally.cli.grouped import grouped
from mixtally.cli.progress import progress_bars
from mixtally.cli.screen import show
from mixtally.estimate.analysis import Analysis
from mixtally.records.guarantee import Guarantee
from mixtally.simulation.demo import demo as play_demo
from mixtally.simulation.lab import Lab


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoRun(o.RunOptions):
    """How the flights are played; the report always goes somewhere."""

    out: Annotated[Path | None, o.folder_option("Where the report goes.")] = Path("mixtally-demo")
    top: o.Top = 12


@grouped
def demo(epsilon: o.Epsilon = 1.0, delta: o.Delta = 1e-6, *, run: DemoRun) -> None:
    """Count real flights privately.

    Where did 336,776 flights out of New York go? Of any one of them no more is learned than epsilon
    and delta allow.
    """
    guarantee, seed = Guarantee(epsilon=epsilon, delta=delta), run.seed
    with progress_bars() as progress:
        lab = Lab(o.chance(seed), progress)
        study = play_demo(guarantee, lab, Analysis(level=run.level), seed=seed)
    show(outcome(study, run.top, ()), run.out, json=run.json)
