"""Hidden rows of a workbook, and cells whose formula failed."""

import pytest
import xlsxwriter

from mixtally.lab.data.formats import workbook_warnings


@pytest.fixture
def workbook(tmp_path):
    """Makes one of ten people, of whom some rows are hidden, behind another sheet."""

    def make(hidden=(), errors=()):
        path = tmp_path / "book.xlsx"
        with xlsxwriter.Workbook(path) as book:
            book.add_worksheet("cover").write(0, 0, "nothing")
            sheet = book.add_worksheet("answers & more")
            sheet.write(0, 0, "answer")
            for row in range(1, 11):
                sheet.write(row, 0, ("yes", "no")[row % 2])
            for row in hidden:
                sheet.set_row(row, None, None, {"hidden": True})
            for row in errors:
                sheet.write_formula(row, 0, "=NA()", None, "#N/A")
        return path

    return make


@pytest.fixture
def warned(cli):
    def run(path, *more):
        outcome = cli(
            "simulate", path, "--sheet", "answers & more", "--column", "answer",
            "--epsilon", 5, "--delta", 0.01, *more,
        )  # fmt: skip
        assert outcome.status == 0
        return outcome.err

    return run


def test_hidden_rows_are_said(workbook, warned):
    assert "3 hidden rows of sheet 'answers & more' are read as people" in warned(
        workbook((2, 5, 9))
    )
    assert "hidden" not in warned(workbook())


def test_hidden_rows_above_the_people_are_nobody(workbook, warned):
    assert "1 hidden rows" in warned(workbook((1, 2, 5)), "--skip-rows", 2)


def test_cells_whose_formula_failed_are_said(workbook, warned):
    assert "2 cells with an error" in warned(workbook(errors=(3, 4)), "--missing", "drop")


@pytest.mark.parametrize("at_once", [1, 7, 1 << 20])
def test_what_says_so_is_found_wherever_bytes_are_cut(workbook, monkeypatch, at_once):
    monkeypatch.setattr(workbook_warnings, "_AT_ONCE", at_once)
    assert "1 hidden rows" in workbook_warnings.describe_unseen(
        str(workbook((5,))), "answers & more", 1, {}
    )
    assert workbook_warnings.describe_unseen(str(workbook()), "answers & more", 1, {}) == ""


@pytest.mark.parametrize("shown", ["0%", "0.00%", "[Red]0.0 %"])
def test_numbers_that_are_shown_as_percent_are_named(cli, tmp_path, shown):
    path = tmp_path / "book.xlsx"
    with xlsxwriter.Workbook(path) as book:
        percent, sheet = book.add_format({"num_format": shown}), book.add_worksheet()
        sheet.write_row(0, 0, ["share", "plain"])
        for row in range(1, 601):
            sheet.write(row, 0, (row % 100) / 100, percent)
            sheet.write(row, 1, row % 100)
    asked = ("--number", "0,100", "--bins", 5, "--epsilon", 4, "--delta", 1e-6, "--json")
    warned = cli("simulate", path, "--column", "share", *asked).err
    assert "600 cells of column 'share' are shown as percentages and read as fractions" in warned
    assert cli("simulate", path, "--column", "plain", *asked).err == ""
