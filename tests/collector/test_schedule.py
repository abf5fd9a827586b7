"""The collector proposes rounds by itself: as often as the contract says, and not more."""

import threading

import msgspec
import pytest

from helpers import contracts
from helpers.collector_scene import Office
from helpers.roles_in_folders import EVERY, KEPT, START, changed
from mixtally.device.wire.problem import Problem
from mixtally.model.contract import Prefixes
from mixtally.server.collector import Proposal, propose, withdraw
from mixtally.server.collector.page import Page
from mixtally.server.collector.schedule import RETRY_SECONDS, Schedule
from mixtally.server.node.events import Log
from mixtally.server.node.peers import Peers
from mixtally.server.node.refusal import OldStateError, ProblemError


@pytest.fixture
def office(tmp_path):
    return begun(tmp_path)


def begun(place, **changes):
    office = Office(place, hops=2, **changes)
    office.begin()
    return ready(office)


def ready(office):
    """The process of the collector begins, with a schedule."""
    office.lines = []
    office.collector.node.log = Log(office.lines.append, clock=lambda: office.now)
    office.collector.warnings = office.collector.node.log.list_warnings
    office.schedule = Schedule(
        office.collector.node, office.collector.peers, office.collector.contracts, office.call
    )
    return office


def passes(office, seconds, step=10):
    """Time passes, and the loop of the collector with it."""
    for _ in range(0, seconds, step):
        office.collector.tick(office.now)
        office.schedule.tick(office.now)
        office.now += step


def rounds(office):
    """Number and opening of every round, counted from the first."""
    rows = office.collector.node.rounds.all()
    return [(row.round, row.opens - rows[0].opens) for row in rows]


def said(office, event):
    return [line.split(" ", 1)[1] for line in office.lines if f" {event} " in line]


def address(office, place):
    return office.folders[place - 1].role.address


def test_rounds_follow_each_other_until_all_are_over(office):
    passes(office, 5 * EVERY)
    assert rounds(office) == [(1, 0), (2, EVERY), (3, 2 * EVERY)]
    assert said(office, "schedule finished") == [
        f"schedule finished contract={office.contract.name} rounds=3"
    ]
    rows = office.collector.node.rounds.all()
    assert {office.collector.node.is_complete(row) for row in rows} == {True}


def test_the_next_round_is_known_when_one_opens_and_no_earlier(office):
    passes(office, 20)
    assert rounds(office) == [(1, 0), (2, EVERY)]
    passes(office, EVERY - 40)
    assert rounds(office) == [(1, 0), (2, EVERY)]
    passes(office, 50)
    assert rounds(office) == [(1, 0), (2, EVERY), (3, 2 * EVERY)]


def test_a_missing_mix_is_said_and_asked_again_each_minute(office):
    asked = []
    app = office.apps.pop(address(office, 2))
    usual = office.schedule._call
    office.schedule._call = lambda *given: asked.append(given[0]) or usual(*given)
    passes(office, 10 * RETRY_SECONDS, step=1)
    assert asked.count(address(office, 2)) == 10
    (line,) = said(office, "schedule waits")
    assert 'because="round 1: expected a key of every mix, got none of mix-2: no answer' in line
    (warning,) = office.collector.node.log.list_warnings()[-1:]
    assert warning["event"] == "schedule waits"
    document = Page(office.collector).document()
    text = next(part.text for part in document.summary()[1:])
    assert text.startswith("The next round could not be proposed since 1970-01-12T")
    assert "none of mix-2" in text
    assert document.facts()["contracts"][0]["warnings"] == [text]
    assert rounds(office) == []
    office.apps[address(office, 2)] = app
    passes(office, RETRY_SECONDS)
    assert len(said(office, "schedule goes on")) == 1
    assert rounds(office)[0] == (1, 0)
    assert office.collector.node.log.list_warnings() == []


def test_a_silent_mix_of_another_contract_delays_nothing(office):
    mine = office.agreement(3)
    silent = msgspec.structs.replace(mine.hops[1], address="http://127.0.0.1:7999")
    hops = mine.hops[0], silent
    neighbor = changed(mine, contract="0" * 64, name="neighbor", hops=hops)
    office.collector.node.load_contract(neighbor)
    passes(office, 20)
    assert rounds(office) == [(1, 0), (2, EVERY)]
    assert said(office, "schedule waits") == []
    assert neighbor.contract not in office.collector.node.cleared


def test_another_reason_is_said_too(office):
    first, second = (office.apps.pop(address(office, place)) for place in (1, 2))
    passes(office, 2 * RETRY_SECONDS)
    office.apps[address(office, 1)] = first
    passes(office, 2 * RETRY_SECONDS)
    assert len(said(office, "schedule waits")) == 1
    (line,) = said(office, "round not proposed")
    assert "mix-2" in line
    assert "mix-1" not in line
    office.apps[address(office, 2)] = second
    passes(office, RETRY_SECONDS)
    assert said(office, "schedule goes on")


