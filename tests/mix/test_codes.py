"""A contract that asks for codes: the first mix accepts one bundle a round for each of them."""

import asyncio
import json
import multiprocessing
import os
import shutil
import sqlite3
import threading
import weakref
from contextlib import closing

import pytest

from helpers.code_mixes import CODES, STRANGE, load, village
from helpers.mixes import Town, manifests, run
from helpers.roles_in_folders import ENVIRONMENT, EVERY, START, ask
from mixtally.device.wire.codes import hash_code, read_codes
from mixtally.device.wire.problem import Problem
from mixtally.device.wire.sheet import write_note
from mixtally.errors import InputError, RefusedError
from mixtally.server.mix.admission import CodeAdmission
from mixtally.server.mix.intake import Intake, read_bodies
from mixtally.server.node.backup import restore_backup, write_backup
from mixtally.server.node.events import Log
from mixtally.server.node.refusal import ProblemError


def send(town, body, code=CODES[0], **more):
    return town.send(body, headers=[("Authorization", f"Code {code}")], **more)


def kind(answer):
    return Problem(next(one for one in Problem if one.path == json.loads(answer.body)["type"]))


def bundle(town, message=b"\1"):
    return town.bundle([message])


def stored(town):
    row = town.mixes[0].node.rounds.all()[0]
    return b"".join(read_bodies(town.mixes[0].node.round_folder(row)))


def test_a_code_admits_one_bundle(town):
    body, other = bundle(town), bundle(town)
    assert [send(town, body).status for _ in range(3)] == [201] * 3  # a client repeats itself
    refused = send(town, other)
    assert (refused.status, kind(refused)) == (409, Problem.CODE_SPENT)
    assert "retry-after" not in refused.headers
    assert send(town, other, CODES[1]).status == 201
    assert stored(town) == body + other
    run(town)
    assert [one.bundles for one in manifests(town)][:1] == [2]
    assert len(town.opened()[0]) >= 2


def test_a_code_is_valid_in_every_round(town):
    assert send(town, bundle(town)).status == 201
    run(town)
    town.now = START + EVERY + 10
    town.round(2)
    assert send(town, bundle(town), number=2).status == 201
    assert kind(send(town, bundle(town), number=2)) is Problem.CODE_SPENT


@pytest.mark.parametrize(
    ("header", "problem"),
    [
        ([], Problem.NO_CODE),
        ([""], Problem.NO_CODE),
        (["Code"], Problem.UNKNOWN_CODE),
        (["Code "], Problem.UNKNOWN_CODE),
        ([f"Basic {CODES[0]}"], Problem.NO_CODE),
        ([CODES[0]], Problem.NO_CODE),
        ([f"Code{CODES[0]}"], Problem.NO_CODE),
        ([f"Code  {CODES[0]}"], Problem.UNKNOWN_CODE),
        ([f"Code {CODES[0]} "], Problem.UNKNOWN_CODE),
        ([f"Code {CODES[0].lower()}"], Problem.UNKNOWN_CODE),
        ([f"Code {CODES[0][:-1]}"], Problem.UNKNOWN_CODE),
        ([f"Code {CODES[0]}0"], Problem.UNKNOWN_CODE),
        ([f"Code {STRANGE}"], Problem.UNKNOWN_CODE),
        ([f"Code {hash_code(CODES[0].encode()).hex()}"], Problem.UNKNOWN_CODE),
        ([f"Code {CODES[0]}", f"Code {CODES[1]}"], Problem.NO_CODE),
        (["Code " + "\xff" * 28], Problem.UNKNOWN_CODE),
        (["Code " + "A" * 60_000], Problem.UNKNOWN_CODE),
    ],
)
def test_without_a_code_of_the_list_no_byte_of_a_body_is_read(quiet, header, problem):
    def body():
        raise AssertionError("the body was read")

    headers = [("Authorization", one) for one in header]
    answer = ask(quiet.apps["http://127.0.0.1:7001"], "POST", quiet.path, headers=headers,
                 chunks=[body])  # fmt: skip
    assert (answer.status, kind(answer)) == (403, problem)
    assert stored(quiet) == b""


def test_the_scheme_may_be_in_other_letters(town):
    answer = town.send(bundle(town), headers=[("authorization", f"cODE {CODES[0]}")])
    assert answer.status == 201


