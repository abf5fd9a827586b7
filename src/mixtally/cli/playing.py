"""Simulation of a crowd with progress bars, followed by the display of its result."""

from collections.abc import Callable, Iterable

from mixtally.app.outcome import Outcome, Run
from mixtally.cli import options as o
from mixtally.cli.display import show
from mixtally.cli.progress import progress_bars
from mixtally.lab.simulation.lab import Lab


def play(
    options: o.RunOptions,
    source: str,
    use: Callable[[Run], Outcome],
    also_written: Iterable[str] = (),
) -> None:
    """Simulate a crowd and show the outcome.

    ``source`` is a sentence about the origin of the data; other written files are listed last.
    """
    with progress_bars() as progress:
        outcome = use(options.make_run(Lab(o.make_chance(options.seed), progress), source))
    show(
        outcome,
        options.out,
        json=options.json,
        out_format=options.out_format,
        also_written=also_written,
    )
