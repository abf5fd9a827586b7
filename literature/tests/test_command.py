"""``python -m literature``: one document at a time, files whole, words in the table."""

import io
import json
import re
from functools import cache
from typing import NamedTuple

import pytest
from rich.console import Console

from literature import reproduce as compute
from literature.__main__ import main
from literature.document import document as shown
from mixtally.report.terminal import render_summary


class Outcome(NamedTuple):
    status: int
    out: str
    err: str


@pytest.fixture
def literature(capsys):
    """Runs the program: its status and what it prints."""

    def run(*arguments):
        status = main([str(one) for one in arguments])
        return Outcome(status, *capsys.readouterr())

    return run


@pytest.fixture
def refused(literature):
    """Runs it for what it cannot do: the one line of error."""

    def run(*arguments):
        outcome = literature(*arguments)
        assert (outcome.status, outcome.out) == (2, "")
        (line,) = outcome.err.splitlines()
        return line

    return run


def test_a_document_is_written_and_told(literature, tmp_path):
    out = tmp_path / "out"
    outcome = literature("--document", "002", "--out", out)
    assert (outcome.status, outcome.err.strip()) == (0, "")
    assert sorted(path.name for path in out.iterdir()) == ["report.html", "result.json"]
    for text in ("radius at 95 %", "1.15", "1.1509", "reproduces", "wrote "):
        assert text in outcome.out
    html = (out / "report.html").read_text()
    assert html.startswith("<!doctype html>")
    assert "Side Notes on Differential Privacy" in html


def test_json_is_what_is_in_the_file(literature, tmp_path):
    out = tmp_path / "out"
    outcome = literature("--document", "003", "--out", out, "--json")
    assert outcome.status == 0
    facts = json.loads(outcome.out)
    assert facts == json.loads((out / "result.json").read_text())
    assert set(facts["documents"]) == {"001", "003"}
    assert facts["words"]["false"] > 0
    (gain,) = [f for f in facts["findings"] if f["what"] == "gain in precision"]
    assert (gain["printed"], gain["word"]) == (10.0, "differs")
    assert gain["computed"] == pytest.approx(14.9, abs=0.05)
    assert {row["word"] for row in facts["verdicts"]} >= {"holds", "false", "differs"}


def test_a_document_without_charts_is_told_by_itself(literature, tmp_path):
    out = tmp_path / "out"
    outcome = literature("--document", "001", "--out", out)
    assert (outcome.status, outcome.err.strip()) == (0, "")
    assert "001: Zhilyaev, Zeber: K-Randomization (2016)" in outcome.out
    assert "lemma 4.3" in outcome.out
    assert list(json.loads((out / "result.json").read_text())["documents"]) == ["001"]


@cache
def computed(document):
    """Everything about one document, once for all widths."""
    return compute(document)


def columns_of(text, name):
    """Return the text of the column ``name`` by row; a row may continue on several lines."""
    head, _, *lines = text.splitlines()
    at = [cell.strip() for cell in head.split("┃")].index(name)
    rows: list[str] = []
    for line in lines:
        cells = [cell.strip() for cell in line.split("│")]
        if cells[-1]:
            rows.append("")
        rows[-1] += cells[at]
    return rows


@pytest.mark.parametrize("width", [80, 100, 200])
@pytest.mark.parametrize("document", ["000", "003"])
def test_everything_is_said_at_eighty_columns(document, width):
    """Every finding is shown whole with its number, in lines no longer than the screen."""
    found = computed(document)
    screen = io.StringIO()
    Console(file=screen, width=width).print(render_summary(shown(found)))
    text = screen.getvalue()
    assert "\N{HORIZONTAL ELLIPSIS}" not in text
    assert max(map(len, text.splitlines())) <= width
    for name in {one.document for one in found.findings}:
        (table,) = [
            part.partition("\n")[2].strip("\n")
            for part in re.split(r"^(?=\d{3}: )", text, flags=re.MULTILINE)
            if part.startswith(name)
        ]
        have = [one for one in found.findings if one.document == name]
        for column, said in (
            ("what", [one.what for one in have]),
            ("place", [one.place for one in have]),
            ("computed", [f"{one.computed_text()} {one.unit}" for one in have]),
            ("word", [one.word for one in have]),
        ):
            if "┃" not in table.splitlines()[0]:  # rows of several lines: every word is there
                assert {*" ".join(said).split()} <= {*table.split()}
                continue
            rows = columns_of(table, column)
            assert [row.replace(" ", "") for row in rows] == [one.replace(" ", "") for one in said]


def test_an_unknown_document_is_refused_and_nothing_is_written(refused, tmp_path):
    line = refused("--document", "999", "--out", tmp_path / "out")
    assert "document" in line
    assert not (tmp_path / "out").exists()


def test_a_disk_that_refuses_is_told_in_one_line(refused, tmp_path):
    place = tmp_path / "file"
    place.write_text("in the way")
    refused("--document", "002", "--out", place)
    assert place.read_text() == "in the way"


@pytest.mark.slow
def test_all_documents(literature, tmp_path):
    outcome = literature("--out", tmp_path / "out", "--json")
    assert outcome.status == 0
    assert set(json.loads(outcome.out)["documents"]) == {"000", "001", "002", "003", "004"}
