"""Draw the picture of the README: the demo's counts with their intervals.

    .venv/bin/python scripts/make_picture.py

Writes docs/demo.svg from the demo with seed 2013.
"""

from pathlib import Path

from mixtally.lab.demo import demo
from mixtally.lab.seeded import SeededChance
from mixtally.records.guarantee import Guarantee
from mixtally.report.charts import bins_chart
from mixtally.report.style import STYLE
from mixtally.report.svg import Markup

TARGET = Path(__file__).parents[1] / "docs/demo.svg"
SEED = 2013


def main() -> None:
    study = demo(
        Guarantee(epsilon=1.0, delta=1e-6), lambda: SeededChance(SEED), lambda *_: None, seed=SEED
    )
    chart = bins_chart(study, 14)
    start = chart.index(">") + 1
    paper = "<rect width='100%' height='100%' fill='var(--paper)'/>"
    style = f"<style>{STYLE} svg{{font-family:sans-serif}}</style>"
    TARGET.write_text(Markup(chart[:start] + style + paper + chart[start:]) + "\n")


if __name__ == "__main__":
    main()
