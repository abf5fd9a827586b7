"""A crowd that is played, with bars meanwhile, and what came of it shown."""

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
    beside: Iterable[str] = (),
) -> None:
    """Play a crowd that comes from ``source``, and show what came of it; ``beside`` as ``show``."""
    with progress_bars() as progress:
        outcome = use(options.make_run(Lab(o.make_chance(options.seed), progress), source))
    show(outcome, options.out, json=options.json, out_format=options.out_format, beside=beside)
