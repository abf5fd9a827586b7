"""What others know is asked first; what is signed reaches all of them in the end."""

import shutil
import threading
import time

import msgspec
import pytest

from helpers.roles_in_folders import ENVIRONMENT, START, Village, ask, changed
from mixtally.device.contract.fields import fingerprint_of
from mixtally.device.wire.manifest import EXPIRED, Manifest, PartManifest
from mixtally.device.wire.note import sign_note
from mixtally.primitives.chance import SecureChance
from mixtally.server.node.calls import Answer, SilentError
from mixtally.server.node.events import Log
from mixtally.server.node.folder import open_folder
from mixtally.server.node.node import Node
from mixtally.server.node.peers import Peers
from mixtally.server.node.refusal import OldStateError

SECONDS = 60
"""Limit of a wait, which only a failure uses up."""


def left_after(peers, now):
    """How many notes are still to be sent after a pass."""
    peers.send_all(now)
    return len(peers._node.notes.list_unsent())


@pytest.fixture
def village(tmp_path):
    return Village(tmp_path, hops=2)


def test_a_role_serves_once_all_have_answered(village):
    nodes = [village.node(place, cleared=False) for place in (1, 2, 3)]
    peers = village.peers(nodes[0])
    assert peers.ask(0) == ["collector", "mix-2"]
    village.awake(nodes[1])
    assert peers.ask(100) == ["collector"]
    assert nodes[0].cleared == set()
    village.awake(nodes[2])
    assert peers.ask(200) == []
    assert nodes[0].cleared == {village.fingerprint}


def test_a_silent_role_may_be_overruled_and_that_is_remembered(village):
    nodes = village.nodes()
    nodes[0].cleared.clear()
    village.awake(nodes[1])
    assert village.peers(nodes[0], ["collector"]).ask(0) == []
    assert nodes[0].rounds.list_overruled(village.fingerprint) == ("collector",)
    nodes[0].cleared.clear()
    village.awake(nodes[2])
    assert village.peers(nodes[0], ["collector"]).ask(0) == []  # it answers this time
    assert nodes[0].rounds.list_overruled(village.fingerprint) == ()


def test_serials_of_one_name_wait_separately(village):
    """A mix that answers at its old address only, and a collector that does not answer."""
    nodes = village.nodes()
    village.awake(nodes[1])
    first, lines, mine = nodes[0], [], village.agreement(1)
    first.cleared.clear()
    first.log = Log(lines.append, clock=lambda: 0)
    gone = msgspec.structs.replace(mine.hops[1], address="http://127.0.0.1:7999")
    first.load_contract(changed(mine, contract="0" * 64, serial=2, hops=(mine.hops[0], gone)))
    peers = village.peers(first)
    for second in range(5):
        peers.ask(second)
    said = [line.split(" ", 1)[1].split(" what=")[0] for line in lines if "waiting" in line]
    waits = [(1, "collector"), (2, "mix-2"), (2, "collector")]
    assert said == [f"waiting contract={mine.name} serial={n} role={role}" for n, role in waits]


def test_an_old_copy_does_not_run(village, tmp_path):
    first, *others = nodes = village.nodes()
    for node in nodes:
        node.database.rows("PRAGMA wal_checkpoint(TRUNCATE)")
    shutil.copytree(first.folder.path, tmp_path / "copy")
    village.agreed(nodes)
    for node in others:
        village.awake(node)
    old = Node(open_folder(tmp_path / "copy", ENVIRONMENT), SecureChance())
    old.start_serving(village.agreement(1))
    with pytest.raises(OldStateError, match="mix-2"):
        village.peers(old).ask(0)
    first.cleared.clear()
    assert village.peers(first).ask(0) == []  # the newest one does


def test_notes_made_up_by_a_peer_stop_nobody(village, monkeypatch):
    nodes = village.nodes()
    nodes[0].cleared.clear()
    for node in nodes[1:]:
        village.awake(node)
    false = {fingerprint_of(one): one for one in (b"{}\n", b"{}\n\n\xe2\x80\x94 mix-1 AAAA\n")}
    usual = nodes[1].notes.of
    monkeypatch.setattr(nodes[1].notes, "list_signed_by", lambda _: ["0" * 64, *false])
    monkeypatch.setattr(nodes[1].notes, "of", lambda found: false.get(found) or usual(found))
    assert village.peers(nodes[0]).ask(0) == []