def test_one_code_is_for_one_bundle_of_a_body(quiet):
    two = bundle(quiet) + bundle(quiet)
    for body in (two, b"", two[:-1]):
        assert kind(send(quiet, body)) is Problem.BODY_LENGTH
    assert stored(quiet) == b""


def test_an_open_contract_reads_no_code(tmp_path):
    town = Town(tmp_path, hops=1)
    town.all_awake()
    town.round()
    body = bundle(town)
    assert [send(town, body, STRANGE).status, send(town, body + body).status] == [201, 201]
    with pytest.raises(InputError, match="a contract that asks for codes"):
        load(town)
    town.end()


def test_a_page_may_ask_whether_it_may_send_a_code(quiet):
    answer = ask(quiet.apps["http://127.0.0.1:7001"], "OPTIONS", quiet.path)
    assert (answer.status, answer.body) == (200, b"")


def test_without_the_list_no_round_takes_bundles(tmp_path):
    town, lines = village(tmp_path), []
    town.mixes[0].node.log = Log(lines.append)
    town.round()
    process = town.beside(1)
    process.tick(town.now)
    for to in (None, 1):
        assert kind(send(town, bundle(town), to=to)) is Problem.NOT_READY
    load(town)
    town.tick()
    process.tick(town.now)
    assert [send(town, bundle(town), code, to=to).status
            for code, to in zip(CODES, (None, 1), strict=False)] == [201, 201]  # fmt: skip
    said = [line.split(" ", 1)[1].split(" since=")[0] for line in lines if "codes" in line]
    about = "contract=home-page serial=1"
    assert said == [f"codes missing {about}", f"codes loaded {about}"]
    process.end()
    town.end()


def test_all_processes_together_accept_one_bundle_a_code(town):
    processes = [town.beside(number) for number in (1, 2)]
    for one in processes:
        one.tick(town.now)
    bodies = [bundle(town) for _ in range(3)]
    for code in CODES:
        sent = [
            send(town, body, code, to=to) for body, to in zip(bodies, (1, 2, None), strict=True)
        ]
        assert [one.status for one in sent] == [201, 409, 409]
    assert [send(town, bodies[0], to=to).status for to in (2, None)] == [201, 201]
    for one in processes:
        one.end()
    assert stored(town) == bodies[0] * 4  # one for each code, whatever it says


def put(intake, ticket, body):
    """Send one bundle; the problem, or None."""

    async def do():
        try:
            await intake.put("r", body, asyncio.get_running_loop(), ticket)
        except ProblemError as refusal:
            return refusal.problem
        return None

    return asyncio.run(do())


LIMITED = CodeAdmission(frozenset())


def opened(folder, number, **more):
    (folder / "r").mkdir(exist_ok=True)  # as the mix does
    intake = Intake(folder, print, number=number, **more)
    intake.open("r", 1000, 1, LIMITED)
    # A process waits for the commit of another one, which a busy disk may delay for seconds.
    intake._open["r"].database.execute("PRAGMA busy_timeout=60000")
    return intake


