"""Print every benchmark in one table."""

from rich.console import Console
from rich.table import Table

from bench import accounting, flow, heavy, laws, open_words


def main() -> None:
    table = Table("what", "measured", "ratio", title="one run, medians", title_justify="left")
    for rows in (accounting.rows(), laws.rows(), flow.rows(), heavy.rows(), open_words.rows()):
        for row in rows:
            table.add_row(*row)
        table.add_section()
    Console(width=100).print(table)


if __name__ == "__main__":
    main()
