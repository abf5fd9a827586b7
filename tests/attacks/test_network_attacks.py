"""Hostile mixes next to real ones: planted weaknesses are found, and the product is not accused.

Roles draw from the secure source, so no run repeats. A sound product is called violated with a
chance of at most ``ERROR`` in each test.
"""

import numpy as np
import pytest

from attacks.network_processes import ProcessArena
from helpers.contracts import plan_of, proved, shaped, uniform
from helpers.least import shape
from mixtally.app.attack_network import small_plan
from mixtally.device.client.net.trust import OpenRound
from mixtally.device.wire.envelope import Sealer
from mixtally.device.wire.sheet import read_sheet, sheet_hash
from mixtally.device.wire.suite import SUITES
from mixtally.errors import ParameterError
from mixtally.lab.attacks import AttackLab, Verdict
from mixtally.lab.attacks.network import arena, rows
from mixtally.lab.attacks.network.adversary import ATTACKS
from mixtally.lab.attacks.target import target_of_plan
from mixtally.model.question import Question
from mixtally.primitives.chance import SecureChance
from mixtally.server.engine.envelope_worker import EnvelopeWorker
from mixtally.server.mix.closing import stored_fakes

ERROR = 1e-7


def by_mixes(hops=2, bins=33):
    part = shaped(bins, **shape(2.0, 0.01))
    return proved(
        plan_of(Question(name="q", bins=bins), [part], epsilon=2.0, delta=0.01, hops=hops)
    )


def by_people():
    """Twelve people hide each other with two or three fakes each."""
    part, people = uniform(4, whole=2, coin=1 << 62), {"users": 12, "minimum_crowd": 12}
    return proved(plan_of(Question(name="q", bins=4), [part], epsilon=3.0, delta=0.1, **people))


def played(plan, only, runs=200):
    lab = AttackLab(SecureChance(), ERROR, runs=runs)
    found = rows.run_rows(plan, target_of_plan(plan), lab, only=only, seconds=1.0)
    return {one.case: one for one in found}


def verdicts(found):
    return [one.verdict for one in found.values()]


def no_fakes(_recipe, layout, _chance):
    return layout.blank_rows(0)


def as_received(self, _part, messages):
    """A mix that sends messages in the order in which it opened them."""
    numbers = range(self.__dict__.setdefault("sent", 0), self.sent + len(messages))
    self.sent += len(messages)
    return [number.to_bytes(32) for number in numbers]


def believing(agreed, note, _now):
    """A device that looks at no signature."""
    sheet, digest = read_sheet(note), sheet_hash(note)
    return OpenRound(agreed, sheet, digest, Sealer(SUITES[1], sheet.keys, digest))


@pytest.fixture
def arena_of(tmp_path):
    """Makes arenas, and ends them."""
    made = []

    def make(plan, hostile, honest=12, kind=arena.Arena):
        made.append(kind(tmp_path / str(len(made)), plan, frozenset(hostile), honest, 12))
        return made[-1]

    yield make
    for one in made:
        one.end()


@pytest.mark.seconds
def test_an_honest_mix_without_fakes_is_found(monkeypatch):
    plan = by_mixes()
    monkeypatch.setattr(stored_fakes, "draw_recipe_messages", no_fakes)
    assert verdicts(played(plan, "tells")) == [Verdict.VIOLATED] * 2


@pytest.mark.slow
def test_an_honest_mix_that_keeps_the_order_is_found(monkeypatch):
    plan = by_mixes()
    found = played(plan, "all-but-one", runs=100)
    assert verdicts(found) == [Verdict.CONSISTENT] * 2
    assert [one.numbers["rests_on"] for one in found.values()] == ["mix-1", "mix-2"]
    monkeypatch.setattr(EnvelopeWorker, "ordering_keys", as_received)
    found = played(plan, "all-but-one")
    assert verdicts(found) == [Verdict.VIOLATED] * 2
    assert all(one.attacked == one.numbers["proved_by_place"] for one in found.values())