def test_a_code_that_comes_from_two_places_at_once_admits_one(tmp_path):
    intakes = [opened(tmp_path, number) for number in range(2)]
    tickets, found = [bytes([i]) for i in range(40)], [[], []]
    start = threading.Barrier(2)

    def flood(place):
        for ticket in tickets:
            start.wait()
            found[place].append(put(intakes[place], ticket, b"ab"[place : place + 1]))

    threads = [threading.Thread(target=flood, args=(place,)) for place in range(2)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    pairs = [set(pair) for pair in zip(*found, strict=True)]
    assert pairs == [{None, Problem.CODE_SPENT}] * 40
    for one in intakes:
        one.end()
    assert len(b"".join(read_bodies(tmp_path / "r"))) == 40


def test_a_list_of_codes_is_forgotten_with_its_round(tmp_path):
    """A list of 200,000 codes has 20 MB in memory, and a contract may have many rounds."""
    intake = Intake(tmp_path, print)
    admission = CodeAdmission(frozenset([hash_code(b"a")]))
    kept = weakref.ref(admission)
    intake.open("r", 1000, 1, admission)
    assert intake.find_ticket("r", b"Code a") == hash_code(b"a")
    del admission
    intake.close("r")
    assert kept() is None
    with pytest.raises(ProblemError):
        intake.find_ticket("r", b"Code a")
    intake.end()


def take_and_die(folder, at):
    """Take a bundle in a process that is killed at a step."""
    intake = opened(folder, 1, step=lambda name: os._exit(9) if name == at else None)
    put(intake, b"ticket", b"a")
    os._exit(0)


@pytest.mark.parametrize(
    ("at", "other"), [("before intake", None), ("after intake", Problem.CODE_SPENT)]
)
def test_a_process_that_is_killed_has_spent_the_code_with_its_bundle_or_not(tmp_path, at, other):
    killed = multiprocessing.get_context("fork").Process(target=take_and_die, args=(tmp_path, at))
    killed.start()
    killed.join()
    assert killed.exitcode == 9
    intake = opened(tmp_path, 0)
    assert put(intake, b"ticket", b"b") is other
    assert put(intake, b"ticket", b"b" if other is None else b"a") is None
    intake.end()
    assert b"".join(read_bodies(tmp_path / "r")) == (b"b" if other is None else b"a")


def test_a_commit_that_fails_spends_nothing(tmp_path, monkeypatch):
    intake = opened(tmp_path, 0)

    def full(name):
        if name == "before intake":
            raise OSError(28, "no space")

    monkeypatch.setattr(intake, "_step", full)
    assert put(intake, b"ticket", b"a") is Problem.NO_ROOM
    monkeypatch.setattr(intake, "_step", lambda _: None)
    assert put(intake, b"ticket", b"b") is None
    intake.end()


def test_a_restarted_mix_knows_the_codes_that_were_spent(town):
    body = bundle(town)
    assert send(town, body).status == 201
    town.mixes[0].end()
    town.mixes[0] = town.awaken(1)
    town.tick()
    assert [send(town, body).status, send(town, bundle(town)).status] == [201, 409]
    assert send(town, bundle(town), CODES[1]).status == 201


def test_a_restored_mix_takes_no_code_twice(town, tmp_path):
    body, path = bundle(town), town.folders[0].path
    write_backup(path, tmp_path / "backup")
    assert send(town, body).status == 201
    town.mixes[0].end()
    shutil.rmtree(path)
    lost = restore_backup(tmp_path / "backup", path, ENVIRONMENT).lost
    assert [row.round for row in lost] == [1]
    town.mixes[0] = town.awaken(1)
    for _ in range(3):
        town.tick()
        town.peers(town.collector).ask(town.now)
        for again in (body, bundle(town)):
            assert kind(send(town, again)) is Problem.ROUND_CLOSED
    run(town)
    assert manifests(town)[0].destroyed == "lost"
    # The list is part of the backup, so the next round goes on with it.
    town.now = START + EVERY + 10
    town.round(2)
    assert send(town, bundle(town), number=2).status == 201


def test_no_code_is_stored_or_logged_and_no_spent_one_is_kept(town, tmp_path):
    lines = []
    town.mixes[0].node.log = Log(lines.append)
    answers = [send(town, bundle(town), code) for code in (*CODES, STRANGE, CODES[0])]
    told = b"".join([*(one.body for one in answers), *(line.encode() for line in lines)])
    spent = [hash_code(code.encode()) for code in CODES]
    folder = town.mixes[0].node.round_folder(town.mixes[0].node.rounds.all()[0])
    with closing(sqlite3.connect(folder / "intake-all.db")) as held:
        assert {one for (one,) in held.execute("SELECT ticket FROM spent")} == set(spent)

    def everything():
        return b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())

    for code in (*CODES, STRANGE):
        assert code.encode() not in told + everything()
    run(town)
    town.receive()
    town.tick()
    assert not folder.exists()
    assert not any(one in everything() for one in spent)


def test_the_largest_list_is_read(tmp_path):
    hashes = sorted(hash_code(i.to_bytes(4, "big")).hex() for i in range(200_000))
    note = write_note("codes", {"contract": "ab" * 32, "hashes": hashes})
    assert len(read_codes(note, "ab" * 32, 10**9)) == 200_000
    more = write_note("codes", {"contract": "ab" * 32, "hashes": [*hashes, "f" * 64]})
    with pytest.raises(RefusedError) as refused:
        read_codes(more, "ab" * 32, 10**9)
    assert refused.value.reason == "codes-miscounted"
