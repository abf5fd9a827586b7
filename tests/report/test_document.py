"""A document makes what is asked for and nothing else."""

import io

import pytest
from rich.console import Console

from mixtally.report.document import Document, Section, Table, Text
from mixtally.report.page import page
from mixtally.report.terminal import printed
from mixtally.report.texts import files


class AskedError(Exception):
    """Somebody asked for what was not wanted."""


def refused():
    raise AskedError


def shown(**parts):
    given = dict.fromkeys(("sections", "summary", "facts", "tables"), refused)
    return Document(title="T", source="S", **(given | parts))


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
