"""No command writes a CSV file in which a spreadsheet would compute a label."""

import contextlib
import csv
import shlex

import pytest

from cli.json_cases import lay_out
from helpers.spreadsheet_formulas import computed

LABELS = ("=1+1", "+2;=3", "@SUM(A1)", "-x")
QUICK = "simulate live.csv --column answer --epsilon 1 --delta 1e-6 --seed 1"
OTHERS = (
    "simulate live.csv --column likes --set ; --epsilon 4 --delta 1e-6 --pairs --seed 1",
    "simulate live.csv --columns answer,=more --as attributes --epsilon 2 --delta 1e-6 --seed 1",
    "simulate live.csv --columns =more,flag --as bits --epsilon 2 --delta 1e-6 --seed 1",
    "simulate memoized live.csv --column answer --reports 5 --epsilon 1 --seed 1",
    "simulate live.csv --column answer --candidates live.txt --epsilon 1 "
    "--delta 1e-6 --mix-fakes --seed 1",
    "plan --hops 3 --epsilon 1 --delta 1e-6 --users 1000 --labels live.txt --out t.json && "
    "contract new t.json --network network.toml --out c.json && "
    "simulate live.csv --column answer --contract c.json --seed 1",
    "plan --epsilon 1 --delta 1e-6 --users 1000 --labels live.txt --out plan.json && "
    "batch randomize live.csv --column answer --plan plan.json --out devices && "
    "batch mix devices --plan plan.json --out mixed && batch tally mixed --plan plan.json",
    "simulate live.csv --winner --column answer --epsilon 1 --delta 1e-6 --seed 1",
    "simulate baskets live.csv --column likes --set ; --epsilon 4 --delta 1e-6 --seed 1",
    "simulate epochs live.csv --column answer --synthetic 3 --epsilon 1 --delta 1e-6 --seed 1",
    "simulate words live.csv --column answer --epsilon 4 --delta 1e-6 --longest 8 --outside 3 "
    "--top 2 --seed 1",
)


def live(desk):
    """The usual files, and one whose answers and columns a spreadsheet would compute."""
    lay_out(desk)
    rows = [[LABELS[i % 4], "=a;@b" if i % 2 else "=a;-c", i % 2, i % 3 == 0] for i in range(1000)]
    with (desk / "live.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["answer", "likes", "=more", "flag"], *rows])
    (desk / "live.txt").write_text("\n".join(LABELS) + "\n")


def check(case, desk, cli):
    live(desk)
    with contextlib.chdir(desk):
        *before, last = case.split(" && ")
        for one in (*before, f"{last} --out out"):
            assert cli(*shlex.split(one.replace(" ; ", " ';' "))).status == 0
    written = list((desk / "out").rglob("*.csv"))
    assert written
    cells = [
        cell
        for path in written
        for row in csv.reader(path.read_text().splitlines(keepends=True))
        for cell in row
    ]
    assert any(cell.startswith("'") for cell in cells)
    assert not [cell for cell in cells if computed(cell)]


def test_no_label_of_a_simulation_is_computed(tmp_path, cli):
    check(QUICK, tmp_path, cli)


@pytest.mark.seconds
@pytest.mark.parametrize("case", OTHERS)
def test_nor_one_of_any_other_command(case, tmp_path, cli):
    check(case, tmp_path, cli)
