"""The time of a role: a wall clock that jumps is believed when it has held, and not before."""

import json

import pytest

from helpers.mixes import town_of
from helpers.roles_in_folders import ENVIRONMENT, OPEN, Village
from mixtally.errors import DataError
from mixtally.server.collector import serve as serve_collector
from mixtally.server.engine.engine import Engine
from mixtally.server.mix.serve import serve as serve_mix
from mixtally.server.node import disk, service
from mixtally.server.node.clock import HOLD, KEEP_EVERY, TOLERANCE, Clock, Clocks
from mixtally.server.node.events import Log
from mixtally.server.node.folder import open_folder

START, DAY = 1_800_000_000.0, 86_400.0


class Machine:
    """A wall clock that a test sets, and a steady one that only time moves."""

    def __init__(self, place):
        self.path, self.lines = place / "clock", []
        self.wall, self.steady, self.boot = START, 50.0, "a"

    def begin(self, **more):
        """A process that begins."""
        clocks = Clocks(lambda: self.wall, lambda: self.steady, self.boot)
        self.log = Log(self.lines.append)
        self.clock = Clock(self.path, self.log, clocks, **more)
        return self.clock

    def pass_(self, seconds, every=1.0):
        """Time passes, and the loop looks."""
        for _ in range(round(seconds / every)):
            self.wall, self.steady = self.wall + every, self.steady + every
            self.clock.certain_time()

    @property
    def off(self):
        """What the role's times are beside the true ones of its begin."""
        true = START + self.steady - 50.0
        return round(self.clock.now() - true), round(self.clock.certain_time() - true)

    def told(self):
        """The words of the lines."""
        return [line.split("Z ")[1] for line in self.lines]


@pytest.fixture
def machine(tmp_path):
    machine = Machine(tmp_path)
    machine.begin()
    return machine


@pytest.mark.parametrize("jump", [DAY, -DAY, 40.0])
def test_a_clock_that_is_wrong_for_a_while_moves_nothing(machine, jump):
    machine.pass_(10)
    machine.wall += jump
    machine.pass_(HOLD - 2)
    assert machine.off == (0, 0)
    machine.wall -= jump
    machine.pass_(30)
    assert machine.off == (0, 0)
    assert machine.told() == [f"clock jumped seconds={jump:.0f}", machine.told()[1]]
    assert machine.told()[1].startswith("clock agrees")


@pytest.mark.parametrize("jump", [DAY, -DAY])
def test_a_clock_that_holds_for_ten_minutes_is_believed(machine, jump):
    machine.wall += jump
    machine.pass_(HOLD + 1)
    assert machine.off == (jump, jump)
    machine.pass_(KEEP_EVERY + 1)
    machine.begin()
    assert machine.off == (jump, jump)


def test_a_clock_that_jumps_on_is_not(machine):
    for _ in range(10):
        machine.wall += 100.0
        machine.pass_(HOLD / 2, every=10.0)
        assert machine.off == (0, 0)


def test_a_clock_that_is_put_right_little_by_little_is_followed(machine):
    for _ in range(100):
        machine.wall += TOLERANCE / 10
        machine.pass_(KEEP_EVERY, every=10.0)
    assert machine.off == (300, 300)
    assert machine.lines == []


@pytest.mark.parametrize("jump", [DAY, -DAY])
def test_a_process_that_starts_again_is_not_deceived(machine, jump):
    machine.pass_(3 * KEEP_EVERY)
    machine.wall, machine.steady = machine.wall + 500.0, machine.steady + 500.0  # it was down
    machine.wall += jump
    machine.begin()
    machine.pass_(HOLD - 2)
    machine.begin()
    machine.pass_(HOLD - 2)
    assert machine.off == (0, 0)
    machine.pass_(10)
    assert machine.off == (jump, jump)


def test_after_a_restart_of_the_machine_it_is_not_earlier_than_before(machine):
    """Whoever asks is answered by the wall clock; what cannot be undone waits for it to hold."""
    machine.pass_(KEEP_EVERY + 1)
    machine.wall, machine.steady, machine.boot = machine.wall + DAY, 0.0, "b"
    clock, kept = machine.begin(), json.loads(machine.path.read_text())["wall"]
    assert clock.now() == int(machine.wall)
    assert clock.certain_time() == int(kept)
    assert machine.told() == ["machine restarted believes_its_clock_in=600"]
    machine.pass_(HOLD - 1)
    assert clock.certain_time() < machine.wall - DAY + TOLERANCE
    assert [one["event"] for one in machine.log.list_warnings()] == ["machine restarted"]
    machine.pass_(2)
    assert clock.certain_time() == clock.now() == int(machine.wall)
    assert machine.log.list_warnings() == []
    assert machine.told()[1].startswith("clock agrees ")


def test_a_machine_that_begins_in_1970(machine):
    machine.wall, machine.steady, machine.boot = 60.0, 0.0, "b"
    clock = machine.begin()
    assert clock.now() == clock.certain_time() == int(START)
    machine.wall = START + 20.0  # the network has told it
    machine.pass_(5)
    assert abs(clock.certain_time() - machine.wall) <= TOLERANCE
    assert clock.now() == clock.certain_time()


def test_a_short_restart_is_not_noticed(machine):
    machine.pass_(KEEP_EVERY + 1)
    machine.wall, machine.steady, machine.boot = machine.wall + TOLERANCE / 2, 0.0, "b"
    clock = machine.begin()
    assert clock.now() == clock.certain_time()
    assert machine.lines == []


