"""Clocks: a window is that of the sheet by a role's own clock, whatever that does."""

import json

from helpers.roles_in_folders import EVERY, KEPT, OPEN, START
from mixtally.device.client import Limits
from mixtally.device.client.net import (
    Diary,
    Pins,
    PostResult,
    deliver,
    open_round,
    prepare,
    verify_contract,
)
from mixtally.device.wire.manifest import write_manifest
from mixtally.device.wire.note import sign_note
from network.stage import BINS, people

END, DAY = START + OPEN, 86400
EXPIRED = "shredded/expired"


def at(now, act):
    """Something at another time."""

    def then(stage):
        stage.now = now
        return act(stage)

    return then


def answer(stage):
    """An answer comes to mix 1."""
    return stage.send(stage.bundle([BINS[0]]))


def again_after(stage):
    return f"{(said := answer(stage)).status}, again after {said.headers['retry-after']}"


def slow_body(stage):
    """A body begins in the last second and ends in the next."""
    body = stage.bundle([BINS[0]])

    def rest():
        stage.now = END
        return body[9:]

    return stage.send(b"", chunks=[body[:9], rest])


def back_after_closing(stage):
    people(stage)
    stage.close()
    stage.tick()
    stage.now = START + 1
    return answer(stage)


def leaps(now, *, mixed):
    """The clocks of all leap to ``now`` with a batch at mix 1: mixed and not delivered, or not."""

    def act(stage):
        people(stage)
        if mixed:
            stage.hostile = {2, 3, 4}
            apps, stage.apps = stage.apps, {}
            stage.close()
            stage.tick()
            stage.apps, stage.hostile = apps, set()
        stage.now = now
        for _ in range(3):
            stage.tick()
        manifest = stage.mixes[0].node.manifest_of(stage.row(1, 1), 1)[1]
        return f"{stage.states().split()[0]}, it says {manifest.destroyed or 'a batch'}"

    return act


def ahead(place):
    """The clock of one mix is past the end of the round; the others' are right."""

    def act(stage):
        people(stage)
        stage.now = START + OPEN + KEPT
        stage.mixes[place - 1].tick(stage.now)
        stage.now = START + 20
        stage.hostile = {place}
        stage.finish()
        return stage.states()

    return act


def piece_for_one_ahead(stage):
    """Mix 2 has given the round up by its clock, and the batch comes."""
    stage.now = START + OPEN + KEPT
    stage.mixes[1].tick(stage.now)
    stage.now = END
    manifest, data = stage.batch(1, [stage.sealed(one, first=2) for one in BINS])
    assert stage.post(2, stage.by(1, write_manifest(manifest))).status == 204
    return stage.ask(2, "PUT", f"/pieces/{manifest.parts[0].pieces[0].sha256}", data)


def set_back(stage):
    """A role was silent; the clock is set back a day, and it answers again."""
    peers, role = stage.mixes[0].peers, stage.contract.collector
    app = stage.apps.pop(role.address)
    for _ in range(9):
        peers.send(role, "GET", "/status", b"", stage.now)
        stage.now += 60
    stage.apps[role.address] = app
    return str(peers.send(role, "GET", "/status", b"", stage.now - DAY))[:18]


def missing_manifests(stage):
    """The collector lacks a manifest and has asked; its clock is set back a day."""
    people(stage)
    held, node = stage.office.peers._call, stage.collector
    asked = []

    def counted(address, method, path, body=b""):
        if "/manifests/" in path:
            asked.append(path)
        return held(address, method, path, body)

    stage.office.peers._call = counted
    post = node.take_note
    node.take_note = lambda note, now: None if b'"hop": 1' in note else post(note, now)
    stage.finish()
    assert stage.states().split()[-1] == "counted/"
    before, stage.now = len(asked), stage.now - DAY
    stage.office.tick(stage.now)
    return f"{len(asked) - before} asked again"


def over_for_the_mix(stage):
    """The collector's clock is behind: it proposes what is over by the mixes' clocks."""
    note = stage.by(4, stage.text_of_sheet(2))
    stage.now = START + EVERY + OPEN
    return stage.post(2, note)