@pytest.mark.seconds
def test_a_device_that_believes_any_sheet_is_found(monkeypatch):
    found = played(by_mixes(), "own-sheet", runs=100)
    assert verdicts(found) == [Verdict.CONSISTENT] * 2
    one = found["mix-1 is hostile"]
    assert (one.attacked, one.numbers["refused"]) == (0.0, 2 * one.runs)
    assert "expected signatures of mix-1, mix-2, collector" in one.numbers["refusal"]
    monkeypatch.setattr(arena, "open_round", believing)
    assert verdicts(played(by_mixes(), "own-sheet")) == [Verdict.VIOLATED] * 2


def row_of(plan, name, hop):
    every = rows.rows_of(plan, target_of_plan(plan), name)
    (row,) = [one for one in every if one.hop == hop]
    return row


def test_who_keeps_the_promise():
    mixes, people = by_mixes(hops=3), by_people()
    assert row_of(mixes, "n-1", 1).rests_on == "mix-2 or mix-3"
    assert row_of(mixes, "all-but-one", 3).rests_on == "mix-3"
    assert row_of(people, "n-1", 2).rests_on == "mix-1 and 12 people"
    assert row_of(people, "n-1", 1).rests_on is None
    assert row_of(people, "own-sheet", 1).rests_on.startswith("the devices")
    assert [row_of(people, "loss", hop).game.senders.honest for hop in (1, 2)] == [1, 12]
    assert (row_of(mixes, "loss", 1).victims, row_of(people, "loss", 1).victims) == (16, 1)


@pytest.mark.seconds
def test_a_hostile_first_mix_leaves_a_person_with_own_fakes_alone(arena_of):
    plan = by_people()
    seen = arena_of(plan, {1}).play(ATTACKS["n-1"], [0], 3)
    fakes = len(seen) - 1
    # The attacker cannot tell fakes in the last bin from its own messages, and ignores them.
    assert b"\0" in seen
    assert fakes <= 3
    # Twelve answers, two fakes of each person, and at most one more, which may be nobody's.
    assert 36 <= len(arena_of(plan, {2}).play(ATTACKS["tells"], [0], 3)) <= 48


@pytest.mark.seconds
def test_a_mix_that_tells_leaves_the_fakes_of_the_other_alone(arena_of):
    plan = by_mixes(bins=5)
    for hostile in (1, 2):
        one = arena_of(plan, {hostile})
        seen = one.play(ATTACKS["tells"], [0], 4)
        assert one.adversary.known  # it drew some itself
        counts = np.bincount([message[0] for message in seen], minlength=5)
        assert counts[0] >= 1
        assert counts[:4].sum() < 60  # the honest mix draws four fakes a bin on average


def test_what_attacks_keep():
    batch = [b"aa", b"bb", b"ccc", b"dd", b"ee"]
    kept = {name: list(one.keep(batch, 2)) for name, one in ATTACKS.items()}
    assert kept["n-1"] == kept["all-but-one"] == batch[:2]
    assert kept["loss"] == [b"aa", b"bb", b"ccc", b"ee"]
    assert kept["long"] == [b"aa", b"bb", b"dd", b"ee"]
    assert kept["tells"] == batch


def test_what_cannot_be_played_is_refused():
    two = proved(plan_of(Question(name="q", bins=2), [shaped(2)], epsilon=2.0, delta=0.01))
    with pytest.raises(ParameterError, match="one answer of at least 3"):
        _ = row_of(two, "loss", 1).game
    with pytest.raises(ParameterError, match="expected one of n-1, own-sheet"):
        rows.rows_of(two, target_of_plan(two), "linking")


@pytest.mark.slow
@pytest.mark.parametrize("hostile", [1, 2])
def test_every_attack_on_processes(hostile, arena_of):
    """Every hop is hostile once; one round of each attack."""
    one = arena_of(small_plan(), {hostile}, kind=ProcessArena)
    assert one.play_sheet(0) == []
    assert "expected signatures" in one.refusals[0]
    one.pass_time(one.sheet.closes)
    for name in ("n-1", "loss", "long", "tells", "all-but-one"):
        seen = one.play(ATTACKS[name], [0], 32)
        counts = np.bincount([message[0] for message in seen], minlength=33)
        # The honest mix draws four fakes a bin on average.
        assert counts[:32].sum() < 250, name
        if hostile == 1:  # behind an honest mix, the victim's envelope may be dropped
            assert counts[0] >= 1, name
            assert counts[:32].sum() > 60, name
    one.end()
    assert one.codes == [0]
