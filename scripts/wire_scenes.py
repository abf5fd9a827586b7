"""Contracts, roles and rounds that the vectors of part two of SPEC.md use."""

import hashlib
import json
from typing import Any, NamedTuple

from msgspec.structs import replace
from wire_room import Found, envelopes_of, open_vector

from helpers import contracts as c
from helpers.listed import invented
from mixtally.device.contract.fields import fingerprint_of
from mixtally.device.wire.arrivals import ArrivalLists, ListFile, make_tagger
from mixtally.device.wire.codes import make_code, write_codes
from mixtally.device.wire.manifest import (
    Manifest,
    PartManifest,
    Piece,
    Receipt,
    read_manifest,
    write_manifest,
    write_receipt,
)
from mixtally.device.wire.note import Signer, sign_note
from mixtally.device.wire.rotation import Rotation, write_rotation
from mixtally.device.wire.sheet import Sheet, sheet_hash, write_sheet
from mixtally.device.wire.suite import SUITES
from mixtally.model.contract import FakeRecord, OwnFakes, Plan, write_contract
from mixtally.model.question import Question, make_attributes_question

OPENS, OPEN = 1_800_000_000, 3600


def secret(name: str, size: int) -> bytes:
    """Return bytes derived from a name. Real secrets are drawn at random instead."""
    return hashlib.shake_256(f"mixtally vectors, {name}".encode()).digest(size)


class Scene(NamedTuple):
    """A contract with its roles, and a round of the contract."""

    contract: bytes
    signers: tuple[Signer, ...]
    secrets: tuple[bytes, ...]
    suite: int

    def sheet(self, **changes: Any) -> Sheet:
        """Return the sheet of the first round."""
        keys = tuple(SUITES[self.suite].configuration(one) for one in self.secrets)
        times = {"opens": OPENS, "closes": OPENS + OPEN, "expires": OPENS + 3 * OPEN}
        fields = {"contract": fingerprint_of(self.contract), "round": 1, "keys": keys}
        return Sheet(**{**times, **fields, **changes})

    @property
    def hash(self) -> bytes:
        """The hash of this sheet."""
        return sheet_hash(write_sheet(self.sheet()))

    def note(self, text: bytes | None = None) -> bytes:
        """Return a text, by default the sheet, signed by all roles."""
        return sign_note(write_sheet(self.sheet()) if text is None else text, *self.signers)

    def codes(self, *names: str) -> bytes:
        """Return the hashes of codes of these names, signed by the collector."""
        codes = [make_code(secret(name, 16)) for name in names]
        return sign_note(write_codes(fingerprint_of(self.contract), codes), self.signers[-1])


def scene(suite: int) -> Scene:
    """Return the scene of a suite.

    Suite 1 has one part, and fakes of hops. Suite 2 has four parts, three of them with fakes of
    devices.
    """
    if suite == 1:
        asked = Question(name="where", bins=3, labels=("a", "b", "c"))
        plan = c.proved(c.plan_of(asked, [c.shaped(3)], minimum_crowd=5, collections=1))
    else:
        own = OwnFakes(FakeRecord.BLANK, 1, 1 << 63)
        parts = [c.uniform(3), c.flipped(2, own=own), c.uniform(4, whole=2, coin=0)]
        parts.append(c.flipped(2, repeats=3))
        more = {"count_flips": False, "minimum_crowd": 2, "collections": 7}
        plan = c.plan_of(make_attributes_question("traits", (3, 2, 4, 2)), parts, **more)
    return _scene(plan, suite)


def build_padded_scene() -> Scene:
    """Return a scene with one hop and padding.

    Devices toss a coin for a fake in the first part, and add one fake in the second.
    """
    parts = [c.uniform(3, whole=0, coin=1 << 63), c.uniform(4, whole=1, coin=0)]
    question = make_attributes_question("traits", (3, 4))
    return _scene(c.plan_of(question, parts, minimum_crowd=2, hops=1), 1)


def build_codes_scene() -> Scene:
    """Return a scene whose contract asks for codes, of which it can have three."""
    plan = c.plan_of(Question(name="where", bins=3), [c.shaped(3)], users=2, minimum_crowd=2)
    return _scene(plan, 1, admission="codes", most_bundles=3)


