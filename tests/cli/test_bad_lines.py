"""Whatever an option is given: a result, or one line and status 2; never a traceback, no file."""

import shlex
from pathlib import Path

import pytest

from cli.bad_lines import CALLS, PLACES, PREPARED, SURVEY, lines, names

COMMANDS = [name for name in CALLS if list(lines(name))]


@pytest.fixture
def desk(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("survey.csv").write_text(SURVEY)
    Path("people.csv").write_text(PLACES)
    for call in PREPARED:
        assert cli(*shlex.split(call)).status == 0
    return tmp_path


def fault(cli, call, desk):
    """What is wrong with the end of a call; None for a result or a refusal in one line."""
    before = sorted(desk.rglob("*"))
    try:
        done = cli(*call)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    if done.status == 0:
        return None
    *_, line = done.err.splitlines() or [""]
    if done.status != 2 or not line.startswith("mixtally: ") or "expected" not in line:
        return f"status {done.status}: {done.err}"
    left = [str(path) for path in sorted(desk.rglob("*")) if path not in before]
    return f"left {left}" if left else None


def faults(cli, name, desk):
    found = ((call, fault(cli, call, desk)) for call in lines(name))
    return [(call, said) for call, said in found if said]


def test_every_command_is_tried():
    assert set(CALLS) == {name for name in names() if name != "example"}
    assert sum(len(list(lines(name))) for name in CALLS) > 1800


@pytest.mark.seconds
@pytest.mark.parametrize("name", COMMANDS)
def test_no_value_ends_in_a_traceback_or_half_a_file(cli, desk, name):
    assert faults(cli, name, desk) == []


@pytest.mark.parametrize("error", [ValueError("no"), OverflowError("large")])
def test_a_traceback_is_noticed(cli, desk, monkeypatch, error):
    """The twin: a command that forgets to look at what it is given."""

    def broken(*_given, **_named):
        raise error

    monkeypatch.setattr("mixtally.cli.budget.read_plan", broken)
    assert any("Error: " in said for _, said in faults(cli, "budget show", desk))
