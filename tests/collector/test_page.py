"""The page: who runs what, how far rounds are, what they told; plain, the same for everybody."""

import re

import pytest

from helpers import collector_scene, contracts
from helpers.collector_scene import Office
from helpers.roles_in_folders import ask
from mixtally.model.hashing import HMAC_SHA256, Hashing
from mixtally.model.question import Question
from mixtally.report.page import page as render_page
from mixtally.report.terminal import render_summary
from mixtally.server.collector.page import MOST_SHOWN, Page

VALUES = [0, 0, 0, 1, 1, 3]


@pytest.fixture
def office(tmp_path):
    office = Office(tmp_path, hops=2)
    office.begin()
    return office


def shown(office):
    answer = office.ask("GET", "/")
    assert answer.status == 200
    return answer.body.decode()


def test_it_follows_what_happens(office):
    assert "Rounds proposed: 0; at most 3 in all serials together. Batches received: 0." in shown(
        office
    )
    office.proposed()
    assert "accepts answers until it closes; results by 1970-01-13" in shown(office)
    office.send(*office.usual(VALUES))
    office.collector.tick(office.now)
    text = shown(office)
    assert "Rounds proposed: 1; at most 3 in all serials together. Batches received: 1." in text
    assert "released" in text
    for words in (
        "Team mix-1",
        "Team collector",
        "http://127.0.0.1:7002",
        "Messages received",
        "promised",
    ):
        assert words in text
    assert "3.0" in text


def test_it_is_plain_and_from_here_alone(office):
    office.proposed()
    office.send(*office.usual(VALUES))
    office.collector.tick(office.now)
    answer = office.ask("GET", "/")
    text = answer.body.decode()
    assert "<script" not in text
    assert not re.findall(r"(?:src|href)\s*=|url\(|@import", text)
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'")


def test_it_is_the_same_for_everybody(office):
    office.proposed()
    app = office.apps[office.folders[-1].role.address]
    given = [("User-Agent", "planted-agent"), ("Cookie", "planted=1"), ("Accept-Language", "xx")]
    plain, other = ask(app, "GET", "/"), ask(app, "GET", "/", headers=given)
    assert plain.body == other.body
    assert plain.headers == other.headers
    assert b"planted" not in other.body
    assert b"192.0.2.77" not in other.body


def test_nothing_of_keys_or_envelopes_is_on_it(office):
    office.proposed()
    key = office.collector.node.keys.read_key(office.row().folder)
    manifests, pieces = office.usual(VALUES)
    office.send(manifests, pieces)
    office.collector.tick(office.now)
    seen = shown(office).encode() + office.result().body
    for secret in (key.private, key.sort_key, office.folders[-1].signer.seed):
        assert secret not in seen
        assert secret.hex().encode() not in seen
    for path in office.folders[-1].path.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            assert key.private not in data, path
            for piece in pieces.values():
                assert piece[:48] not in data, path


def test_roles_that_have_not_answered(office):
    office.collector.end()
    office.apps.pop(office.folders[0].role.address)
    office.reopen()
    assert f"roles under {office.contract.name}, serial 1." in shown(office)


def test_the_contracts_of_one_name(office):
    for name, many in ((None, 1), (office.contract.name, 1), ("another", 0)):
        document = Page(office.collector).document(name=name)
        assert len(document.facts()["contracts"]) == many


def test_who_was_not_waited_for_is_said(office):
    office.collector.end()
    mix = office.apps.pop(office.folders[0].role.address)
    office.reopen(overruled=("mix-1",))
    office.apps[office.folders[0].role.address] = mix
    office.now += 100
    office.proposed()
    office.collector.node.rounds.overrule(office.fingerprint, "mix-1")
    office.send(*office.usual(VALUES))
    office.collector.tick(office.now)
    assert "not waited for: mix-1" in shown(office)


def test_a_terminal_shows_its_summary(office):
    office.proposed()
    assert render_summary(Page(office.collector).document())


def test_the_hash_of_problems_is_explained(office):
    office.proposed()
    assert b"no-result" in office.result().body
    assert office.ask("GET", "/problems/no-result").status == 200


def test_an_open_question_waits_for_its_words(tmp_path):
    hashed = Hashing(function=HMAC_SHA256, seed=contracts.SEED)
    part = contracts.over_planes(9, 3, drawn=27)
    question = Question(name="q", bins=9, hashed=hashed)
    plan = contracts.plan_of(question, [part], hops=2, users=1000, minimum_crowd=2)
    office = Office(tmp_path, hops=2, plan=plan)
    office.begin()
    office.proposed()
    office.send(*office.usual(VALUES))
    office.collector.tick(office.now)
    assert "counted: the question is open" in shown(office)
    assert "do not agree" not in shown(office)


def test_it_keeps_the_conclusions_of_the_rounds_it_shows_and_no_others(office, monkeypatch):
    """One round is played; rounds like it follow, each of which is shown for a while."""
    office.proposed()
    office.send(*office.usual(VALUES))
    office.collector.tick(office.now)
    page, row = Page(office.collector), office.row()
    found, drawn = office.collector.conclusion(row), []

    def conclusion(asked):
        drawn.append(asked.round)
        return found

    monkeypatch.setattr(office.collector, "conclusion", conclusion)
    for last in range(1, 41):
        rows = [row._replace(round=number) for number in range(1, last + 1)]
        monkeypatch.setattr(office.collector.node.rounds, "all", lambda rows=rows: rows)
        page.write()
        assert len(page._known) == min(last, MOST_SHOWN)
        assert not page._earlier
    assert drawn == [*range(1, 41)]  # once each


def test_twelve_rounds_of_300_labels_are_twelve_small_pages(tmp_path, monkeypatch):
    """One page had 1,271,069 bytes. Twin: all rounds in one document still take more than 1 MB."""
    labels = tuple(f"answer number {i}" for i in range(300))
    question = Question(name="q", bins=300, labels=labels)
    plan = contracts.plan_of(
        question, [contracts.shaped(300, shift=3)], hops=1, users=300, minimum_crowd=2
    )
    office = Office(tmp_path, hops=1, plan=plan)
    drawn = [i.to_bytes(2, "little") for i in range(300)] * 3
    monkeypatch.setattr(collector_scene, "fakes", lambda _: drawn)
    office.begin()
    office.proposed()
    sent = office.sealed([*drawn, *drawn[:300]])  # one person chose each label
    office.send(*office.chain(300, sent))
    office.collector.tick(office.now)
    row = office.row()
    assert row.state == "released"
    found = office.collector.conclusion(row)
    rows = [row._replace(round=number) for number in range(1, 15)]
    monkeypatch.setattr(office.collector, "conclusion", lambda _: found)
    monkeypatch.setattr(office.collector.node.rounds, "all", lambda: rows)
    office.collector.on_change()
    bodies = [office.ask("GET", f"/?page={place}").body for place in range(1, MOST_SHOWN + 1)]
    assert all(len(body) < 200_000 for body in bodies)
    assert office.ask("GET", "/").body == bodies[0]
    for place, body in enumerate(bodies):
        assert f"q, round {14 - place}".encode() in body
        links = re.findall(rb'href="\?page=(\d+)"', body)
        assert sorted(map(int, links)) == [i for i in range(1, 13) if i != place + 1]
    for wrong in ("0", "13", "x", "01", ""):
        assert office.ask("GET", f"/?page={wrong}").status == 404
    assert len(render_page(Page(office.collector).document())) > 1_000_000
