"""``mixtally client``: consent that fails closed, one bundle, and a log of what left."""

import io
import json
import os
import stat
import sys
import threading

import pytest

from helpers.devices import LABELS, NOW, OPEN, World, answer, by_mixes, by_people, first_mix
from mixtally.device.client.net import Loss, RoleAnswer, WatchReport, seal
from mixtally.device.wire.codes import make_code
from mixtally.errors import DataError
from mixtally.model.question import Question

LIMITS = "[limits]\nepsilon = 1.0\ndelta = 0.1\nhops = 2\n"


class Stream(io.StringIO):
    """What is typed, at a terminal or not."""

    def __init__(self, text, *, terminal):
        super().__init__(text)
        self.terminal = terminal

    def isatty(self):
        return self.terminal


@pytest.fixture
def clock(monkeypatch, plant):
    """A clock that goes on while the command sleeps; no moment is now, as one in 3,600 would be."""
    now = [float(NOW)]
    plant(seal, "draw_due_time", lambda honest, words, at, end: honest(words, at + 1, end))
    monkeypatch.setattr("mixtally.cli.client.time", lambda: now[0])

    def sleep(seconds):
        now[0] += seconds

    monkeypatch.setattr("mixtally.cli.client.sleep", sleep)
    return now


@pytest.fixture
def desk(tmp_path, clock, monkeypatch):
    """A device, and a first mix; calls the command with what is typed."""
    monkeypatch.setenv("HOME", str(tmp_path))
    with first_mix() as mix:
        yield Scene(tmp_path, mix, monkeypatch)


class Scene:
    def __init__(self, folder, mix, patch):
        self.folder, self.mix, self.patch = folder, mix, patch
        self.lay(World(address=mix.address))

    def lay(self, world, number=1):
        self.world = world
        (self.folder / "contract.note").write_bytes(world.note)
        (self.folder / "sheet.note").write_bytes(world.sheet(number))
        trust = f'fingerprint = "{world.fingerprint}"\n{LIMITS}'
        (self.folder / "trust.toml").write_text(trust)

    def type(self, text, *, terminal=False):
        self.patch.setattr(sys, "stdin", Stream(text, terminal=terminal))
        self.patch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)

    def send(self, cli, *options, text="yes\n"):
        self.type(text)
        return cli(*self.words("send", "sheet.note"), *options)

    def words(self, command, *more):
        files = [self.folder / name for name in ("contract.note", *more)]
        return ["client", command, *files, "--trust", self.folder / "trust.toml"]

    @property
    def diary(self):
        return self.folder / ".mixtally" / "diary.db"


def test_an_answer_leaves_once(cli, desk, clock):
    outcome = desk.send(cli, "--yes", text="Zürich\n")
    assert (outcome.status, outcome.err) == (0, "")
    assert desk.world.opened(*desk.mix.bodies) == [[b"\x02"]]
    for said in (
        "mix 1: mix-1, run by Team mix-1, http://127.0.0.1:",
        "promise: epsilon 1 and delta 0.1 for all 3 rounds together",
        "any one of the 2 mixes is honest",
        "sent: once, 145 encrypted bytes",
        "home-page round 1: taken (201), ",
    ):
        assert said in outcome.out
    assert "Zürich\n" not in outcome.out.replace(", ".join(LABELS), "")
    assert NOW < clock[0] < NOW + OPEN
    assert stat.S_IMODE(desk.diary.parent.stat().st_mode) == 0o700


def test_notes_are_fetched_from_any_role(cli, desk):
    with first_mix(
        answer(200, body=desk.world.note), answer(200, body=desk.world.sheet(1))
    ) as role:
        desk.type("Zürich\n")
        place = f"{role.address}/contracts/{desk.world.fingerprint}"
        trust = desk.folder / "trust.toml"
        outcome = cli("client", "send", place, f"{place}/rounds/1", "--trust", trust, "--yes")
    assert outcome.status == 0
    assert len(desk.mix.requests) == 1


def test_what_is_fetched_is_believed_for_its_signatures_alone(desk, refused):
    with first_mix(answer(200, body=World().note)) as role:
        words = ("client", "show", f"{role.address}/contracts/x")
        line = refused(*words, "--trust", desk.folder / "trust.toml")
    assert f"contract: expected {desk.world.fingerprint}, got " in line


def test_it_is_not_sent_twice(cli, desk, refused):
    desk.send(cli, "--yes")
    desk.type("no\n")
    line = refused(*desk.words("send", "sheet.note"), "--yes")
    assert "a round that was not answered yet" in line
    assert len(desk.mix.requests) == 1


