"""Contracts, roles and rounds that the vectors of part two of SPEC.md use."""

import hashlib
import json
from typing import Any, NamedTuple

from msgspec.structs import replace
from wire_room import Found, open_vector

from helpers import contracts as c
from mixtally.device.contract.fields import fingerprint_of
from mixtally.device.wire.manifest import (
    Manifest,
    PartManifest,
    Piece,
    Receipt,
    write_manifest,
    write_receipt,
)
from mixtally.device.wire.note import Signer, sign_note
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


def _scene(plan: Plan, suite: int) -> Scene:
    hops, collector = c.network(plan.hops)
    signers = tuple(Signer(role.name, secret(role.name, 32)) for role in (*hops, collector))
    *hops, collector = (
        replace(role, key=signer.verifier)
        for role, signer in zip((*hops, collector), signers, strict=True)
    )
    contract = c.contract_of(plan, hops=tuple(hops), collector=collector, suite=suite)
    size = SUITES[suite].private_bytes
    secrets = tuple(secret(f"{signer.name}, suite {suite}", size) for signer in signers)
    return Scene(write_contract(contract), signers, secrets, suite)


SCENES = {suite: scene(suite) for suite in SUITES}


def write_manifests(one: Scene, *changes: dict[str, Any]) -> tuple[list[bytes], dict[str, str]]:
    """Return the manifests of the first hops, one for each of ``changes``, and their pieces.

    The crowd is the minimum crowd. Each hop finds one malformed message and adds one message.
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
        texts.append(write_manifest(made))
    return texts, pieces


def round_of(one: Scene, texts: list[bytes], pieces: dict[str, str], **changes: Any) -> Found:
    """Return a round whose manifests and receipts are signed by the right roles."""
    receipts = [
        sign_note(write_receipt(Receipt(fingerprint_of(text), hop)), one.signers[hop - 1])
        for hop, text in enumerate(texts, start=2)
    ]
    manifests = [sign_note(text, signer) for text, signer in zip(texts, one.signers, strict=False)]
    made = {
        "what": "round", "contract": one.contract.decode(), "sheet": one.note().decode(),
        "manifests": [note.decode() for note in manifests],
        "receipts": [note.decode() for note in receipts], "pieces": pieces,
    }  # fmt: skip
    return made | changes
