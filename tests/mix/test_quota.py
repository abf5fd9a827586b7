"""A round accepts no more bundles than its contract says, whichever processes receive them."""

import asyncio
import json
import threading

import pytest

from helpers.mixes import Town, run
from helpers.roles_in_folders import OPEN, START
from mixtally.device.wire.problem import Problem
from mixtally.errors import DataError
from mixtally.server.mix import quota as quotas
from mixtally.server.mix.intake import Intake, read_bodies
from mixtally.server.mix.quota import Quota
from mixtally.server.node.events import Log
from mixtally.server.node.refusal import ProblemError

MOST = 8


@pytest.fixture
def town(tmp_path):
    town = Town(tmp_path, hops=2, users=2, most_bundles=MOST)  # four for each of two people
    town.all_awake()
    town.round()
    yield town
    town.end()


def bundle(town):
    return town.bundle([b"\1"])


def test_a_full_round_is_refused_in_words_until_it_is_over(town):
    lines = []
    town.mixes[0].node.log = Log(lines.append)
    assert [town.send(bundle(town)).status for _ in range(MOST)] == [201] * MOST
    for _ in range(2):  # the second one is refused before its body is read
        answer = town.send(bundle(town))
        assert answer.status == 429
        said = json.loads(answer.body)
        assert said["type"] == "/problems/round-full"
        assert said["detail"] == "it has accepted all 8 bundles that its contract allows"
        assert int(answer.headers["retry-after"]) > START + OPEN - town.now
    for _ in range(2):
        town.tick()
    assert [line.split(" ", 1)[1] for line in lines] == [
        "round full contract=home-page round=1 bundles=8"
    ]
    run(town)
    assert len(town.opened()[0]) >= MOST
    assert town.send(bundle(town)).status == 410


def test_a_body_that_does_not_fit_is_refused_whole(town):
    several = b"".join(bundle(town) for _ in range(5))
    assert town.send(several).status == 201
    assert town.send(several).status == 429
    assert [town.send(bundle(town)).status for _ in range(4)] == [201, 201, 201, 429]


def test_copies_use_the_quota_and_count_once(town):
    same = bundle(town)
    assert [town.send(same).status for _ in range(MOST + 1)] == [201] * MOST + [429]


def test_a_restarted_mix_goes_on_counting(town):
    assert [town.send(bundle(town)).status for _ in range(3)] == [201] * 3
    town.mixes[0].end()
    town.mixes[0] = town.awaken(1)
    town.tick()
    assert [town.send(bundle(town)).status for _ in range(6)] == [201] * 5 + [429]


def test_all_processes_together_take_no_more(town):
    beside = [town.beside(number) for number in (1, 2)]
    for one in beside:
        one.tick(town.now)
    taken = [town.send(bundle(town), to=to).status for to in (1, 2, None) * MOST]
    assert sorted(set(taken)) == [201, 429]
    # A block has one bundle here, and nothing is left unused.
    assert taken.count(201) == MOST
    for one in beside:
        one.end()


def test_a_killed_process_leaves_at_most_a_block_unused(tmp_path, monkeypatch):
    monkeypatch.setattr(quotas, "_BLOCKS", 4)
    killed, other = Quota(tmp_path, 1, 100, 0), Quota(tmp_path, 0, 100, 0)
    assert killed.reserve(1) == 1
    assert other.reserve(1000) == 75
    assert Quota(tmp_path, 1, 100, 1).reserve(1000) == 24  # started again: its lease is its own


def test_a_lease_that_is_lost_is_made_again_of_what_is_stored(tmp_path):
    assert Quota(tmp_path, 1, 100, 60).reserve(1000) == 40
    assert Quota(tmp_path, 1, 100, None).reserve(1) == 0  # its file is damaged: all is used
    (tmp_path / "quota").unlink()
    assert Quota(tmp_path, 1, 100, 100).reserve(1) == 0
    (tmp_path / "quota").write_text("[]")
    with pytest.raises(DataError, match="bundles by process"):
        Quota(tmp_path, 2, 100, 0).reserve(1)


def test_processes_that_lease_at_once_share_the_quota(tmp_path, monkeypatch):
    monkeypatch.setattr(quotas, "_BLOCKS", 50)
    shares, taken = [Quota(tmp_path, number, 1000, 0) for number in range(4)], [0] * 4

    def take(number):
        while shares[number].reserve(7) == 7:
            shares[number].used += 7
            taken[number] += 7

    threads = [threading.Thread(target=take, args=(number,)) for number in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert 1000 - 4 * 27 < sum(taken) <= 1000


def test_a_commit_that_fails_uses_nothing_of_the_quota(tmp_path, monkeypatch):
    intake = Intake(tmp_path, print)
    intake.open("r-1", 3, 1)
    real = Intake._commit

    async def send(body):
        try:
            await intake.put("r-1", body, asyncio.get_running_loop())
        except ProblemError as refusal:
            return refusal.problem
        return None

    def full(*_):
        raise OSError(28, "no space")

    monkeypatch.setattr(Intake, "_commit", full)
    assert asyncio.run(send(b"abc")) is Problem.NO_ROOM
    monkeypatch.setattr(Intake, "_commit", real)
    assert asyncio.run(send(b"def")) is None
    assert asyncio.run(send(b"g")) is Problem.ROUND_FULL
    assert intake.is_full("r-1")
    intake.end()
    assert b"".join(read_bodies(tmp_path / "r-1")) == b"def"
