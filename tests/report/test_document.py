"""A document makes what is asked for and nothing else."""

import io
import json

import pytest
from rich.console import Console

from mixtally.report.document import Document, Rows, Section, Table, Text
from mixtally.report.page import page
from mixtally.report.terminal import opening, printed
from mixtally.report.texts import files

PROMISE = ("Hidden: it.", "epsilon = 1.", "Error to expect: 2.")


class AskedError(Exception):
    """Somebody asked for what was not wanted."""


def refused():
    raise AskedError


def shown(**parts):
    given = dict.fromkeys(("sections", "summary", "facts", "tables"), refused)
    return Document(title="T", source="S", promise=PROMISE, **(given | parts))


def test_a_terminal_makes_the_summary_alone():
    out = io.StringIO()
    table = Table(("name", "count"), [("a", "1")])
    Console(file=out).print(printed(shown(summary=lambda: (table, Text("Said.")))))
    assert "Said." in out.getvalue()
    with pytest.raises(AskedError):
        printed(shown())


def test_a_page_makes_its_sections_alone():
    assert "Inside" in page(shown(sections=lambda: (Section("Inside", (Text("x"),)),)))
    with pytest.raises(AskedError):
        page(shown())


def test_files_need_no_summary():
    made = files(shown(sections=lambda: (), facts=lambda: {"a": 1}, tables=dict))
    assert list(made) == ["report.html", "result.json"]


WHOLE = {
    "sections": lambda: (),
    "facts": lambda: {"a": 1},
    "tables": lambda: {"rows.csv": Rows([{"b": 2}])},
}


def test_everything_begins_with_the_promise():
    made = shown(**WHOLE)
    assert opening(made) == list(PROMISE)
    assert list(json.loads(files(made)["result.json"])) == ["promise", "a"]
    text = files(made)["report.html"]
    places = [text.index(line) for line in (*PROMISE, 'class="source"')]
    assert places == sorted(places)


def test_a_rehearsal_says_first_that_it_holds_raw_counts():
    made = files(shown(**WHOLE, rehearsal=True))
    for text in made.values():
        first = text.splitlines()[1 if text.startswith("{") else 0]
        assert "rehearsal" in first
        assert "holds raw counts" in first
    assert made["rows.csv"].splitlines()[1:] == ["b", "2"]
    assert made["report.html"].index('class="raw"') < made["report.html"].index("<h1>")
    assert not any("raw counts" in text for text in files(shown(**WHOLE)).values())
