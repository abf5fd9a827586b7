"""The operator's command is run when a round has ended, and can do no harm to the collector."""

import json
import os
import shlex
import sys
import threading
import time

import pytest

from helpers.collector_scene import Office
from helpers.roles_in_folders import KEPT, OPEN
from mixtally.errors import ParameterError
from mixtally.server.collector import notify as module
from mixtally.server.collector.notify import Notifier, parse_command
from mixtally.server.node.events import Log

EVENT = {"event": "round released", "contract": "opinion", "round": 1}
SECONDS = 60
"""A limit that is only reached when something fails."""


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """A command has as long, unless a test says otherwise: machines may be slow."""
    monkeypatch.setattr(module, "SECONDS", float(SECONDS))


def python(code):
    """A command that runs this code."""
    return shlex.join([sys.executable, "-c", code])


class Told:
    """Lines of a log, of which one can be waited for."""

    def __init__(self):
        self.lines, self.came = [], threading.Semaphore(0)
        self.log = Log(self)

    def __call__(self, line):
        self.lines.append(line.split(" ", 1)[1])
        self.came.release()


def ran(command, events=(EVENT,)):
    """What the log says of a command that has handled the events."""
    told = Told()
    notifier = Notifier(command, told.log)
    for event in events:
        notifier.notify(event)
    notifier._runner.submit(lambda: None).result(SECONDS)
    notifier.end()
    return told.lines


def is_alive(pid):
    """Whether a process runs; one that has ended and was not waited for does not."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_it_gets_one_line_of_json_and_few_variables(tmp_path, monkeypatch):
    monkeypatch.setenv("MASTER", "5c" * 32)
    target = tmp_path / "told"
    code = f"import json, os, sys; said = sys.stdin.read(), dict(os.environ); open({str(target)!r}, 'w').write(json.dumps(said))"  # noqa: E501
    assert ran(python(code)) == []
    text, variables = json.loads(target.read_text())
    assert text.count("\n") == 1
    assert json.loads(text) == EVENT
    assert set(variables) <= {"PATH", "HOME", "LANG", "LC_CTYPE"}  # Python adds the last


def test_its_failure_is_an_event():
    assert ran(python("import sys; sys.exit(3)")) == ['notify failed because="exit status 3"']
    assert ran(python("import os; os.kill(os.getpid(), 9)")) == [
        'notify failed because="exit status -9"'
    ]


def wait_until(is_so):
    """Wait for a condition; fails if it does not come."""
    until = time.monotonic() + SECONDS
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.02)


def test_one_that_hangs_is_ended_with_what_it_started(tmp_path, monkeypatch, plant):
    """Its time begins when both its processes run."""
    monkeypatch.setattr(module, "SECONDS", 1.0)
    pids = tmp_path / "pids"
    command = (
        f"sh -c 'sleep 999 & echo $! > {pids}; echo $$ >> {pids}; trap : TERM; wait; sleep 999'"
    )

    def both_run():
        return pids.exists() and pids.read_text().count("\n") == 2

    def communicate(honest, *given, **named):
        wait_until(both_run)
        return honest(*given, **named)

    plant(module.subprocess.Popen, "communicate", communicate)
    assert ran(command) == ['notify failed because="it took more than 1 s"']
    found = [int(line) for line in pids.read_text().split()]
    assert len(found) == 2
    wait_until(lambda: not any(map(is_alive, found)))  # the system ends them


def test_one_that_floods_its_output_or_reads_nothing_does_no_harm(monkeypatch):
    assert ran(python("import os\nfor _ in range(200): os.write(1, b'x' * 10**6)")) == []
    assert ran(python("import os; os.close(0)"), [{"event": "x" * 10**6}]) == []
    monkeypatch.setattr(module, "SECONDS", 1.0)
    said = ran(python("import time; time.sleep(999)"), [{"event": "x" * 10**6}])
    assert said == ['notify failed because="it took more than 1 s"']


def test_a_command_that_vanishes_is_an_event(tmp_path):
    program = tmp_path / "tell"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o700)
    told = Told()
    notifier = Notifier(str(program), told.log)
    program.unlink()
    notifier.notify(EVENT)
    assert told.came.acquire(timeout=SECONDS)
    notifier.end()
    assert told.lines == ['notify failed because="no such file or directory"']


def test_one_at_a_time_and_few_wait(tmp_path, plant):
    """The command is held by a pipe; forty events come meanwhile. At the end none begins anew."""
    pipe, count, handled = tmp_path / "pipe", tmp_path / "count", []
    os.mkfifo(pipe)
    told = Told()
    notifier = Notifier(f"sh -c 'echo x >> {count}; cat {pipe}'", told.log)

    def submit(honest, *given):
        handled.append(honest(*given))

    plant(notifier._runner, "submit", submit)
    for number in range(40):
        notifier.notify({**EVENT, "round": number})
    assert told.lines == ['notify failed because="16 earlier events wait for the command"'] * 24
    ending = threading.Thread(target=notifier.end)
    with pipe.open("w"):  # the command reads it
        assert handled[0].running()  # nobody has waited for the command
        ending.start()
        wait_until(lambda: all(one.cancelled() for one in handled[1:]))
    ending.join(SECONDS)
    assert not ending.is_alive()
    assert len(handled) == 16
    assert count.read_text() == "x\n"


@pytest.mark.parametrize("text", ["", "   ", "'", "/no/such/program", "no-such-program-7f3a x"])
def test_a_command_that_does_not_exist_is_refused(text):
    with pytest.raises(ParameterError, match="--notify: expected a program of this machine"):
        parse_command(text)


def test_it_is_told_how_each_round_ended(tmp_path):
    office = Office(tmp_path, hops=2)
    office.begin()
    told = office.collector.on_end = []
    office.collector.on_end = told.append
    office.proposed()
    office.send(*office.usual([0, 0, 1]))
    office.collector.tick(office.now)
    (event,) = told
    assert event == {
        "event": "round released",
        "contract": office.contract.name,
        "fingerprint": office.fingerprint,
        "round": 1,
    }
    office.now += 1000
    office.proposed()
    made, pieces = office.usual([0, 0, 1], left_out=1)
    made[0] = made[0]._replace(bundles=9)
    office.send(made, pieces)
    office.collector.tick(office.now)
    office.now += 1000
    office.proposed()
    office.now += OPEN + KEPT + 86_400
    office.collector.tick(office.now)
    assert [one["event"] for one in told] == ["round released", "round refused", "round expired"]
    assert len(told[1]["because"]) > 10
    assert told[2]["because"] == "expired"
    office.collector.tick(office.now)
    assert len(told) == 3


def test_a_collector_whose_command_fails_goes_on(tmp_path):
    office = Office(tmp_path, hops=2)
    office.begin()
    told = Told()
    notifier = Notifier(python("raise SystemExit(9)"), told.log)
    office.collector.on_end = notifier.notify
    office.proposed()
    office.send(*office.usual([0, 0, 1]))
    office.collector.tick(office.now)
    assert told.came.acquire(timeout=SECONDS)
    assert office.row().state == "released"
    assert told.lines == ['notify failed because="exit status 9"']
    notifier.end()
