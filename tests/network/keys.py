"""Keys and sheets: one sheet a round, one key a role, and nobody is shown another one."""

import shutil
from hashlib import sha256

from msgspec.structs import replace

from helpers import contracts
from helpers.roles_in_folders import EVERY, OPEN, START
from mixtally.device.client import Limits
from mixtally.device.client.net import Diary, Pins, open_round, prepare, verify_contract
from mixtally.device.wire.note import Signer, sign_note
from mixtally.device.wire.sheet import read_sheet
from mixtally.device.wire.suite import SUITES
from mixtally.model.contract import write_contract
from mixtally.model.contract.job import job_of
from mixtally.server.mix.jobs import take_job
from mixtally.server.node.keys import Keys

STRANGER = Signer("collector", b"s" * 32)
ANY = Limits(epsilon=20.0, delta=0.1, hops=1)
SMALL = bytes.fromhex("00 0020") + bytes(32) + bytes.fromhex("0004 0001 0001")
"""A key of small order."""
ANOTHER = SUITES[1].configuration(b"a" * 32)
LATTICE = SUITES[2].configuration(b"a" * 96)


def proposed(number=2, **changes):
    """A sheet that the collector signed, whatever its own rules are, comes to mix 2."""
    return lambda stage: stage.post(2, stage.by(4, stage.text_of_sheet(number, **changes)))


def times(opens, closes=None, kept=5000):
    """The second round at other times."""
    closes = opens + OPEN if closes is None else closes
    return proposed(opens=opens, closes=closes, expires=closes + kept)


def keyed(change):
    """The second round with other keys."""

    def act(stage):
        keys = read_sheet(stage.text_of_sheet(2)).keys
        return proposed(keys=tuple(change(keys)))(stage)

    return act


def signed_by(*signers):
    """The second round, proposed by somebody else than its collector."""

    def act(stage):
        known = [
            STRANGER if one == "stranger" else stage.folders[one - 1].signer for one in signers
        ]
        return stage.post(2, sign_note(stage.text_of_sheet(2), *known))

    return act


def false_beside_true(stage):
    """A false signature of the collector above the true one."""
    text = stage.text_of_sheet(2)
    collector = stage.folders[-1].signer
    return stage.post(
        2, text + b"\n" + collector.signature_line(b"another\n") + collector.signature_line(text)
    )


def second_sheet(stage):
    """The collector signs another sheet of the open round."""
    sheet = read_sheet(stage.note)
    return proposed(1, opens=sheet.opens, closes=sheet.closes, expires=sheet.expires + 1)(stage)


def unasked_key(stage):
    """A sheet whose key for mix 2 it never made."""
    text = stage.text_of_sheet(2)
    stage.mixes[1].node.keys.destroy(f"{stage.fingerprint}-2")
    return stage.post(2, stage.by(4, text))


def made(stage, **changes):
    """Another contract of the same roles, and the job of mix 2 under it."""
    contract = replace(stage.contract, **changes)
    text = write_contract(contract)
    return text, job_of(contract, sha256(text).hexdigest(), 2)


def twice_under_one_name(stage):
    text, job = made(stage, client_files=contracts.FILES)
    return take_job(stage.mixes[1].node, job, text)


def old_serial(stage):
    """Mix 2 has signed a later serial; somebody proposes under the earlier one."""
    note = stage.by(4, stage.text_of_sheet(2))
    text, job = made(stage, serial=2)
    take_job(stage.mixes[1].node, job, text)
    stage.mixes[1].jobs.load_new()
    return stage.post(2, note)


def rounds_count_together(stage):
    """A key for a round number that an earlier serial has used."""
    text, job = made(stage, serial=2)
    take_job(stage.mixes[1].node, job, text)
    stage.mixes[1].jobs.load_new()
    stage.mixes[1].node.cleared.add(job.contract)
    return stage.ask(2, "POST", f"/contracts/{job.contract}/rounds/1/key")


