"""A collector among mixes that only sign: batches are made by hand, so every number is known."""

from contextlib import suppress
from hashlib import sha256

from helpers.listed import listed
from helpers.roles_in_folders import ENVIRONMENT, OPEN, Village, ask
from mixtally.device.contract.fields import fingerprint_of
from mixtally.device.wire.envelope import Sealer
from mixtally.device.wire.manifest import (
    MOST_PIECE_BYTES,
    Manifest,
    PartManifest,
    Piece,
    write_manifest,
)
from mixtally.device.wire.note import sign_note
from mixtally.device.wire.sheet import read_sheet, sheet_hash
from mixtally.device.wire.suite import SUITES
from mixtally.primitives.chance import SecureChance
from mixtally.server.collector import Collector, parse_signed_contract, propose, sign
from mixtally.server.collector.serve import application_of
from mixtally.server.node.disk import no_step
from mixtally.server.node.folder import open_folder
from mixtally.server.node.node import Node
from mixtally.server.node.refusal import ProblemError


def fakes(bins):
    """What a hop adds at its mean, of three a bin."""
    return [bytes([bin_]) for bin_ in range(bins) for _ in range(3)]


FAKES = fakes(4)
"""What a hop adds at its mean: then estimates are the true counts."""


class Office(Village):
    """A village whose collector works; its mixes are nodes that answer."""

    def begin(self):
        """Everybody is awake and has signed the contract; the collector's first tick is over."""
        self.mixes = [self.node(place + 1) for place in range(len(self.jobs))]
        for node in self.mixes:
            self.awake(node)
        node = Node(open_folder(self.folders[-1].path, ENVIRONMENT), SecureChance())
        gathered = sign(
            node, parse_signed_contract(self.text, "contract"), self.text, self.call, self.now
        )
        assert not gathered.missing
        node.close()
        return self.reopen()

    def reopen(self, *, step=no_step, overruled=()):
        """The collector as a process that begins."""
        node = Node(open_folder(self.folders[-1].path, ENVIRONMENT), SecureChance(), step)
        self.collector = Collector(node, self.peers(node, overruled))
        self.stopped = []
        address = self.folders[-1].role.address
        self.apps[address] = application_of(self.collector, lambda: self.now, self.stopped.append)
        self.collector.tick(self.now)
        return self.collector

    @property
    def agreed(self):
        """The contract as the collector keeps it."""
        return parse_signed_contract(self.text, "contract")

    def proposed(self, wish=None):
        """The next round, signed by all."""
        done = propose(self.collector.node, self.agreed, self.call, self.now, wish)
        self.sheet_note = done.note
        self.collector.tick(self.now)
        return done

    @property
    def fakes(self):
        """What every hop adds."""
        return fakes(self.contract.plan.parts[0].bins)

    def row(self, number=1):
        """A round as the collector has it."""
        return self.collector.node.rounds.of(self.fingerprint, number)

    def sealed(self, messages, part=0):
        """Messages as the collector receives them."""
        sheet = read_sheet(self.sheet_note)
        place = len(self.folders)
        sealer = Sealer(SUITES[1], sheet.keys[-1:], sheet_hash(self.sheet_note), first=place)
        return [sealer.seal(message, part) for message in messages]

    def chain(self, bundles, leaving, *, parts=None, people=None, left_out=0):
        """Manifests of all hops, in order, and the pieces of the last; numbers add up.

        where
          leaving   envelopes that the last hop sends
          parts     hop -> the numbers of its part that differ
        """
        hops, sheet = len(self.jobs), fingerprint_of(self.sheet_note)
        size = self.jobs[0].sizes[0]
        held, before, made, pieces = people or bundles, None, [], {}
        for hop in range(1, hops + 1):
            said = PartManifest(held, added=len(self.fakes))._replace(**(parts or {}).get(hop, {}))
            count, each = said.sent_count, size[hop]
            data = b"".join(leaving) if hop == hops else bytes([hop]) * (count * each)
            most = MOST_PIECE_BYTES // each * each
            named = []
            for start in range(0, len(data), most):
                some = data[start : start + most]
                named.append(Piece(sha256(some).hexdigest(), len(some) // each))
                if hop == hops:
                    pieces[named[-1].sha256] = some
            said = said._replace(pieces=tuple(named))
            manifest = listed(Manifest(sheet, hop, bundles, left_out, None, before, (said,)))
            before, held = fingerprint_of(write_manifest(manifest)), said.sent_count
            made.append(manifest)
        return made, pieces

    def usual(self, values, **changes):
        """The chain of a round in which people answered ``values`` and hops drew their means."""
        messages = [bytes([value]) for value in values] + self.fakes * len(self.jobs)
        return self.chain(len(values), self.sealed(messages), **changes)

    def note_of(self, manifest):
        """The manifest as its hop signs it; a second one as a dishonest hop would."""
        node = self.mixes[manifest.hop - 1]
        manifest = listed(manifest)
        with suppress(ProblemError):
            row = node.rounds.of_sheet(manifest.sheet)
            return node.sign_manifest(row, manifest)
        return sign_note(write_manifest(manifest), self.folders[manifest.hop - 1].signer)

    def post(self, note):
        """Send a note to the collector."""
        return self.ask("POST", "/notes", note)

    def ask(self, method, path, body=b"", **more):
        """A request to the collector."""
        return ask(self.apps[self.folders[-1].role.address], method, path, body, **more)

    def send(self, manifests, pieces):
        """Send what a round makes: all manifests, then the pieces of the last."""
        for manifest in manifests:
            assert self.post(self.note_of(manifest)).status == 204
        self.put(pieces)

    def put(self, pieces):
        """Send the pieces."""
        for name, data in pieces.items():
            assert self.ask("PUT", f"/pieces/{name}", data).status in (201, 204)

    def result(self, number=1):
        """What is answered when somebody asks for a result."""
        return self.ask("GET", f"/contracts/{self.fingerprint}/rounds/{number}/result")

    def over(self):
        """Let the window be over."""
        self.now += OPEN