def test_now_is_now(cli, desk, clock):
    desk.send(cli, "--yes", "--now")
    assert (clock[0], len(desk.mix.requests)) == (NOW, 1)


def test_without_a_terminal_consent_must_be_said(desk, refused):
    desk.type("yes\n")
    assert "or --yes" in refused(*desk.words("send", "sheet.note"))
    assert desk.mix.requests == []


@pytest.mark.parametrize("said", ["no", "", "y", "maybe"])
def test_at_a_terminal_anything_but_yes_is_no(cli, desk, said):
    desk.type(f"no\n{said}\n", terminal=True)
    outcome = cli(*desk.words("send", "sheet.note"), "--now")
    assert (outcome.status, desk.mix.requests) == (2, [])
    assert "Nothing was sent" in outcome.err
    assert json.loads(cli("client", "log", "--json").out)["rounds"] == []


def test_at_a_terminal_yes_is_yes(cli, desk):
    desk.type("no\nyes\n", terminal=True)
    outcome = cli(*desk.words("send", "sheet.note"), "--now")
    assert (outcome.status, len(desk.mix.requests)) == (0, 1)
    assert outcome.err == "answer: Send this answer? It can be sent only once. [yes/no] "
    assert desk.world.opened(*desk.mix.bodies) == [[b"\x01"]]


def test_nothing_typed_is_no_answer(desk, cli):
    outcome = desk.send(cli, "--yes", text="")
    assert (outcome.status, desk.mix.requests) == (2, [])


def test_what_is_pending_is_sent_on_without_a_question(cli, desk, monkeypatch):
    def end(seconds):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("mixtally.cli.client.sleep", end)
        assert desk.send(cli, "--yes", text="no\n").status == 130
    assert desk.mix.requests == []
    outcome = desk.send(cli, text="")
    assert outcome.status == 0
    assert desk.world.opened(*desk.mix.bodies) == [[b"\x01"]]


def test_a_busy_mix_gets_the_same_bytes_later(cli, desk, clock):
    desk.mix.answers = [answer(503, "Retry-After: 90"), answer(201)]
    assert desk.send(cli, "--yes", "--now").status == 0
    assert (len(desk.mix.requests), len(set(desk.mix.requests))) == (2, 1)
    assert clock[0] >= NOW + 90


@pytest.mark.parametrize(
    ("said", "state"),
    [
        (answer(410), "refused, because the round has closed, or was ended by its operators"),
        (answer(429, "Retry-After: 99999999"), "refused, because the round accepts no more"),
        (answer(503), "no answer before"),
    ],
)
def test_what_is_not_taken_ends_with_status_1(cli, desk, said, state):
    desk.mix.answers = [said]
    outcome = desk.send(cli, "--yes", "--now")
    assert outcome.status == 1
    assert state in outcome.out


def test_json_is_alone_on_standard_output(cli, desk):
    outcome = desk.send(cli, "--yes", "--now", "--json")
    facts = json.loads(outcome.out)
    assert (facts["state"], facts["status"], facts["tries"], facts["round"]) == ("taken", 201, 1, 1)
    assert [len(tag) for tag in facts["tags"]] == [16]
    assert "mix 1: mix-1, run by Team mix-1" in outcome.err


def test_the_log(cli, desk):
    assert cli("client", "log").out == "Nothing was charged, and nothing was sent.\n"
    assert not desk.diary.exists()
    desk.send(cli, "--yes", "--now")
    desk.lay(World(address=desk.mix.address, name="kitchen"))
    assert desk.send(cli, "--yes", "--now").status == 2
    assert desk.send(cli, "--yes", "--now", "--again").status == 0
    outcome = cli("client", "log")
    assert "home-page round 1: taken (201), 2027-01-15 08:00:00 UTC; sent 2027-" in outcome.out
    assert "in total: epsilon 2.00001, delta 0.200001" in outcome.out
    facts = json.loads(cli("client", "log", "--json").out)
    assert [one["name"] for one in facts["charges"]] == ["home-page", "kitchen"]
    assert 2.0 <= facts["epsilon"] < 2.0000001
    assert facts["rounds"][0]["contract"] != facts["rounds"][1]["contract"]


