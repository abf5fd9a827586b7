"""Processes of intake that are killed, as real processes: what they acknowledged is counted once.

The mix works in the test's own process, and its clock is a file that all of them read.
"""

import fcntl
import os
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest

from helpers.mixes import Town, manifests, run
from helpers.roles_in_folders import ENVIRONMENT, START, Village
from mixtally.cli.mix import release
from mixtally.errors import DataError
from mixtally.server.engine.engine import Engine
from mixtally.server.mix import intake_watch
from mixtally.server.mix.intake_watch import (
    HANG_SECONDS,
    IntakeWatch,
    register_process,
    release_intake,
)
from mixtally.server.mix.serve import serve
from mixtally.server.node import running, service
from mixtally.server.node.calls import SilentError, call
from mixtally.server.node.events import Log
from mixtally.server.node.folder import open_folder
from mixtally.server.node.running import exclusive_service

BINS = [bytes([i]) for i in range(4)]
SECONDS = 60
"""Limit of a wait, which only a failure uses up."""
PROGRAM = """
import os, signal, sys
from pathlib import Path
from mixtally.server.mix.intake_processes import IntakeOptions, serve_intake
from mixtally.server.node.clock import Clocks

folder, number, kill, count = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
seen = []
def step(name):
    seen.append(name)
    if name == kill and seen.count(name) == count:
        os.kill(os.getpid(), signal.SIGKILL)
def clock():
    return int((folder.parent / "clock").read_text())
serve_intake(folder, IntakeOptions(number, "127.0.0.1", 0, clocks=Clocks(clock, clock), step=step))
"""


