"""An operator ends a round after an accident: its data are destroyed everywhere."""

import pytest

from helpers.roles_in_folders import ENVIRONMENT
from mixtally.device.wire.manifest import end_of
from network.stage import BINS, people, stage_of

WHY = "the key was copied"
ENDED = f"ended: {WHY}"


@pytest.fixture
def stage(tmp_path):
    return stage_of(tmp_path)


@pytest.fixture
def end(cli, monkeypatch, stage):
    """Runs the command for the mix at a place; its status, stdout and stderr."""
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)

    def call(place, number=1, why=WHY):
        folder = stage.folders[place - 1].path
        return cli("mix end", folder, "--round", number, "--why", why)

    return call


def nothing_left(stage):
    for node in stage.nodes_awake:
        assert not list(node.folder.path.glob("keys/*"))
        assert not list(node.folder.path.glob("rounds/*"))


@pytest.mark.parametrize("place", [1, 2, 3])
def test_an_open_round_ends_everywhere(stage, end, place):
    people(stage)
    said = end(place)
    assert (said.status, said.err) == (0, "")
    assert said.out.splitlines() == [
        f"round 1 of home-page is ended: {WHY}",
        "the serving mix destroys its key and bundles, and tells all other roles",
    ]
    for _ in range(3):
        stage.tick()
        stage.now += 1
    broken = f"shredded/{ENDED}"
    assert stage.states() == f"{broken} {broken} {broken} destroyed/{ENDED}"
    nothing_left(stage)
    refused = stage.send(stage.bundle([BINS[0]]))
    assert refused.status == 410
    assert b"an operator ended the round" in refused.body
    for hop in (1, 2, 3):
        assert stage.collector.manifest_of(stage.row(), hop)[1].destroyed == ENDED
    assert stage.office.results.read_charge(stage.row().folder) is None
    assert ENDED in stage.ask(4, "GET", "/").body.decode()
    assert stage.post(2, b"{}").status == 400  # the roles serve on


def test_a_round_that_has_left_ends_where_it_is(stage, end):
    """The manifest was signed; the next hop waits until the round expires."""
    people(stage)
    stage.hostile = {2, 3, 4}
    apps, stage.apps = stage.apps, {}
    stage.close()
    stage.tick()
    assert stage.states().startswith("mixed/")
    assert end(1).status == 0
    stage.tick()
    stage.apps, stage.hostile = apps, set()
    assert stage.states().startswith(f"shredded/{ENDED} open/")
    stage.now += 10_000
    for _ in range(3):
        stage.tick()
    assert stage.states().split()[-1] in ("destroyed/expired", "expired/expired")
    nothing_left(stage)


def test_an_end_that_a_command_stores_is_not_overwritten(stage, end):
    """The serving process has read the row before."""
    rounds, row = stage.mixes[0].node.rounds, stage.row(1, 1)
    assert end(1).status == 0
    moved = rounds.move(row, "closed")
    assert (moved.state, moved.ended) == ("closed", ENDED)


def test_a_round_that_is_over_or_unknown_is_refused(stage, end):
    people(stage)
    stage.finish()
    said = end(1)
    assert said.status == 2
    assert "expected one that has not ended, got one that ended before: delivered" in said.err
    said = end(1, number=2)
    assert said.status == 2
    assert "expected a round that this mix has signed, got none" in said.err
    assert stage.states().endswith("released/released")


@pytest.mark.parametrize("why", ["", "x" * 201, "zu spät", "a\nb", "a\x00"])
def test_words_that_cannot_travel_are_refused(stage, end, why):
    assert end(1, why=why).status == 2
    assert end_of(why) is None
    assert stage.row(1, 1).ended == ""
