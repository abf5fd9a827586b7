"""Processes of intake beside the mix: what any of them acknowledged is counted once."""

import json

import pytest

from helpers.mixes import Town, manifests, run, town_of
from helpers.roles_in_folders import KEPT, OPEN, START, ask
from mixtally.device.wire.bundle import PartShape
from mixtally.device.wire.problem import Problem
from mixtally.errors import DataError, ParameterError
from mixtally.server.mix.intake_processes import IntakeOptions, check_first_mix, serve_intake
from mixtally.server.mix.window import Window, is_intake_over, list_announced, withdraw
from mixtally.server.node.refusal import ProblemError

BINS = [bytes([i]) for i in range(4)]
WINDOW = Window(
    contract="ab" * 32,
    round=3,
    shapes=(PartShape(2, 1, 50),),
    most_bundles=40,
    admission="open",
    opens=5,
    closes=9,
)


@pytest.fixture
def town(tmp_path):
    town = town_of(tmp_path, hops=1)
    yield town
    town.end()


def beside(town, number=1, **more):
    made = town.beside(number, **more)
    made.tick(town.now)
    return made


def state(town):
    return town.mixes[0].node.rounds.all()[0].state


def kind(answer):
    return json.loads(answer.body)["type"]


def files(town):
    (folder,) = town.folders[0].subfolder("rounds").iterdir()
    return {path.name for path in folder.iterdir()}


def test_what_several_take_is_counted_once(town):
    some = [beside(town, number) for number in (1, 2, 12)]
    bodies = [town.bundle([BINS[i % 4]]) for i in range(8)]
    for i, body in enumerate(bodies):
        assert town.send(body, to=[None, 1, 2, 12][i % 4]).status == 201
    assert town.send(bodies[0], to=1).status == 201  # the same again, elsewhere
    assert {f"intake-{number}.db" for number in (0, 1, 2, 12)} <= files(town)
    town.close()
    for one in some:
        town.tick()
        assert state(town) == "open"
        one.end()
    run(town)
    assert [manifest.bundles for manifest in manifests(town)] == [8]
    assert manifests(town)[0].parts[0].received == 8
    town.receive()
    town.tick()
    assert state(town) == "shredded"
    assert not list(town.folders[0].subfolder("rounds").iterdir())  # neither window nor lock


def test_the_mix_waits_until_nobody_adds_anything(town):
    """A clock behind takes on; all that it acknowledged counts."""
    slow = START + OPEN - 1
    one = beside(town, clock=lambda: slow)
    town.close()
    town.tick()
    assert list_announced(town.folders[0].subfolder("rounds")) == []
    assert state(town) == "open"
    for _ in range(2):
        assert town.send(town.bundle([BINS[0]]), to=1).status == 201
    one.tick(slow)
    assert kind(town.send(town.bundle([BINS[0]]), to=1)) == Problem.ROUND_CLOSED.path
    run(town)
    assert manifests(town)[0].bundles == 2
    one.end()


def test_a_mix_that_begins_again_waits_as_well(town):
    one = beside(town)
    assert town.send(town.bundle([BINS[0]]), to=1).status == 201
    town.mixes[0].end()
    assert town.send(town.bundle([BINS[1]]), to=1).status == 201  # the mix may be down meanwhile
    town.close()
    town.mixes[0] = town.awaken(1)
    town.tick()
    assert state(town) == "open"
    one.end()
    run(town)
    assert manifests(town)[0].bundles == 2


def test_a_mix_that_expires_waits_for_nobody(town):
    one = beside(town)
    assert town.send(town.bundle([BINS[0]]), to=1).status == 201
    town.now = START + OPEN + KEPT
    for _ in range(2):
        town.tick()
    row = town.mixes[0].node.rounds.all()[0]
    assert (row.state, row.ended) == ("shredded", "expired")
    assert town.mixes[0].node.keys.all() == []
    assert kind(town.send(town.bundle([BINS[0]]))) == Problem.ROUND_CLOSED.path
    town.now = START + 10  # not even by a clock that goes back
    assert kind(town.send(town.bundle([BINS[0]]))) == Problem.ROUND_CLOSED.path
    one.tick(town.now)
    assert kind(town.send(town.bundle([BINS[0]]), to=1)) == Problem.ROUND_CLOSED.path
    one.end()
    assert not list(town.folders[0].subfolder("rounds").iterdir())


def test_a_round_whose_files_are_deleted_ends_no_process(town):
    one, body = beside(town), town.bundle([BINS[0]])
    town.mixes[0].node.shred_round(town.mixes[0].node.rounds.all()[0])
    assert town.send(body, to=1).status == 410
    one.tick(town.now)
    assert town.send(body, to=1).status == 410
    assert not one._intake._failed  # the process goes on with other rounds
    one.end()


def test_a_process_that_is_late_does_not_make_the_folder_of_an_ended_round_again(town):
    def ends(name):
        if name == "after share":
            town.mixes[0].node.shred_round(town.mixes[0].node.rounds.all()[0])

    one = beside(town, step=ends)
    assert not list(town.folders[0].subfolder("rounds").iterdir())
    assert kind(town.send(town.bundle([BINS[0]]), to=1)) == Problem.NOT_READY.path
    one.tick(town.now)
    one.end()