def test_show_says_what_it_costs(cli, desk):
    told = cli(*desk.words("show")).out
    assert "question: opinion" in told
    assert "answers: yes, no, Zürich, perhaps" in told
    assert "collude with the collector, no privacy is left" in told
    assert "cost: epsilon 1, delta 0.1" in told
    assert not desk.diary.exists()
    desk.send(cli, "--yes", "--now")
    assert "cost: nothing more" in cli(*desk.words("show")).out
    facts = json.loads(cli(*desk.words("show"), "--json").out)
    assert facts["fingerprint"] == desk.world.fingerprint


def test_people_are_told_what_cover_by_people_rests_on(cli, desk):
    desk.lay(World(by_people(), address=desk.mix.address))
    told = cli(*desk.words("show")).out
    assert "the first mix is honest, or mixes before the first honest one drop nothing" in told
    assert "435 encrypted bytes" in told


def test_how_much_leaves_is_said_for_every_suite(cli, desk):
    desk.lay(World(address=desk.mix.address, suite=2))
    assert "sent: once, 3,409 encrypted bytes" in cli(*desk.words("show")).out
    assert desk.send(cli, "--yes", "--now").status == 0
    assert len(desk.mix.bodies[0]) == 3409


def test_nothing_that_controls_a_screen_is_printed(cli, desk):
    question = Question(name="opinion\u200e", bins=4, labels=LABELS)
    desk.lay(World(by_mixes(question=question), address=desk.mix.address))
    assert "question: opinion\ufffd" in cli(*desk.words("show")).out


def test_a_budget_of_the_file_is_kept(desk, refused):
    file = desk.folder / "trust.toml"
    file.write_text(file.read_text() + "[budget]\nepsilon = 0.5\ndelta = 1.0\n")
    desk.type("yes\n")
    desk.patch.setattr("mixtally.cli.client.describe_consent", lambda *_: [])
    assert "epsilon of at most 0.5 in all" in refused(*desk.words("send", "sheet.note"), "--yes")
    assert desk.mix.requests == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "a pinned fingerprint, or the pinned key of a hop"),
        (["--fingerprint", "0" * 64], "0000, got "),
        (["--fingerprint", "0" * 63], "64 digits"),
    ],
)
def test_a_contract_that_is_not_pinned(desk, refused, options, said):
    file = desk.folder / "contract.note"
    assert said in refused("client", "show", file, *options)


def test_a_fingerprint_is_enough(cli, desk):
    desk.lay(World(by_mixes(delta=1e-6, hops=2), address=desk.mix.address))
    file = desk.folder / "contract.note"
    assert cli("client", "show", file, "--fingerprint", desk.world.fingerprint).status == 0


def test_two_fingerprints(desk, refused):
    line = refused(*desk.words("show"), "--fingerprint", "0" * 64)
    assert "that of the file --trust" in line


@pytest.mark.parametrize(
    ("question", "typed", "message"),
    [
        (Question(name="n", bins=4), "3", b"\x03"),
        (Question(name="n", bins=4, labels=("1", "2", "3", " 4")), " 4", b"\x03"),
    ],
)
def test_answers_as_they_are_typed(cli, desk, question, typed, message):
    desk.lay(World(by_mixes(question=question), address=desk.mix.address))
    assert desk.send(cli, "--yes", "--now", text=f"{typed}\n").status == 0
    assert desk.world.opened(*desk.mix.bodies) == [[message]]


def test_an_answer_that_cannot_be_read_is_not_repeated(cli, desk):
    question = Question(name="n", bins=4)
    desk.lay(World(by_mixes(question=question), address=desk.mix.address))
    outcome = desk.send(cli, "--yes", text="secret\n")
    assert outcome.status == 2
    assert "secret" not in outcome.err + outcome.out


def test_no_answer_where_there_is_none_is_refused(cli, desk):
    outcome = desk.send(cli, "--yes", "--no-answer", text="")
    assert (outcome.status, desk.mix.requests) == (2, [])
    assert "because no bin is for people without one" in outcome.err