class WithProcesses(Town):
    """A town of one mix, beside which processes take bundles."""

    def __init__(self, place):
        super().__init__(place, hops=1)
        self.processes, self.addresses = [], {}
        self.all_awake()
        self.round()
        self.turn_clock()

    def turn_clock(self):
        (self.place / "clock").write_text(str(self.now))

    def begin(self, number=1, kill="", count=0):
        """A process of intake that is killed when it has done a step so many times."""
        environment = {name: value for name, value in os.environ.items() if name not in ENVIRONMENT}
        tests = Path(__file__).parents[1]
        began = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, self.folders[0].path, str(number), kill, str(count)],
            env={
                **environment,
                "PYTHONPATH": os.pathsep.join([str(tests), *sys.path]),
                "PYTHONUNBUFFERED": "1",
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.processes.append(began)
        self.addresses[number] = began.stdout.readline().strip()
        return began

    def post(self, body, number=1):
        """Whether it was acknowledged; asked again while the process has not seen the window."""
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            answer = call(self.addresses[number], "POST", self.path, body)
            if answer.status != 503:
                return answer.status == 201
            time.sleep(0.02)
        raise AssertionError("it does not take")

    def drive(self, what):
        """Let the mix go on until something is so: processes look once a second."""
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            self.tick()
            if what():
                return
            time.sleep(0.02)
        raise AssertionError("it did not come")

    def state(self):
        return self.mixes[0].node.rounds.all()[0].state

    def end(self):
        for process in self.processes:
            process.kill()
            process.communicate()
        super().end()


@pytest.fixture
def town(tmp_path):
    town = WithProcesses(tmp_path)
    yield town
    town.end()


def counted_once(town, sent):
    """Each of what was sent, and nothing else but fakes."""
    town.close()
    town.turn_clock()
    town.drive(lambda: town.state() not in ("open", "closed"))
    run(town)
    (found,) = town.opened()
    (manifest,) = manifests(town)
    assert manifest.bundles == manifest.parts[0].received == len(sent)
    assert len(found) == len(sent) + manifest.parts[0].added
    assert not Counter(sent) - Counter(found)
    town.receive()
    town.tick()
    assert not list(town.folders[0].subfolder("rounds").iterdir())


@pytest.mark.seconds
@pytest.mark.parametrize(
    ("kill", "count"),
    [
        ("after share", 1),
        ("after intake opened", 1),
        ("before intake", 3),
        ("after intake", 3),
        ("after intake closed", 1),
    ],
)
def test_killed_at_a_step_and_begun_again(town, kill, count):
    sent = [BINS[i % 4] for i in range(8)]
    bodies = [town.bundle([message]) for message in sent]
    other = town.begin(2)
    first = town.begin(1, kill, count)
    told = []
    for place, body in enumerate(bodies[:6]):
        try:
            told.append(town.post(body, 1 + place % 2))
        except SilentError:
            break
    if kill == "after intake closed":
        town.close()
        town.turn_clock()
        town.drive(lambda: first.poll() is not None)
    assert first.wait(SECONDS) == -signal.SIGKILL
    if kill != "after intake closed":
        assert town.state() == "open"
        town.begin(1)
        for body in bodies[len(told) :]:  # whoever had no answer sends the same again
            assert town.post(body, 1)
    counted_once(town, sent if kill != "after intake closed" else sent[:6])
    assert all(told)
    assert other.poll() is None


@pytest.mark.seconds
def test_a_process_that_hangs_is_waited_for_until_it_is_killed(town):
    hangs = town.begin(1)
    sent = [BINS[i % 4] for i in range(4)]
    for message in sent:
        assert town.post(town.bundle([message]))
    stop(hangs)
    town.close()
    town.turn_clock()
    for _ in range(3):
        town.tick()
    assert town.state() == "open"
    hangs.kill()
    hangs.wait()
    counted_once(town, sent)


def stop(process):
    """Stop a process as SIGSTOP does, and wait until it stands still."""
    process.send_signal(signal.SIGSTOP)
    assert os.WIFSTOPPED(os.waitpid(process.pid, os.WUNTRACED)[1])


def hanging(log):
    return [(said["number"], said["process"]) for said in log.list_awaited()]


@pytest.mark.seconds
def test_a_process_that_hangs_is_named_and_released(town, capsys):
    """What it acknowledged is counted, and it acknowledges nothing that would not be."""
    first, second = town.begin(1), town.begin(2)
    sent = [BINS[i % 4] for i in range(4)]
    for place, message in enumerate(sent):
        assert town.post(town.bundle([message]), 1 + place % 2)
    stop(first)
    log, now = Log(), [0.0]
    watch = IntakeWatch(town.folders[0].path, log, lambda: now[0])
    watch.check()
    now[0] = HANG_SECONDS - 0.1
    watch.check()
    assert hanging(log) == []
    now[0] = HANG_SECONDS
    touched = (town.folders[0].path / "intake-2.lock").stat().st_mtime_ns
    while (town.folders[0].path / "intake-2.lock").stat().st_mtime_ns == touched:
        time.sleep(0.05)
    watch.check()
    assert hanging(log) == [(1, first.pid)]
    host, port = town.addresses[1].removeprefix("http://").split(":")
    body = town.bundle([BINS[0]])
    head = f"POST {town.path} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
    with socket.create_connection((host, int(port)), timeout=SECONDS) as late:
        late.sendall(head.encode() + body)  # lies in the system until the process goes on
        town.close()
        town.turn_clock()
        for _ in range(3):
            town.tick()
        assert town.state() == "open"
        release(town.folders[0].path, 1)
        assert capsys.readouterr().out.startswith(f"ended process {first.pid}; ")
        with suppress(ConnectionError):
            assert late.recv(100) == b""
    assert first.wait(SECONDS) == -signal.SIGKILL
    watch.check()
    assert hanging(log) == []
    release(town.folders[0].path, 1)
    assert capsys.readouterr().out.startswith("no process of number 1 runs; ")
    counted_once(town, sent)
    assert second.poll() is None


@pytest.mark.seconds
def test_a_process_that_goes_on_is_named_no_more(town):
    process = town.begin(1)
    stop(process)
    log, now = Log(), [0.0]
    watch = IntakeWatch(town.folders[0].path, log, lambda: now[0])
    watch.check()
    now[0] = HANG_SECONDS
    watch.check()
    assert hanging(log) == [(1, process.pid)]
    process.send_signal(signal.SIGCONT)
    end = time.monotonic() + SECONDS
    while hanging(log) and time.monotonic() < end:
        time.sleep(0.02)
        watch.check()
    assert hanging(log) == []
    process.kill()
    process.wait()
    now[0] += 2 * HANG_SECONDS
    watch.check()
    now[0] += 2 * HANG_SECONDS
    watch.check()
    assert hanging(log) == []  # one that has ended does not hang


def test_a_mix_that_serves_looks_at_its_processes(tmp_path, monkeypatch):
    village, log = Village(tmp_path, hops=1), Log()
    folder = village.folders[0].path
    monkeypatch.setattr(intake_watch, "HANG_SECONDS", 0.0)

    def run(_, begin):
        made = begin(lambda _: None, lambda: None)
        with exclusive_service(folder, 7) as lock:
            register_process(lock)
            made.tick(START)
        made.end()

    monkeypatch.setattr(service, "run", run)
    serve(open_folder(folder, ENVIRONMENT), service.Service(log=log), Engine())
    assert hanging(log) == [(7, os.getpid())]


@pytest.mark.parametrize("kind", ["another start", "nobody", "nothing", "words"])
def test_no_other_process_is_ended(tmp_path, kind):
    """A file may be of a process whose number another one has, or of another container."""
    with subprocess.Popen(["sleep", "60"]) as other, exclusive_service(tmp_path, 3) as lock:
        said = {"another start": f"{other.pid} 17", "nobody": "4194999 17", "nothing": ""}
        os.pwrite(lock, said.get(kind, "x y z").encode(), 0)
        with pytest.raises(DataError, match="a process that this user can end here"):
            release_intake(tmp_path, 3)
        assert other.poll() is None
        register_process(lock)
        assert (tmp_path / "intake-3.lock").read_text().split()[0] == str(os.getpid())
        other.kill()


def test_a_process_that_does_not_end_is_told(tmp_path, monkeypatch):
    """It waits for the disk, say, and still has its locks: nothing of it is taken up."""
    monkeypatch.setattr(intake_watch, "_END_SECONDS", 0.1)
    monkeypatch.setattr(signal, "pidfd_send_signal", lambda *_: None)
    with exclusive_service(tmp_path, 3) as lock:
        register_process(lock)
        with pytest.raises(DataError, match="a process that waits for the disk"):
            release_intake(tmp_path, 3)


def test_a_look_at_the_lock_keeps_no_process_out(tmp_path, monkeypatch):
    """The look ends while the process that begins waits, well before its patience does."""
    (tmp_path / "intake-3.lock").touch()
    now, pauses = [0.0], []
    with (tmp_path / "intake-3.lock").open("rb") as looks:

        def pause(seconds):
            pauses.append(seconds)
            now[0] += seconds
            if len(pauses) == 3:
                fcntl.flock(looks, fcntl.LOCK_UN)

        monkeypatch.setattr(running, "monotonic", lambda: now[0])
        monkeypatch.setattr(running, "sleep", pause)
        fcntl.flock(looks, fcntl.LOCK_SH)
        with exclusive_service(tmp_path, 3):
            assert len(pauses) == 3


@pytest.mark.seconds
def test_two_of_one_number(town):
    town.begin(3)
    second = town.begin(3)
    _, said = second.communicate(timeout=SECONDS)
    assert second.returncode != 0
    assert "expected a number that no other intake process uses, got 3" in said
    other = town.begin(4)
    other.send_signal(signal.SIGTERM)
    assert other.communicate(timeout=SECONDS) == ("", "")
    assert other.returncode == 0


@pytest.mark.seconds
def test_it_begins_where_no_key_can_be_read(town):
    """Neither the master key nor any wrapped one: it asks for none."""
    (key,) = town.folders[0].subfolder("keys").iterdir()
    hidden = [town.folders[0].path / "signing.key", key]
    data = [path.read_bytes() for path in hidden]
    for path in hidden:
        path.unlink()
    town.begin(1)
    assert town.post(town.bundle([BINS[0]]))
    for path, held in zip(hidden, data, strict=True):
        path.write_bytes(held)
    assert town.post(town.bundle([BINS[1]]))
    counted_once(town, [BINS[0], BINS[1]])