def test_the_share_is_kept_until_the_file_is_closed(town):
    """The mix looks at the worst moment."""
    (folder,) = town.folders[0].subfolder("rounds").iterdir()
    found = []

    def looks(name):
        if name in ("after share", "before intake", "after intake closed"):
            found.append((name, is_intake_over(folder)))

    one = beside(town, step=looks)
    withdraw(folder)
    assert town.send(town.bundle([BINS[0]]), to=1).status == 201
    one.tick(town.now)
    assert is_intake_over(folder)
    names = ["after share", "before intake", "after intake closed"]
    assert found == [(name, False) for name in names]
    assert not list(folder.glob("intake-1.db-*"))  # nothing is left that a killed one would leave
    one.end()


def test_a_mix_that_is_killed_when_it_lets_processes_in(tmp_path):
    def step(name):
        if name == "after window":
            raise KeyboardInterrupt

    town = Town(tmp_path, hops=1)
    town.all_awake(step=step)
    with pytest.raises(KeyboardInterrupt):
        town.round()
    one = beside(town)
    assert one.find(town.fingerprint, 1).opens == START  # it may take already
    town.mixes[0].end()
    town.mixes[0] = town.awaken(1)
    town.tick()
    row = town.mixes[0].node.rounds.all()[0]
    town.note = town.mixes[0].node.sheet_note(row)
    for to in (1, None):
        assert town.send(town.bundle([BINS[0]]), to=to).status == 201
    one.end()
    town.close()
    run(town)
    assert manifests(town)[0].bundles == 2
    town.end()


def test_one_that_begins_late(town):
    assert town.send(town.bundle([BINS[0]])).status == 201
    late = beside(town)
    assert town.send(town.bundle([BINS[1]]), to=1).status == 201
    late.end()
    again = beside(town)  # and again, into the same file
    assert town.send(town.bundle([BINS[2]]), to=1).status == 201
    again.end()
    town.close()
    run(town)
    assert manifests(town)[0].bundles == 3


def test_one_that_begins_after_the_close_takes_nothing(town):
    town.close()
    town.mixes[0].tick(town.now)
    after = beside(town)
    answer = town.send(town.bundle([BINS[0]]), to=1)
    assert (answer.status, kind(answer)) == (503, Problem.NOT_READY.path)
    assert answer.headers["retry-after"] == "2"
    after.end()
    assert not list(town.folders[0].subfolder("rounds").rglob("intake-1.db"))


@pytest.mark.parametrize(
    ("now", "problem"), [(START - 1, Problem.TOO_EARLY), (START + OPEN, Problem.ROUND_CLOSED)]
)
def test_a_clock_that_is_wrong_refuses_and_does_no_harm(town, now, problem):
    one = beside(town, clock=lambda: now)
    assert kind(town.send(town.bundle([BINS[0]]), to=1)) == problem.path
    one.tick(now)
    assert town.send(town.bundle([BINS[0]])).status == 201
    other = beside(town, 2)
    assert town.send(town.bundle([BINS[0]]), to=2).status == 201
    for each in (one, other):
        each.end()
    run(town)
    assert manifests(town)[0].bundles == 2


def test_beside_a_later_mix_nothing_is_taken(tmp_path):
    town = town_of(tmp_path, hops=2)
    one = beside(town, place=2)
    assert town.send(town.bundle([BINS[0]]), to=1).status == 503
    one.end()
    assert not list(town.folders[1].subfolder("rounds").rglob("intake*"))
    town.end()


def test_it_has_no_other_route(town):
    one = beside(town)
    for path in ("/status", "/notes", "/problems/busy", "/contracts/ab/bundles"):
        assert ask(town.apps[1], "GET", path).status == 404
    assert ask(town.apps[1], "GET", town.path).status == 405
    one.end()


def test_a_disk_that_refuses_its_file_gives_the_share_back(town, monkeypatch):
    from mixtally.server.mix.intake import Intake

    def refuses(self, round_id, most_bundles, bundle_bytes, admission):
        raise OSError("no room")

    monkeypatch.setattr(Intake, "open", refuses)
    one = town.beside()
    with pytest.raises(OSError, match="no room"):
        one.tick(town.now)
    one.end()
    town.close()
    town.mixes[0].tick(town.now)
    assert state(town) == "shredded"  # nobody has sent anything


@pytest.mark.parametrize("number", [0, -1, 100])
def test_a_number_of_its_own(tmp_path, number):
    with pytest.raises(ParameterError, match="--number"):
        serve_intake(tmp_path, IntakeOptions(number, "127.0.0.1", 0))


def test_which_folders_are_those_of_a_first_mix(tmp_path):
    town = Town(tmp_path, hops=2)
    first, second, collector = (folder.path for folder in town.folders)
    for path in (first, second, collector):
        check_first_mix(path)  # nothing is signed yet
    town.all_awake()
    check_first_mix(first)
    with pytest.raises(DataError, match="no people send"):
        check_first_mix(second)
    for path in (tmp_path, tmp_path / "none"):
        with pytest.raises(DataError, match="got none"):
            serve_intake(path, IntakeOptions(1, "127.0.0.1", 0))
    town.end()


def test_find_knows_what_is_over(town):
    one = beside(town)
    assert one.find(town.fingerprint, 1).closes == START + OPEN
    for contract, number in ((town.fingerprint, 2), ("0" * 64, 1)):
        with pytest.raises(ProblemError) as error:
            one.find(contract, number)
        assert error.value.problem is Problem.NOT_READY
    town.close()
    town.mixes[0].tick(town.now)
    one.tick(town.now)
    with pytest.raises(ProblemError) as error:
        one.find(town.fingerprint, 1)
    assert error.value.problem is Problem.ROUND_CLOSED
    one.end()
