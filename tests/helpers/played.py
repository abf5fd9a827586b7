"""A whole round as its roles publish it, for tests of watching: honest, or with one cheat."""

import json
from hashlib import sha256

from helpers.devices import NOW, Words
from mixtally.device.client.net.entries import BundleState, make_entry
from mixtally.device.client.net.seal import seal_answer
from mixtally.device.contract.fields import fingerprint_of
from mixtally.device.wire.arrivals import ListFile, make_list, make_tagger
from mixtally.device.wire.envelope import Opener
from mixtally.device.wire.manifest import (
    Manifest,
    PartManifest,
    Piece,
    Receipt,
    write_manifest,
    write_receipt,
)
from mixtally.device.wire.note import sign_note
from mixtally.errors import DataError

PEOPLE = 8


class PlayedRound:
    """The messages of several people on their way through all roles, one part, no fakes.

    ``drops`` says before which hop an envelope of person 0 vanishes. A hop that drops it puts
    another one in its place, so that its numbers add up.
    """

    def __init__(self, world, *, dropped_by=None, unlisted_by=None):
        self.world, given = world, world.round()
        self.given, self.sheet = given, given.digest
        made = [seal_answer(given, "yes", Words(i), NOW, watch=True) for i in range(PEOPLE)]
        entry = make_entry(given, made[0], NOW)
        self.entry = entry._replace(state=BundleState.TAKEN)
        self.roles = (*world.contract.hops, world.contract.collector)
        self.lists, self.pieces, self.files = [], {}, {}
        self.texts, self.receipts = [], []
        self.sent = [one.bundle for one in made]
        for hop in range(1, len(self.roles) + 1):
            own = self._own(hop)
            data = make_list(
                [one for one in self.sent if not (hop == unlisted_by and one == own)]
                + [b"invented"] * (hop == unlisted_by),
                make_tagger(self.sheet, hop),
            )
            self.lists.append(data)
            if hop < len(self.roles):
                self._pass_on(hop, replaced=own if hop == dropped_by else None)
        self.publish()

    def _own(self, hop):
        """What person 0 has sent, as it is before a hop."""
        own = self.first if hop > 1 else self.sent[0]
        opener = Opener(self.world.suite, self.world.private[hop - 1], self.sheet, hop)
        self.first = opener.open(own, 0)
        return own

    def _pass_on(self, hop, replaced):
        opener = Opener(self.world.suite, self.world.private[hop - 1], self.sheet, hop)
        size = self.world.contract.envelope_bytes[0][hop]
        self.sent = [
            bytes(size) if one == replaced else opener.open(one, 0) or bytes(size)
            for one in self.sent
        ]
        data = b"".join(sorted(self.sent))
        piece = Piece(sha256(data).hexdigest(), PEOPLE)
        self.pieces[piece.sha256] = data
        self.parts = [*getattr(self, "parts", []), PartManifest(PEOPLE, pieces=(piece,))]

    def publish(self):
        """Sign what the roles say of the lists that they have, and serve it."""
        names = [
            (tuple(ListFile(sha256(one).hexdigest(), len(one) // 8) for one in data),)
            for data in self.lists
        ]
        self.files = {sha256(one).hexdigest(): one for data in self.lists for one in data}
        self.texts, self.receipts, before = [], [], None
        for hop, part in enumerate(self.parts, 1):
            said = Manifest(self.sheet.hex(), hop, PEOPLE, 0, None, before, (part,), (),
                            names[hop - 1])  # fmt: skip
            self.texts.append(write_manifest(said))
            before = fingerprint_of(self.texts[-1])
            lists = names[hop] if hop == len(self.parts) else None
            self.receipts.append(write_receipt(Receipt(before, hop + 1, lists)))
        self.silent = set()

    def notes(self):
        signers = self.world.signers
        manifests = [sign_note(text, one) for text, one in zip(self.texts, signers, strict=False)]
        receipts = [
            sign_note(text, one) for text, one in zip(self.receipts, signers[1:], strict=True)
        ]
        return [*manifests, *receipts]

    def fetch(self, address, most):
        """What a role serves, as a device fetches it."""
        (role,) = [one for one in self.roles if address.startswith(one.address)]
        rest = address.removeprefix(role.address)
        found = self.files.get(rest.removeprefix("/pieces/"))
        if rest.endswith("/manifests"):
            found = json.dumps([note.decode() for note in self.notes()]).encode()
        if role.name in self.silent or found is None or len(found) > most:
            raise DataError(address, expected="an answer", got="none", do="ask again")
        return found

    def piece(self, name):
        return self.pieces[name]