def device_at(now):
    """A device whose clock says so."""

    def act(stage):
        note = sign_note(stage.text, *(folder.signer for folder in stage.folders))
        agreed = verify_contract(
            note, Pins(stage.fingerprint), Limits(epsilon=20.0, delta=0.1, hops=1)
        )
        return open_round(agreed, stage.note, now)

    return act


def told_to_wait(after):
    """A device whose first mix tells it to come again after so long."""

    def act(stage):
        note = sign_note(stage.text, *(folder.signer for folder in stage.folders))
        agreed = verify_contract(
            note, Pins(stage.fingerprint), Limits(epsilon=20.0, delta=0.1, hops=1)
        )
        sent = []

        def ask(address, path, body):
            sent.append(body)
            return PostResult(503, after)

        with Diary(stage.place / "diary.db") as diary:
            given = open_round(agreed, stage.note, stage.now)
            entry = prepare(diary, given, 1, lambda n: bytes(8 * n), stage.now, at_once=True)
            entry = deliver(diary, entry, stage.now, ask=ask)
            if entry.is_pending:
                deliver(diary, entry, stage.now - 5, ask=ask)
            return f"{entry.state}, {len(sent)} sent"

    return act


def after_the_end(stage):
    """A bundle comes when the clock is right again."""
    leaps(END + KEPT, mixed=False)(stage)
    stage.now = START + 20
    said = stage.send(stage.bundle([BINS[0]]))
    return f"{said.status} {json.loads(said.body)['detail'].split(': ')[1].split(', and none')[0]}"


def early_result(stage):
    """The collector's clock is behind by more than the window."""
    stage.now = START - 77
    said = stage.ask(4, "GET", stage.path("/result"))
    return f"{said.status}, again after {said.headers['retry-after']}"


SHARED = {
    "a bundle a second before the window": (at(START - 1, again_after), "503, again after 1"),
    "a bundle a day before the window": (at(START - DAY, again_after), "503, again after 86400"),
    "a bundle in the second in which it closes": (at(END, answer), "410 round-closed"),
    "a bundle that began in time and ends late": (at(END - 1, slow_body), "410 round-closed"),
    "a sheet of a round that is over by this clock": (over_for_the_mix, "403 not-agreed"),
    "a result asked of a collector whose clock is behind": (early_result, "503, again after 677"),
    "a device whose clock is a second behind": (device_at(START - 1), "refused round-not-open"),
    "a device whose clock is a window ahead": (device_at(END), "refused round-over"),
}
ALONE = {
    "the clock goes back after closing": (back_after_closing, "410 round-closed"),
    "the clocks leap past the expiry before mixing": (
        leaps(END + KEPT, mixed=False),
        f"{EXPIRED}, it says expired",
    ),
    "a bundle after a clock has destroyed its round": (
        after_the_end,
        "410 bundles that it had taken and not handed on were destroyed",
    ),
    "the clocks leap past the expiry before delivery": (
        leaps(END + KEPT, mixed=True),
        f"{EXPIRED}, it says a batch",
    ),
    "the clocks leap by a hundred years": (
        leaps(START + 3_155_760_000, mixed=False),
        f"{EXPIRED}, it says expired",
    ),
    "the clock of mix 1 is past the end": (
        ahead(1),
        f"{EXPIRED} shredded/destroyed shredded/destroyed destroyed/expired",
    ),
    "the clock of mix 3 is past the end": (
        ahead(3),
        f"shredded/delivered mixed/ {EXPIRED} destroyed/expired",
    ),
    "a piece for a mix whose clock is past the end": (piece_for_one_ahead, "403 not-named"),
    "the clock is set back a day while a role is left alone": (set_back, "Answer(status=200,"),
    "the clock is set back a day while manifests are missing": (missing_manifests, "3 asked again"),
    "a first mix that tells a device to wait for ever": (told_to_wait("9" * 400), "over, 1 sent"),
    "a device's clock goes back while it waits": (told_to_wait("100"), "pending, 1 sent"),
}