def alike(stage):
    """Two contracts whose fingerprints begin alike have keys of their own."""
    node, agreement = stage.mixes[1].node, stage.agreement(2)
    twin = stage.fingerprint[:-1] + ("0" if stage.fingerprint[-1] != "0" else "1")
    node.agreements[twin] = replace(agreement, contract=twin, name="twin")
    node.cleared.add(twin)
    one, other = (node.key(contract, 2) for contract in (stage.fingerprint, twin))
    return "another key" if one != other else "the same key"


def swapped_files(stage):
    """The key of the first round is put in the place of the second's."""
    node = stage.mixes[1].node
    node.key(stage.fingerprint, 2)
    folder = node.folder.subfolder("keys")
    shutil.copy(folder / f"{stage.fingerprint}-1.key", folder / f"{stage.fingerprint}-2.key")
    return Keys(folder, node.folder.master, node.chance).read_key(f"{stage.fingerprint}-2")


# -- a device ---------------------------------------------------------------------------------


def device(stage):
    """What a device believes of the contract, whose fingerprint it pinned."""
    note = sign_note(stage.text, *(folder.signer for folder in stage.folders))
    return verify_contract(note, Pins(stage.fingerprint), ANY)


def shown(honest, key_of, **changes):
    """One person is shown a sheet with another key; all but ``honest`` sign it."""

    def act(stage):
        keys = list(read_sheet(stage.note).keys)
        keys[key_of - 1] = ANOTHER
        text = stage.text_of_sheet(1, keys=tuple(keys), **changes)
        signers = [one.signer for place, one in enumerate(stage.folders, 1) if place != honest]
        return open_round(device(stage), sign_note(text, *signers), stage.now)

    return act


def signature_of_the_other(stage):
    """The honest mix's line is taken from the sheet that it signed."""
    keys = [*read_sheet(stage.note).keys[:2], ANOTHER, read_sheet(stage.note).keys[3]]
    text = stage.text_of_sheet(1, keys=tuple(keys))
    others = sign_note(text, *(stage.folders[place].signer for place in (0, 2, 3)))
    own = stage.folders[1].signer.signature_line(stage.note.partition(b"\n\n")[0] + b"\n")
    return open_round(device(stage), others + own, stage.now)


def words(count):
    return bytes(8 * count)


def another_sheet_later(stage):
    """All roles collude and sign a second sheet of a round that this device has answered."""
    agreed = device(stage)
    with Diary(stage.place / "diary.db") as diary:
        prepare(diary, open_round(agreed, stage.note, stage.now), 1, words, stage.now)
        text = stage.text_of_sheet(1, expires=START + 10_000)
        other = sign_note(text, *(folder.signer for folder in stage.folders))
        return prepare(diary, open_round(agreed, other, stage.now), 1, words, stage.now)


def two_contracts(stage):
    """All roles sign two contracts of one name and serial, one for this person."""
    plan = replace(stage.contract.plan, users=3)
    text = write_contract(replace(stage.contract, plan=plan, most_bundles=12))
    note = sign_note(text, *(folder.signer for folder in stage.folders))
    second = verify_contract(note, Pins(keys=(("mix-2", stage.folders[1].signer.public),)), ANY)
    with Diary(stage.place / "diary.db") as diary:
        prepare(diary, open_round(device(stage), stage.note, stage.now), 1, words, stage.now)
        sheet = stage.text_of_sheet(
            2, contract=second.contract.fingerprint, opens=stage.now, closes=stage.now + OPEN
        )
        given = open_round(second, sign_note(sheet, *(f.signer for f in stage.folders)), stage.now)
        return prepare(diary, given, 1, words, stage.now)


def split_view(stage):
    """Two mixes are shown one sheet, the third another: no round comes of it."""
    stage.hostile = {4}
    one = stage.by(4, stage.text_of_sheet(2))
    other = stage.by(4, stage.text_of_sheet(2, expires=START + EVERY + OPEN + 77))
    for place, note in ((1, one), (2, one), (3, other)):
        assert stage.post(place, note).status == 200
    assert [stage.post(3, one).status, stage.post(1, other).status] == [409, 409]
    stage.now = START + EVERY + 1
    stage.tick()
    return stage.send(stage.bundle([b"\0"]), 2)


