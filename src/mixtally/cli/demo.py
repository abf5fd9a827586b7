"""``mixtally demo``: the whole flow on real data that ships with the package."""

from pathlib import Path
from typing import Annotated

from mixtally.cli import options as o
from mixtally.cli.output import progress_bars, show
from mixtally.cli.plan_files import plan_files


def demo(
    epsilon: o.Epsilon = 1.0,
    delta: o.Delta = 1e-6,
    level: o.Level = 0.95,
    seed: o.Seed = None,
    out: Annotated[Path, o.folder_option("Where the report goes.")] = Path("mixtally-demo"),
    top: o.Top = 12,
    json: o.Json = False,
) -> None:
    """Count real flights privately.

    Where did 336,776 flights out of New York go? Without knowing about any one of them.
    """
    from mixtally.records.guarantee import Guarantee
    from mixtally.simulate.demo import demo as play_demo
    from mixtally.simulate.study_document import document

    guarantee = Guarantee(epsilon=epsilon, delta=delta)
    with progress_bars() as progress:
        study = play_demo(guarantee, lambda: o.chance(seed), progress, seed=seed, level=level)
    show(document(study, top), out, json=json, more=plan_files(study))
