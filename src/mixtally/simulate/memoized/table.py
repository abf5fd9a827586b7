"""What was counted out of memoized answers, on a terminal."""

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from mixtally.simulate.memoized.export import ranked
from mixtally.simulate.memoized.losses import Facts


def counts_table(facts: Facts, top: int) -> RenderableType:
    """The ``top`` largest estimates beside the truth."""
    level = f"{100 * facts['confidence_level']:g} % interval"
    table = Table(title=Text(facts["title"]), title_justify="left")
    table.add_column(Text(facts["column"]))
    for heading in ("estimate", level, f"{level}, all", "truth", "error"):
        table.add_column(heading, justify="right")
    for row in ranked(facts)[:top]:
        if row["standard_error"] is None:
            table.add_row(Text(row["label"]), "not chosen", "", "", f"{row['truth']:,}", "")
            continue
        held = row["lower"] <= row["truth"] <= row["upper"]
        error = f"{row['estimate'] - row['truth']:+,.1f}"
        table.add_row(
            Text(row["label"]),
            f"{row['estimate']:,.1f}",
            f"{row['lower']:,} .. {row['upper']:,}",
            f"{row['lower_all']:,} .. {row['upper_all']:,}",
            f"{row['truth']:,}",
            Text(error, style="" if held else "yellow"),
        )
    return table
