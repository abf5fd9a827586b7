"""``mixtally reproduce``: one document at a time, files whole, words in the table."""

import json

import pytest

from mixtally.cli.app import app
from mixtally.cli.reproduce import reproduce


@pytest.fixture(autouse=True)
def registered():
    """The command, also where the program does not know it yet."""
    known = {one.callback for one in app.registered_commands}
    if reproduce not in known:
        app.command()(reproduce)
    before = [one for one in app.registered_commands if one.callback in known]
    yield
    app.registered_commands[:] = before


def test_a_document_is_written_and_told(cli, tmp_path):
    out = tmp_path / "out"
    outcome = cli("reproduce", "--document", "002", "--out", out)
    assert (outcome.status, outcome.err.strip()) == (0, "")
    assert sorted(path.name for path in out.iterdir()) == ["report.html", "report.json"]
    for text in ("radius at 95 %", "1.15", "1.1509", "reproduces", "wrote "):
        assert text in outcome.out
    html = (out / "report.html").read_text()
    assert html.startswith("<!doctype html>")
    assert "Side Notes on Differential Privacy" in html


def test_json_is_what_is_in_the_file(cli, tmp_path):
    out = tmp_path / "out"
    outcome = cli("reproduce", "--document", "003", "--out", out, "--json")
    assert outcome.status == 0
    facts = json.loads(outcome.out)
    assert facts == json.loads((out / "report.json").read_text())
    assert set(facts["documents"]) == {"001", "003"}
    assert facts["words"]["false"] > 0
    (gain,) = [f for f in facts["findings"] if f["what"] == "gain in precision"]
    assert (gain["printed"], gain["word"]) == (10.0, "differs")
    assert gain["computed"] == pytest.approx(14.9, abs=0.05)
    assert {row["word"] for row in facts["verdicts"]} >= {"holds", "false", "differs"}


def test_an_unknown_document_is_refused_and_nothing_is_written(refused, tmp_path):
    line = refused("reproduce", "--document", "999", "--out", tmp_path / "out")
    assert "document" in line
    assert not (tmp_path / "out").exists()


def test_a_disk_that_refuses_is_told_in_one_line(refused, tmp_path):
    place = tmp_path / "file"
    place.write_text("in the way")
    refused("reproduce", "--document", "002", "--out", place)
    assert place.read_text() == "in the way"


@pytest.mark.slow
def test_all_documents(cli, tmp_path):
    outcome = cli("reproduce", "--out", tmp_path / "out", "--json")
    assert outcome.status == 0
    assert set(json.loads(outcome.out)["documents"]) == {"000", "001", "002", "003", "004"}