def test_many_notes_of_others_are_looked_at_before_it_serves(village, monkeypatch):
    """Somebody of the same name under another contract; among them one that was forgotten."""
    nodes = village.nodes()
    nodes[0].cleared.clear()
    for node in nodes[1:]:
        village.awake(node)
    many = [f"{number:064x}" for number in range(35)]
    monkeypatch.setattr(nodes[1].notes, "list_signed_by", lambda _: many)
    peers, now = village.peers(nodes[0]), 0
    while peers.ask(now):
        now += 1
    assert 3 <= now < 20  # each ten are followed by a longer pause
    nodes[0].cleared.clear()
    own = sign_note(b"{}\n", nodes[0].signer)
    many.append(fingerprint_of(own))
    usual = nodes[1].notes.of
    given = {many[-1]: own}
    monkeypatch.setattr(nodes[1].notes, "of", lambda found: given.get(found) or usual(found))
    village.awake(nodes[1])
    peers = village.peers(nodes[0])
    for now in (0, 10, 20):
        peers.ask(now)
    with pytest.raises(OldStateError):
        peers.ask(30)


@pytest.mark.parametrize(
    "body",
    [b"", b"{}", b"[1]", b"\xff", b"0", b"1\n", b"0\n\n", b"1\n" + b"A" * 64 + b"\n", b"00\n"],
)
def test_an_answer_that_says_nothing_is_silence(village, body):
    node = village.node(1, cleared=False)
    peers = Peers(node, lambda *_: Answer(200, body))
    assert peers.ask(0) == ["collector", "mix-2"]


def test_everything_signed_reaches_everybody(village):
    nodes = village.nodes()
    village.agreed(nodes)
    apps = [village.awake(node) for node in nodes]
    address = nodes[2].folder.role.address
    del village.apps[address]
    peers = village.peers(nodes[0])
    assert left_after(peers, 0) == 2  # contract and sheet for the collector, who sleeps
    assert (
        len(nodes[0].notes.list_untried(nodes[0].rounds.all()[0].sheet)) == 1
    )  # not tried in its turn
    village.apps[address] = apps[2]
    assert left_after(peers, 0) == 1  # its first try is not put off, another is for a second
    assert left_after(peers, 1) == 0
    assert nodes[0].notes.list_unsent() == []


def test_silent_roles_are_left_alone_for_longer_and_longer(village):
    node = village.node(1)
    tried = []
    peers = village.peers(node)
    peers._call = lambda address, *_: tried.append(address) or village.call(address, *_)
    for now in range(64):
        peers.send_all(now)
    assert len(tried) == 2 * 7  # at 0, 1, 3, 7, 15, 31, 63


def test_a_note_that_is_refused_for_now_keeps_no_other_back(village):
    """A peer that another contract keeps from being ready refuses the notes of that one alone."""
    nodes = village.nodes()
    village.agreed(nodes)
    for node in nodes[1:]:
        village.awake(node)
    silent, refused = {nodes[1].folder.role.address}, []

    def call(address, method, path, body=b""):
        if address in silent:
            raise SilentError(address)
        if fingerprint_of(body) == village.fingerprint:
            refused.append(address)
            return Answer(503, b"")
        return village.call(address, method, path, body)

    peers = Peers(nodes[0], call)
    for _ in range(2):
        peers.send_all(0)  # each note for the silent peer is tried once
    silent.clear()
    for now in range(1, 64):
        peers.send_all(now)
    left = {one.note for one in nodes[0].notes.list_unsent()}
    assert {fingerprint_of(note) for note in left} == {village.fingerprint}
    assert len(refused) <= 2 * 7  # each after a longer and longer pause


def test_notes_of_a_round_that_a_peer_never_signed_are_sent_until_it_has_expired(village):
    nodes = village.nodes()
    for node in nodes:
        village.awake(node)
    peers = village.peers(nodes[0])
    assert left_after(peers, 0) == 0  # the contract
    note = village.agreed(nodes)
    nodes[1].rounds.of_sheet = lambda _: None  # as if mix-2 had been down since
    row = nodes[0].rounds.of_sheet(fingerprint_of(note))
    nodes[0].sign_manifest(row, Manifest(row.sheet, 1, 0, 0, EXPIRED, None, (PartManifest(0),)))
    for now in (START, row.expires - 1):
        peers.send_all(now)
    assert [one.role for one in nodes[0].notes.list_unsent()] == ["mix-2"]
    assert left_after(peers, row.expires + 60) == 0


def test_a_role_that_asks_is_awake(village):
    nodes = village.nodes()
    app = village.awake(nodes[1])
    village.apps.clear()
    peers = village.peers(nodes[1])
    for now in range(10):
        peers.send_all(now)
    village.awake(nodes[0])
    assert left_after(peers, 11) == 2  # both are left alone until 15
    ask(app, "GET", "/notes/mix-1")
    assert left_after(peers, 12) == 1
    ask(app, "GET", "/notes/somebody")
    assert nodes[1].pop_awake() == set()