def _scene(plan: Plan, suite: int, **changes: Any) -> Scene:
    hops, collector = c.network(plan.hops)
    signers = tuple(Signer(role.name, secret(role.name, 32)) for role in (*hops, collector))
    *hops, collector = (
        replace(role, key=signer.verifier)
        for role, signer in zip((*hops, collector), signers, strict=True)
    )
    contract = c.contract_of(plan, hops=tuple(hops), collector=collector, suite=suite, **changes)
    size = SUITES[suite].private_bytes
    secrets = tuple(secret(f"{signer.name}, suite {suite}", size) for signer in signers)
    return Scene(write_contract(contract), signers, secrets, suite)


SCENES = {suite: scene(suite) for suite in SUITES}


def write_manifests(one: Scene, *changes: dict[str, Any]) -> tuple[list[bytes], dict[str, str]]:
    """Return the manifests of the first hops, one for each of ``changes``, and their pieces.

    The pieces include the lists of what was received. The crowd is the minimum crowd, and two
    bundles are left out. Each hop finds one malformed message and adds one message.
    """
    shapes = open_vector({"what": "shapes", "contract": one.contract.decode()})["shapes"]
    people = json.loads(one.contract)["plan"]["minimum_crowd"]
    received = [people * (slots - padding) + padding for slots, padding, _ in shapes]
    layer, texts, pieces = SUITES[one.suite].layer_bytes, list[bytes](), dict[str, str]()
    for hop, more in enumerate(changes, start=1):
        parts = []
        for place, (*_, size) in enumerate(shapes):
            named = []
            for count in (received[place] - 1, 1):
                drawn = secret(f"{count} pieces of {hop}, {place}", count * (size - hop * layer))
                named.append(Piece(hashlib.sha256(drawn).hexdigest(), count))
                pieces[named[-1].sha256] = drawn.hex()
            parts.append(PartManifest(received[place], malformed=1, added=1, pieces=tuple(named)))
        before = fingerprint_of(texts[-1]) if texts else None
        made = Manifest(one.hash.hex(), hop, people, 2, None, before, tuple(parts))._replace(**more)
        came = [[secret(f"bundle {number}", 9) for number in range(made.bundles + made.left_out)]]
        if hop > 1:
            came = envelopes_of(read_manifest(texts[-1]), pieces)
        if made.destroyed is None and [len(some) for some in came] == made.received_counts:
            made = made._replace(arrivals=write_lists(one, hop, came, pieces))
        elif made.destroyed is None:
            made = made._replace(arrivals=invented(made.received_counts))
        texts.append(write_manifest(made))
    return texts, pieces


def write_lists(
    one: Scene, hop: int, came: list[list[bytes]], pieces: dict[str, str]
) -> ArrivalLists:
    """Return the lists of what a role received in each part, and add their files to ``pieces``."""
    lists = []
    for part, some in enumerate(came):
        data = b"".join(sorted(map(make_tagger(one.hash, hop, part), some)))
        name = hashlib.sha256(data).hexdigest()
        lists.append((ListFile(name, len(some)),) if some else ())
        pieces[name] = data.hex()
    return tuple(lists)


def round_of(one: Scene, texts: list[bytes], pieces: dict[str, str], **changes: Any) -> Found:
    """Return a round whose manifests and receipts are signed by the right roles."""
    receipts = [
        sign_note(write_receipt_of(one, text, hop, pieces), one.signers[hop - 1])
        for hop, text in enumerate(texts, start=2)
    ]
    manifests = [sign_note(text, signer) for text, signer in zip(texts, one.signers, strict=False)]
    made = {
        "what": "round", "contract": one.contract.decode(), "sheet": one.note().decode(),
        "manifests": [note.decode() for note in manifests],
        "receipts": [note.decode() for note in receipts], "pieces": pieces,
    }  # fmt: skip
    return made | changes


def write_receipt_of(one: Scene, text: bytes, hop: int, pieces: dict[str, str]) -> bytes:
    """Return the receipt of a manifest by the role at ``hop``; the collector names its lists."""
    manifest, lists = read_manifest(text), None
    if hop == len(one.signers):
        came = [] if manifest.destroyed else envelopes_of(manifest, pieces)
        lists = write_lists(one, hop, came, pieces)
    return write_receipt(Receipt(fingerprint_of(text), hop, lists))


def rotating_signers() -> list[Signer]:
    """Return three keys of one role, each of which replaces the one before."""
    return [Signer("mix-1", secret(f"rotated {number}", 32)) for number in range(3)]


def write_rotation_note(old: Signer, new: Signer) -> bytes:
    """Return the note by which a role replaces a key."""
    return sign_note(write_rotation(Rotation(old.name, old.public, new.public)), old, new)