@pytest.mark.parametrize("held", [b"", b"{}", b"[]", b'{"wall": "x"}', b"\xff"])
def test_a_file_that_says_nothing_is_passed_over(machine, held):
    machine.path.write_bytes(held)
    machine.wall += DAY
    assert machine.begin().certain_time() == int(START + DAY)


@pytest.mark.parametrize("held", [None, b"", b'{"wall": "x"}'], ids=repr)
@pytest.mark.parametrize("keep", [True, False])
def test_a_lost_file_beside_keys_is_a_restarted_machine(machine, held, keep):
    """Who asks is answered by the wall clock; a key is not destroyed before it has held."""
    machine.path.unlink()
    if held is not None:
        machine.path.write_bytes(held)
    (machine.path.parent / "keys").mkdir()
    (machine.path.parent / "keys" / "a").touch()
    machine.wall += DAY
    machine.begin(keep=keep)
    assert machine.told() == ["clock file lost believes_its_clock_in=600"]
    machine.pass_(HOLD / 2)
    machine.begin(keep=keep)  # a process that begins again knows no more
    machine.pass_(HOLD - 1)
    assert machine.clock.certain_time() < HOLD
    assert machine.clock.now() == int(machine.wall)
    machine.pass_(2)
    assert machine.off == (DAY, DAY)
    machine.begin(keep=keep)
    begins = [line for line in machine.told() if line.startswith("clock file lost ")]
    assert len(begins) == (2 if keep else 3)  # an intake does not write the file


def test_a_folder_without_keys_is_new(machine):
    machine.path.unlink()
    (machine.path.parent / "keys").mkdir()
    machine.wall += DAY
    assert machine.begin().certain_time() == int(START + DAY)
    assert machine.lines == []


def test_an_open_round_outlives_a_lost_file_and_a_wrong_clock(tmp_path, machine):
    town = town_of(tmp_path / "town", hops=1)
    (mix,) = town.mixes
    for bin_ in range(2):
        assert town.send(town.bundle([bytes([bin_])])).status == 201
    machine.path = town.folders[0].path / "clock"
    machine.wall = town.now + 10 * DAY
    clock = machine.begin()
    for _ in range(3):
        machine.pass_(1)
        mix.tick(clock.certain_time())
    (row,) = mix.node.rounds.all()
    assert (row.state, mix.node.keys.has_key(row.folder)) == ("open", True)
    machine.wall = float(town.now)  # the network has told the time
    machine.pass_(HOLD + 1)
    town.now = clock.now()
    mix.tick(clock.certain_time())
    assert mix.node.manifest_of(row, 1)[1].bundles == 2
    town.end()


def test_an_intake_reads_and_does_not_write(machine):
    kept = machine.path.read_bytes()
    machine.wall += DAY
    machine.begin(keep=False)
    machine.pass_(2 * HOLD, every=10.0)
    assert machine.off == (DAY, DAY)
    assert machine.path.read_bytes() == kept


@pytest.mark.parametrize(("number", "ends"), [(28, False), (5, True)])
def test_a_full_disk_is_no_reason_to_stop(machine, monkeypatch, number, ends):
    def fails(*_):
        error = DataError("clock", expected="to write", got="no", do="look")
        raise error from OSError(number, "planted")

    monkeypatch.setattr(disk, "put", fails)
    machine.steady, machine.wall = machine.steady + 2 * KEEP_EVERY, machine.wall + 2 * KEEP_EVERY
    if ends:
        with pytest.raises(DataError):
            machine.clock.certain_time()
    else:
        assert machine.clock.certain_time() == int(machine.wall)


def test_the_clocks_of_this_machine():
    clocks = Clocks()
    assert clocks.steady() <= clocks.steady()
    assert clocks.wall() > START / 2


def test_a_round_outlives_a_clock_that_is_wrong_for_three_seconds(tmp_path, machine):
    """Its key and what was acknowledged stay; a clock that is right brings the round to its end."""
    town = town_of(tmp_path / "town", hops=1)
    machine.wall = town.now + 0.0
    machine.path.unlink()
    clock, (mix,) = machine.begin(), town.mixes
    for bin_ in range(3):
        assert town.send(town.bundle([bytes([bin_])])).status == 201
    machine.wall += DAY
    for _ in range(3):
        machine.pass_(1)
        mix.tick(clock.certain_time())
        town.now = clock.now()
        assert town.send(town.bundle([b"\3"])).status == 201  # its window goes on
    machine.wall -= DAY
    (row,) = mix.node.rounds.all()
    assert (row.state, mix.node.keys.has_key(row.folder)) == ("open", True)
    machine.pass_(OPEN, every=10.0)
    mix.tick(clock.certain_time())
    assert mix.node.manifest_of(row, 1)[1].bundles == 6
    town.end()


@pytest.mark.parametrize("kind", ["mix", "collector"])
def test_what_serves_goes_by_it(tmp_path, monkeypatch, machine, kind):
    """The loop by what has passed for sure, and nothing by the machine's clock itself."""
    village, served = Village(tmp_path / "village", hops=1), []

    def run(at, begin):
        served.append((at.clock(), begin(served.append, lambda: None)))

    monkeypatch.setattr(service, "run", run)
    machine.wall = village.now + DAY
    clocks = Clocks(lambda: machine.wall, lambda: machine.steady, "a")
    folder = open_folder(village.folders[kind == "collector"].path, ENVIRONMENT)
    held = {"wall": village.now, "steady": machine.steady, "boot": "a"}
    (folder.path / "clock").write_text(json.dumps(held))
    serve = serve_mix if kind == "mix" else serve_collector
    serve(folder, service.Service(clocks=clocks), Engine())
    ((now, made),) = served
    assert now == village.now
    made.end()