def test_a_sheet_that_lacks_a_signature_is_asked_for_again(office, monkeypatch):
    """No second number is used while the window of the first is not over."""
    node = office.mixes[1]

    def refuse(*_):
        raise ProblemError(Problem.NOT_AGREED, "not today")

    with monkeypatch.context() as patch:
        patch.setattr(node, "take_note", refuse)
        passes(office, 5 * RETRY_SECONDS)
        assert rounds(office) == [(1, 0)]
        assert "not today" in said(office, "schedule waits")[0]
    passes(office, RETRY_SECONDS)
    assert office.collector.node.is_complete(office.row(1))
    assert rounds(office) == [(1, 0), (2, EVERY)]


@pytest.mark.parametrize("number", [2, 3])
def test_one_that_lacks_it_before_its_window_as_well(office, monkeypatch, number):
    """It is proposed when the round before it opens; the third is the last of the contract."""
    passes(office, max(10, (number - 2) * EVERY))
    with monkeypatch.context() as patch:
        patch.setattr(office.mixes[1], "take_note", lambda *_: b"")
        passes(office, 3 * RETRY_SECONDS)
    assert not office.collector.node.is_complete(office.row(number))
    passes(office, RETRY_SECONDS)
    assert office.collector.node.is_complete(office.row(number))
    assert office.now < START + (number - 1) * EVERY


def test_a_mix_that_never_signs_costs_one_number_a_slot(office, monkeypatch):
    def refuse(*_):
        raise ProblemError(Problem.NOT_AGREED, "never")

    monkeypatch.setattr(office.mixes[1], "take_note", refuse)
    passes(office, EVERY + 500)
    assert rounds(office) == [(1, 0), (2, EVERY)]


def test_a_dead_mix_costs_no_number_and_rounds_keep_their_times(office):
    passes(office, EVERY)
    app = office.apps.pop(address(office, 1))
    passes(office, 3 * EVERY + 500)
    assert [number for number, _ in rounds(office)] == [1, 2]
    office.apps[address(office, 1)] = app
    passes(office, 2 * RETRY_SECONDS)
    number, opens = rounds(office)[-1]
    assert number == 3
    assert opens % EVERY == 0
    assert START + 10 + opens >= office.now - 2 * RETRY_SECONDS


def test_a_restarted_collector_goes_on(office):
    passes(office, EVERY)
    for _ in range(3):
        office.collector.end()
        office.reopen()
        ready(office)
        passes(office, 50)
        assert rounds(office)[:2] == [(1, 0), (2, EVERY)]
    passes(office, 4 * EVERY)
    assert rounds(office) == [(1, 0), (2, EVERY), (3, 2 * EVERY)]


def test_what_became_of_a_round_does_not_matter(office):
    """Nothing came of the first, so that it expires; the second is withdrawn."""
    passes(office, 10)
    passes(office, 10)
    withdraw(office.collector.node, office.agreed, office.call, 2, office.now)
    passes(office, EVERY)
    assert rounds(office) == [(1, 0), (2, EVERY), (3, 2 * EVERY)]  # and not in the place of 2
    office.now += KEPT + 86_400
    passes(office, 20)
    assert office.row(1).state == "expired"
    assert office.row(2).state == "withdrawn"


def test_a_round_that_the_operator_proposes_counts(office):
    app = office.apps.pop(address(office, 2))
    passes(office, RETRY_SECONDS)
    assert said(office, "schedule waits")
    office.apps[address(office, 2)] = app
    opens = office.now + 1800
    propose(office.collector.node, office.agreed, office.call, office.now, Proposal(opens=opens))
    passes(office, RETRY_SECONDS)
    assert said(office, "schedule goes on")  # the reason is over, though nothing was proposed
    passes(office, 1800)
    rows = office.collector.node.rounds.all()
    assert [row.opens for row in rows] == [opens, opens + EVERY]


def test_a_search_for_words_is_proposed_by_hand(tmp_path):
    asked = Prefixes(alphabet="abc", most=3, longest=4)
    office = begun(tmp_path, part=contracts.shaped(asked.bins), prefixes=asked)
    passes(office, 2 * RETRY_SECONDS)
    assert rounds(office) == []
    assert "propose its rounds by hand" in said(office, "schedule waits")[0]


def test_a_lost_note_ends_the_process(office, monkeypatch):
    def lost(*_):
        raise OldStateError("mix-1", "the note 7f")

    monkeypatch.setattr("mixtally.server.collector.schedule.propose", lost)
    with pytest.raises(OldStateError):
        office.schedule.tick(office.now)


def test_mixes_that_are_slow_do_not_hold_the_loop(office):
    """The mixes are asked in a thread, once at a time."""
    node, never, asked = office.collector.node, threading.Event(), []

    def slow(*given):
        asked.append(given)
        never.wait(600)
        return office.call(*given)

    peers = Peers(node, slow, background=True)
    schedule = Schedule(node, peers, office.collector.contracts, slow)
    woken = threading.Event()
    node.wake = woken.set
    for second in range(3 * RETRY_SECONDS):
        schedule.tick(office.now + second)
    assert len(asked) <= 1
    never.set()
    assert woken.wait(60)
    for job in peers._jobs.values():
        job.result(60)
    assert rounds(office) == [(1, 0)]


def test_the_smaller_serial_of_a_name_is_over(office, monkeypatch):
    monkeypatch.setattr(office.collector.node, "latest", lambda _: 2)
    passes(office, 2 * RETRY_SECONDS)
    assert office.collector.node.rounds.all() == []
