"""Print every benchmark in one table."""

from rich.console import Console
from rich.table import Table

from bench import accounting, divergences, flow, heavy, intake, open_words, places_and_sets, reading


def main() -> None:
    table = Table("what", "measured", "ratio", title="one run, medians", title_justify="left")
    parts = (accounting, divergences, flow, heavy, intake, open_words, places_and_sets, reading)
    for part in parts:
        for row in part.rows():
            table.add_row(*row)
        table.add_section()
    Console(width=100).print(table)


if __name__ == "__main__":
    main()
