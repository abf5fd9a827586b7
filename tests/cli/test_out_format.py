"""``--out-format csv-semicolon``: tables that spreadsheets with decimal commas open as they are."""

import csv
import io

import pytest

import mixtally
from mixtally.errors import ParameterError
from mixtally.report.document import Batches
from mixtally.report.texts import FORMATS, csv_chunks, csv_text

MARK = "\ufeff"
GIVEN = ("--column", "drink", "--epsilon", 1, "--delta", "1e-6")
LABELS = ["tea; black", "coffee, white", "=1+1", "0.5"]
SEMICOLON = FORMATS["csv-semicolon"]


@pytest.fixture
def data(tmp_path):
    """Twelve hundred people, and labels that delimiters, formulas and decimals could garble."""
    lines = [f'"{LABELS[i % 4]}",{1 + i // 600}' for i in range(1200)]
    path = tmp_path / "data.csv"
    path.write_text("\n".join(["drink,epoch", *lines]) + "\n")
    (tmp_path / "labels.txt").write_text("\n".join(LABELS) + "\n")
    return path


def opened(text):
    """Rows as a spreadsheet with decimal commas reads them: by name, numbers where they are."""
    assert text.startswith(MARK)
    lines = text.removeprefix(MARK).splitlines(keepends=True)
    kept = "".join(line for line in lines if not line.startswith("#"))
    return list(csv.DictReader(io.StringIO(kept, newline=""), delimiter=";", strict=True))


def number(text):
    """Return the number that a spreadsheet with decimal commas reads."""
    assert "." not in text
    return float(text.replace(",", "."))


def test_every_table_has_semicolons_decimal_commas_and_a_byte_order_mark(cli, data, tmp_path):
    labels, groups, out = data.parent / "labels.txt", tmp_path / "groups.csv", tmp_path / "out"
    groups.write_text('label,group\n"tea; black",hot\n"coffee, white",hot\n')
    more = ("--labels", labels, "--total", groups, "--shares", "--out", out)
    found = cli("simulate", data, *GIVEN, *more, "--out-format", "csv-semicolon")
    assert (found.status, found.err) == (0, "")
    for folder in (out, out / "simulation"):
        rows = opened((folder / "estimates.csv").read_text())
        assert [row["label"] for row in rows] == [*LABELS[:2], "'=1+1", "0,5"]
        for row in rows:
            assert 200 < number(row["estimate"]) < 400
            assert number(row["share"]) == number(row["estimate"]) / 1200
            assert int(row["lower"]) <= number(row["estimate"]) <= int(row["upper"])
        (total,) = opened((folder / "totals.csv").read_text())
        assert number(total["estimate"]) > 500
    assert (out / "plan.json").read_bytes()[:1] == b"{"


def test_tables_in_batches_are_written_alike(cli, data, tmp_path):
    out = tmp_path / "out"
    more = ("--epoch-column", "epoch", "--counts-only", "--labels", data.parent / "labels.txt")
    more = (*more, "--messages-per-user", 5, "--out", out, "--out-format", "csv-semicolon")
    found = cli("simulate epochs", data, *GIVEN, *more)
    assert found.status == 0, found.err
    tables = sorted(out.rglob("*.csv"))
    assert tables
    for table in tables:
        for row in opened(table.read_text()):
            assert number(row["standard_error"]) > 0


def test_batches_and_rows_give_one_text():
    labels = ["a;b", "=1", "-1.5"]
    batch = ["one; two", [0, 1, 2], labels, [0.5, None, -1e-9], None, [True, False, True], 2.5]
    table = Batches(("epoch", "bin", "label", "x", "none", "sure", "y"), lambda: iter([batch] * 2))
    text = csv_text(table.rows, table.names, SEMICOLON)
    assert "".join(csv_chunks(table, written=SEMICOLON)) == text
    assert text.splitlines()[1:3] == [
        '"one; two";0;"a;b";0,5;;True;2,5',
        '"one; two";1;\'=1;;;False;2,5',
    ]


def test_formats_that_there_are_not_are_refused(cli, data, tmp_path):
    found = cli("simulate", data, *GIVEN, "--out-format", "xls", "--out", tmp_path / "out")
    assert found.status == 2
    assert "csv-semicolon" in found.err
    assert not (tmp_path / "out").exists()
    result = mixtally.simulate(["tea", "coffee"] * 600, epsilon=1, delta=1e-6, seed=1)
    with pytest.raises(ParameterError, match="csv-semicolon"):
        result.save(tmp_path / "out", out_format="xls")
    with pytest.raises(ParameterError, match="csv-semicolon"):
        mixtally.simulate(["tea", "coffee"] * 600, winner=True, epsilon=1, delta=1e-6, seed=1).save(
            tmp_path / "out", out_format="xls"
        )
    assert not (tmp_path / "out").exists()


def test_python_writes_the_same_format(tmp_path):
    labels = ["tea", "coffee"]
    result = mixtally.simulate(["tea", "coffee"] * 600, labels=labels, epsilon=1, delta=1e-6)
    result.save(tmp_path, simulation=True, out_format="csv-semicolon")
    for name in ("estimates.csv", "simulation/estimates.csv"):
        rows = opened((tmp_path / name).read_text())
        assert [number(row["estimate"]) for row in rows] == [row.estimate for row in result.rows]