NEXT = START + EVERY


SHARED = {
    "a sheet that nobody signed": (signed_by(), "403 not-signed"),
    "a sheet that a mix proposes": (signed_by(1), "403 not-signed"),
    "a sheet that a stranger proposes in the collector's name": (
        signed_by("stranger"),
        "403 not-signed",
    ),
    "a sheet that all mixes signed and the collector did not": (signed_by(1, 3), "403 not-signed"),
    "a sheet with a false signature above a true one": (false_beside_true, "403 not-signed"),
    "a sheet of a contract that is not served": (proposed(contract="0" * 64), "404 unknown"),
    "a sheet of a round past the contract's": (proposed(round=4), "403 not-agreed"),
    "a second sheet of a round": (second_sheet, "409 another-note"),
    "a round open for too long": (times(NEXT, NEXT + OPEN + 1), "403 not-agreed"),
    "a round open for too short": (times(NEXT, NEXT + OPEN - 1), "403 not-agreed"),
    "a round whose keys are kept for too long": (times(NEXT, kept=10**7 + 1), "403 not-agreed"),
    "a round before the last is over": (times(START + OPEN - 1), "403 not-agreed"),
    "a round too soon after the last": (times(NEXT - 1), "403 not-agreed"),
    "a round whose times run backwards": (times(NEXT, NEXT - 1), "400 no-note"),
    "a key too few": (keyed(lambda keys: keys[:3]), "403 not-agreed"),
    "a key too many": (keyed(lambda keys: (*keys, ANOTHER)), "403 not-agreed"),
    "keys of two mixes exchanged": (keyed(lambda k: (k[1], k[0], *k[2:])), "403 not-agreed"),
    "another key in this mix's place": (keyed(lambda k: (k[0], ANOTHER, *k[2:])), "403 not-agreed"),
    "one key for two roles": (keyed(lambda k: (k[1], *k[1:])), "403 not-agreed"),
    "a key of another suite": (keyed(lambda k: (LATTICE, *k[1:])), "403 not-agreed"),
    "a key that hides nothing": (keyed(lambda k: (SMALL, *k[1:])), "403 not-agreed"),
    "a key cut short": (keyed(lambda k: (k[0][:-1], *k[1:])), "403 not-agreed"),
    "an empty key": (keyed(lambda k: (b"", *k[1:])), "400 no-note"),
    "a key for a round past the contract's": (
        lambda stage: stage.ask(2, "POST", stage.path("/key", 4)),
        "403 not-agreed",
    ),
    "a key under a contract that is not served": (
        lambda stage: stage.ask(2, "POST", f"/contracts/{'0' * 64}/rounds/2/key"),
        "404 unknown",
    ),
    "a person shown another key of mix 3 behind an honest mix 2": (
        shown(2, 3),
        "refused signature-missing",
    ),
    "a person shown another key of mix 1 behind an honest mix 3": (
        shown(3, 1),
        "refused signature-missing",
    ),
    "a person shown another key of the collector by it and two mixes": (
        shown(1, 4),
        "refused signature-missing",
    ),
    "a person shown another key above a signature of the right sheet": (
        signature_of_the_other,
        "refused signature-false",
    ),
}
ALONE = {
    "a sheet before this mix was asked for its key": (unasked_key, "403 not-agreed"),
    "a contract signed twice under one name and serial": (twice_under_one_name, "409 another-note"),
    "a round under a serial that a later one ended": (old_serial, "403 not-agreed"),
    "a key for a round that an earlier serial used": (rounds_count_together, "403 not-agreed"),
    "a contract whose fingerprint begins like another's": (alike, "another key"),
    "a key file put in the place of another round's": (
        swapped_files,
        "refused: expected a secret wrapped under this role's master key",
    ),
    "a second sheet that all signed, to a device that has answered": (
        another_sheet_later,
        "refused another-sheet",
    ),
    "a second contract that all signed under one name and serial": (
        two_contracts,
        "refused serial-twice",
    ),
    "one sheet for two mixes and another for the third": (split_view, "503 not-ready"),
}
