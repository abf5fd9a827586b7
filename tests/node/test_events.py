"""An operator is told what happens: once, in a line that people or programs read."""

import json

import pytest

from mixtally.server.node.events import Condition, Log, print_line


@pytest.fixture
def lines():
    return []


def test_a_line_for_people(lines):
    log = Log(lines.append, clock=lambda: 1_800_000_000.7)
    log.tell("round refused", contract="opinion", round=2, because='hop 1: "received" differs\n')
    log.tell("round opened")
    assert lines == [
        "2027-01-15T08:00:00Z round refused contract=opinion round=2 "
        'because="hop 1: \\"received\\" differs\\n"',
        "2027-01-15T08:00:00Z round opened",
    ]


def test_a_line_for_programs(lines):
    log = Log(lines.append, as_json=True, clock=lambda: 1_800_000_000)
    log.tell("round opened", contract="opinion", round=2)
    assert json.loads(lines[0]) == {
        "time": "2027-01-15T08:00:00Z",
        "event": "round opened",
        "contract": "opinion",
        "round": 2,
    }


def test_what_lasts_is_told_when_it_begins_and_when_it_is_over(lines):
    now = [0]
    log = Log(lines.append, clock=lambda: now[0])
    for now[0] in range(5):
        log.set_condition(Condition.SILENT, True, role="mix-2")
        log.set_condition(
            Condition.WAITING, now[0] < 3, contract="opinion", role="mix-2", what="notes"
        )
    log.set_condition(Condition.SILENT, False, role="mix-3")  # nobody said that it was silent
    log.set_condition(Condition.SILENT, False, role="mix-2")
    assert [line.split(" ", 1)[1] for line in lines] == [
        "peer unreachable role=mix-2",
        "waiting contract=opinion role=mix-2 what=notes",
        "waiting no more contract=opinion role=mix-2 what=notes since=1970-01-01T00:00:00Z",
        "peer back role=mix-2 since=1970-01-01T00:00:00Z",
    ]


def test_what_a_role_waits_for_is_known_meanwhile(lines):
    log = Log(lines.append, clock=lambda: 0)
    log.set_condition(Condition.CLOCK, True, seconds=90)
    log.set_condition(
        Condition.SILENT, True, role="mix-2"
    )  # it does all that it is for nevertheless
    since = {"since": "1970-01-01T00:00:00Z"}
    assert log.list_awaited() == [{"event": "clock jumped", "seconds": 90, **since}]
    log.set_condition(Condition.CLOCK, False)
    assert log.list_awaited() == []


def test_what_lasts_is_shown_as_it_is_now(lines):
    log = Log(lines.append, clock=lambda: 0)
    for seconds in (90, 95):
        log.set_condition(Condition.CLOCK, True, seconds=seconds)
    (said,) = log.list_awaited()
    assert (said["seconds"], said["since"]) == (95, "1970-01-01T00:00:00Z")
    assert len(lines) == 1


def test_a_closed_standard_error_is_no_failure(monkeypatch):
    class Closed:
        def write(self, _):
            raise BrokenPipeError

        def flush(self):
            raise ValueError("closed")

    monkeypatch.setattr("sys.stderr", Closed())
    print_line("a line")


def test_lines_of_several_threads_stay_whole(monkeypatch):
    """Each line is one call of write, which no other thread can divide."""
    calls = []

    class Terminal:
        def write(self, text):
            calls.append(text)

        def flush(self):
            pass

    monkeypatch.setattr("sys.stderr", Terminal())
    Log(print_line, clock=lambda: 0.0).tell("round open", round=1)
    assert calls == ["1970-01-01T00:00:00Z round open round=1\n"]