def test_a_watched_round_is_checked_once_it_has_closed(cli, desk, clock, monkeypatch):
    """Silent roles are no loss; the tags are kept until everybody has answered."""
    monkeypatch.setattr("mixtally.cli.client_watch.time", lambda: clock[0])
    outcome = desk.send(cli, "--yes", "--watch")
    assert "with the collector's help, your answer" in outcome.out
    assert json.loads(cli("client", "log", "--json").out)["rounds"][0]["watched"]
    early = cli(*desk.words("watch"))
    assert (early.status, early.out) == (
        0,
        "home-page round 1: not checked; ask again after the round has closed\n",
    )
    clock[0] = NOW + OPEN
    told = []

    def fetch(address, _):
        told.append(address)
        raise DataError(address, expected="an answer", got="none", do="ask again")

    monkeypatch.setattr("mixtally.cli.client_watch.fetch", fetch)
    outcome = cli(*desk.words("watch"), "--json")
    (said,) = json.loads(outcome.out)["rounds"]
    assert (outcome.status, said["checked"], said["lost"], said["faults"]) == (0, False, [], [])
    assert [one["state"] for one in said["roles"]] == ["no answer"] * 3
    assert len(told) == 3
    assert "mix-1 no answer" in cli(*desk.words("watch")).out
    monkeypatch.setattr(
        "mixtally.cli.client_watch.check_arrival",
        lambda *_: WatchReport((RoleAnswer("mix-1", "yes"),), (Loss("mix-1", "mix-2", 1),)),
    )
    outcome = cli(*desk.words("watch"))
    assert outcome.status == 1
    assert outcome.out == (
        "home-page round 1: mix-1 yes\n  lost between mix-1 and mix-2: 1 message\n"
    )
    assert cli(*desk.words("watch")).out == "Nothing is watched.\n"
    assert not json.loads(cli("client", "log", "--json").out)["rounds"][0]["watched"]


def test_tags_can_be_erased_unchecked(cli, desk):
    desk.send(cli, "--yes", "--watch")
    assert "not checked" in cli(*desk.words("watch"), "--forget").out
    assert cli(*desk.words("watch")).out == "Nothing is watched.\n"


@pytest.mark.parametrize("place", ["file", "pipe", "-"])
def test_a_code_is_read_from_a_file_or_before_the_answer(cli, desk, tmp_path, place):
    """Other users of a machine can see a command line."""
    code = make_code(bytes(16))
    desk.lay(World(address=desk.mix.address, admission="codes"))
    file, text = tmp_path / "code", "no\n"
    writer = threading.Thread(target=file.write_text, args=(f" {code.lower()}\n",), daemon=True)
    if place == "-":
        file, text = "-", f"{code.lower()}\nno\n"
    elif place == "pipe":
        os.mkfifo(file)
        writer.start()
    else:
        writer.run()
    outcome = desk.send(cli, "--yes", "--code-file", file, text=text)
    assert (outcome.status, outcome.err) == (0, "")
    assert code not in outcome.out.upper()
    assert f"\r\nAuthorization: Code {code}\r\n".encode() in desk.mix.requests[0]
    assert desk.world.opened(*desk.mix.bodies) == [[bytes([LABELS.index("no")])]]


def test_a_file_of_codes_that_has_none(desk, refused, tmp_path):
    desk.lay(World(address=desk.mix.address, admission="codes"))
    words, code = desk.words("send", "sheet.note"), make_code(bytes(16))
    for data in (b"", b"\xff" * 28, f"{code}\n{code}\n".encode(), b"0" * 10**7):
        (tmp_path / "code").write_bytes(data)
        line = refused(*words, "--yes", "--code-file", tmp_path / "code")
        assert "expected a code of 28 letters and digits" in line
    assert "expected a code" in refused(*words, "--yes", "--code-file", tmp_path / "nowhere")
    both = ("--code", code, "--code-file", tmp_path / "code")
    assert "--code without --code-file" in refused(*words, "--yes", *both)
    assert code not in refused(*words, "--yes", *both)
    desk.type("")
    assert "expected a code, got no line" in refused(*words, "--yes", "--code-file", "-")
    assert desk.mix.requests == []


def test_a_code_is_asked_for_before_the_answer_and_never_printed(cli, desk, refused):
    code = make_code(bytes(16))
    desk.lay(World(address=desk.mix.address, admission="codes"))
    line = refused(*desk.words("send", "sheet.note"), "--yes")
    assert "expected a code, as the contract asks for one" in line
    line = refused(*desk.words("send", "sheet.note"), "--yes", "--code", code[::-1])
    assert "expected a code of 28 letters and digits" in line
    assert (desk.mix.requests, desk.diary.exists()) == ([], True)
    outcome = desk.send(cli, "--yes", "--code", code.lower(), text="no\n")
    assert (outcome.status, outcome.err) == (0, "")
    assert code not in outcome.out.upper()
    assert f"\r\nAuthorization: Code {code}\r\n".encode() in desk.mix.requests[0]
    assert code.encode() not in desk.diary.read_bytes()
