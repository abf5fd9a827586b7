"""The disk of a role is lost at any moment of a round, and the role is restored from a backup.

At most the open round is lost. Nobody signs two texts for one slot, and the next round is counted.
"""

import json
import shutil
from collections import defaultdict
from contextlib import suppress

import pytest

from helpers.roles_in_folders import ENVIRONMENT, ask
from mixtally.device.contract.fields import fingerprint_of, text_of
from mixtally.device.wire.note import find_signers
from mixtally.errors import DataError
from mixtally.server.collector import Proposal, parse_signed_contract, propose
from mixtally.server.node.backup import restore_backup, write_backup
from mixtally.server.node.calls import Answer, SilentError
from mixtally.server.node.disk import no_step
from network.stage import BINS, COLLECTOR, Stage

MOMENTS = 12
STEPS = {1: 57, 2: 54, 3: 52, COLLECTOR: 47}
"""About how many durable steps each role takes in a round; the moments are spread over them."""
PEOPLE = (0, 1, 1)


class LostError(Exception):
    """The machine of a role is gone."""


class Lossy(Stage):
    """A stage on which one role is lost after so many durable steps."""

    def __init__(self, place, victim, after, *, fresh=False):
        super().__init__(place, rounds=4)
        self.victim, self.left, self.fresh = victim, after, fresh
        self.seen, self.counted, self.lost = 0, False, False
        self.said = defaultdict(set)
        self.file = place / "backup"

    def begin(self):
        """All roles are awake, and the victim has a backup from before its first round."""
        self.mixes = [self.awaken(n, step=self.step_of(n)) for n in (1, 2, 3)]
        self.office = self.awaken_collector(step=self.step_of(COLLECTOR))
        for _ in range(2):
            self.tick()
        write_backup(self.folder, self.file)
        self.counted = True

    @property
    def folder(self):
        return self.folders[self.victim - 1].path

    def step_of(self, number):
        return self.step if number == self.victim and not self.lost else no_step

    def step(self, _):
        """One more durable step of the victim: its last one, or it is over already."""
        if self.counted:
            self.seen += 1
            if self.seen > self.left:
                self.lost = True
                self.apps.pop(self.folders[self.victim - 1].role.address, None)
                raise LostError

    def call(self, address, method, path, body=b""):
        if address not in self.apps:
            raise SilentError(address)
        if (method, path) == ("POST", "/notes"):
            self.hear(body)
        answer = ask(self.apps[address], method, path, body)
        return Answer(answer.status, answer.body)

    def hear(self, note):
        """Remember what left a role, by who signed it and for which slot."""
        said = json.loads(text_of(note))
        about = {
            "sheet": lambda: said["round"],
            "manifest": lambda: (said["sheet"], said["hop"]),
            "receipt": lambda: (said["manifest"], said["hop"]),
        }.get(said.get("kind"), lambda: "contract")()
        for name in find_signers(note, self.agreement(1).keys):
            self.said[name, said.get("kind"), about].add(fingerprint_of(note))

    def restore(self):
        self.counted = False
        old = self.nodes_awake[self.victim - 1]
        old.close()
        if self.fresh:
            write_backup(self.folder, self.file)
        shutil.rmtree(self.folder)
        restore_backup(self.file, self.folder, ENVIRONMENT)
        if self.victim == COLLECTOR:
            self.office = self.awaken_collector()
        else:
            self.mixes[self.victim - 1] = self.awaken(self.victim)

    def tick(self):
        """Everybody does what is due; who is lost is restored."""
        for number, role in enumerate(self.roles, 1):
            if not (number == self.victim and self.lost and self.counted):
                with suppress(LostError):
                    role.tick(self.now)
        if self.lost and self.counted:
            self.restore()

    def settle(self, ticks=3):
        for _ in range(ticks):
            self.tick()
            self.now += 1

    def proposed(self):
        """The next round, signed by all; it is proposed until it is."""
        agreed = parse_signed_contract(self.text, "contract")
        for _ in range(8):
            with suppress(DataError, LostError):
                done = propose(
                    self.collector, agreed, self.call, self.now, Proposal(expiry_delay=5000)
                )
                self.settle()
                self.note = done.note
                return done.sheet
            self.settle()
            last = self.collector.rounds.last(self.contract.name)
            if last is not None and last.ended:
                self.now = max(self.now, last.closes)
        raise AssertionError("no round is signed by all")

    def play(self):
        """A round from its proposal to its end: the number of its collector, and how it ended."""
        sheet = self.proposed()
        self.now = max(self.now, sheet.opens + 1)
        self.settle()
        taken = [self.send(self.bundle([BINS[one]]), sheet.round).status == 201 for one in PEOPLE]
        self.settle()
        self.now = max(self.now, sheet.closes)
        for _ in range(12):
            self.settle(1)
        row = self.row(sheet.round)
        if not row.ended:
            self.now = sheet.expires + 1
            self.settle(6)
        row = self.row(sheet.round)
        if row.state == "released":
            assert all(taken)
            result = json.loads(self.office.results.read_result(row.folder))
            assert result["received"]["contributors"] == len(PEOPLE)
        return row.state

    def end(self):
        for mix in self.mixes:
            mix.end()
        self.collector.close()


def played(place, victim, after, fresh):
    stage = Lossy(place, victim, after, fresh=fresh)
    stage.begin()
    ends = [stage.play()]
    if not stage.lost or ends[0] != "released":
        ends.append(stage.play())
    assert stage.lost
    assert "released" in ends, ends
    ends.append(stage.play())
    assert ends[-1] == "released", ends
    assert {key: texts for key, texts in stage.said.items() if len(texts) > 1} == {}
    stage.end()
    return ends


@pytest.mark.parametrize(("victim", "moment"), [(1, 5), (2, 8), (COLLECTOR, 1), (COLLECTOR, 8)])
def test_at_most_the_open_round_is_lost(tmp_path, victim, moment):
    lost_at(tmp_path, victim, moment, fresh=False)


@pytest.mark.seconds
@pytest.mark.parametrize("moment", range(MOMENTS))
@pytest.mark.parametrize("victim", STEPS)
@pytest.mark.parametrize("fresh", [False, True])
def test_at_most_the_open_round_is_lost_at_any_moment(tmp_path, victim, moment, fresh):
    lost_at(tmp_path, victim, moment, fresh=fresh)


def lost_at(place, victim, moment, *, fresh):
    """The moments of a role are spread over its steps."""
    return played(place, victim, (2 * moment + 1) * STEPS[victim] // (2 * MOMENTS), fresh)