def test_an_agreement_knows_its_place(village):
    agreement = village.agreement(2)
    assert (agreement.own_role.name, agreement.next_role.name) == ("mix-2", "collector")
    assert changed(agreement, place=3).next_role is None
    assert [role.name for role in agreement.other_roles] == ["mix-1", "collector"]
    assert set(agreement.key_of(3)) == {"collector"}


class Slow:
    """Peers of a village, called in threads; the calls of one address wait for ``release``."""

    def __init__(self, village, node, address):
        self.village, self.release, self.threads = village, threading.Event(), set()
        self.woken, self.address = threading.Event(), address
        node.wake = self.woken.set
        self.peers = Peers(node, self.call, background=True)

    def call(self, address, method, path, body=b""):
        self.threads.add(threading.current_thread())
        if address == self.address:
            assert self.release.wait(2 * SECONDS)
        return self.village.call(address, method, path, body)

    def until(self, what):
        """Repeat the pass of a loop, as often as it is woken, until something holds."""
        end = time.monotonic() + SECONDS
        while not what():
            assert time.monotonic() < end
            self.woken.wait(0.05)
            self.woken.clear()


def test_the_loop_does_not_wait_for_a_slow_peer(village):
    nodes = village.nodes()
    for node in nodes[1:]:
        village.awake(node)
    nodes[0].cleared.clear()
    slow = Slow(village, nodes[0], nodes[1].folder.role.address)
    began = time.monotonic()
    slow.until(lambda: slow.peers.ask(0) == ["mix-2"])  # the collector has answered
    nodes[0].cleared.add(village.fingerprint)  # as if the slow peer were of another contract
    note = village.sheet(nodes)
    nodes[0].take_note(nodes[-1].propose(note, village.now), village.now)
    unsent = [one.role for one in nodes[0].notes.list_unsent()]
    assert {"mix-2", "collector"} == set(unsent)

    def unsent_to():
        slow.peers.ask(0)
        slow.peers.send_all(0)
        return {one.role for one in nodes[0].notes.list_unsent()}

    slow.until(lambda: unsent_to() == {"mix-2"})
    assert time.monotonic() - began < SECONDS
    assert threading.main_thread() not in slow.threads
    slow.release.set()
    slow.until(lambda: (slow.peers.ask(0), left_after(slow.peers, 0))[1] == 0)


def test_a_peer_is_called_by_one_thread_at_a_time(village, monkeypatch):
    nodes = village.nodes()
    nodes[0].cleared.clear()
    slow = Slow(village, nodes[0], nodes[1].folder.role.address)
    started = []
    usual = threading.Thread.start
    monkeypatch.setattr(threading.Thread, "start", lambda one: (started.append(one), usual(one)))
    for _ in range(50):
        slow.peers.ask(0)
        slow.peers.send_all(0)
    # The thread that called the silent collector may have its last steps to do.
    slow.until(lambda: len([one for one in started if one.is_alive()]) == 1)
    slow.release.set()
    for one in started:
        one.join()


def test_a_silent_peer_does_not_wake_the_loop_again_and_again(village):
    nodes = village.nodes()
    nodes[0].cleared.clear()
    slow = Slow(village, nodes[0], "")
    slow.until(lambda: (slow.peers.ask(0), not slow.peers._jobs)[1])
    for one in slow.threads:
        one.join()  # a thread wakes the loop after its job is done
    slow.woken.clear()
    for _ in range(20):
        assert slow.peers.ask(0) == ["collector", "mix-2"]
    assert not slow.woken.wait(0.2)


def test_an_error_in_a_thread_ends_the_loop(village, tmp_path):
    first, *others = nodes = village.nodes()
    for node in nodes:
        node.database.rows("PRAGMA wal_checkpoint(TRUNCATE)")
    shutil.copytree(first.folder.path, tmp_path / "copy")
    village.agreed(nodes)
    for node in others:
        village.awake(node)
    old = Node(open_folder(tmp_path / "copy", ENVIRONMENT), SecureChance())
    old.start_serving(village.agreement(1))
    slow = Slow(village, old, "")
    with pytest.raises(OldStateError):
        slow.until(lambda: slow.peers.ask(0) == [])


def test_many_silent_peers_take_a_bounded_number_of_threads(village, monkeypatch):
    monkeypatch.setattr("mixtally.server.node.peers._MOST_JOBS", 3)
    node = village.node(1)
    peers, release = Peers(node, village.call, background=True), threading.Event()
    done = []
    for number in range(10):
        peers.run_job(number, lambda: (release.wait(SECONDS), done.append(1)))
    assert [peers.is_running(number) for number in range(10)] == [True] * 3 + [False] * 7
    release.set()
    end = time.monotonic() + SECONDS
    while len(done) < 3 and time.monotonic() < end:
        time.sleep(0.01)
    peers.ask(0)
    assert len(done) == 3
