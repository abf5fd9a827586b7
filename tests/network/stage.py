"""A whole network without sockets: mixes and a collector as they serve, and hostile ones beside."""

from collections import Counter
from hashlib import sha256

from helpers.listed import listed
from helpers.mixes import Town
from helpers.roles_in_folders import ENVIRONMENT, ask
from mixtally.device.wire.bundle import write_bundle
from mixtally.device.wire.envelope import Sealer
from mixtally.device.wire.manifest import Manifest, PartManifest, Piece, write_manifest
from mixtally.device.wire.note import sign_note
from mixtally.device.wire.sheet import read_sheet, sheet_hash
from mixtally.device.wire.suite import SUITES
from mixtally.primitives.chance import SecureChance
from mixtally.server.collector import Collector
from mixtally.server.collector.contracts import note_path
from mixtally.server.collector.serve import application_of
from mixtally.server.node import disk
from mixtally.server.node.disk import no_step
from mixtally.server.node.folder import open_folder
from mixtally.server.node.node import Node

BINS = [bytes([i]) for i in range(4)]
WHY = ("copies", "unopened", "malformed")
COLLECTOR = 4
"""The place of the collector behind three mixes."""


class Stage(Town):
    """Three mixes and a collector; the first round is open.

    where
      hostile   places whose roles do nothing of themselves: a test acts for them
    """

    def __init__(self, place, **changes):
        super().__init__(place, **changes)
        self.hostile = set()

    def all_awake(self, **options):
        """All roles, who have asked each other."""
        self.mixes = [self.awaken(place + 1, **options) for place in range(len(self.jobs))]
        self.office = self.awaken_collector()
        for _ in range(2):
            self.tick()
        return self.mixes

    def awaken_collector(self, *, step=no_step, chance=None):
        """The collector, as a process that begins."""
        folder = open_folder(self.folders[-1].path, ENVIRONMENT)
        self.collector = Node(folder, chance or SecureChance(), step)
        note = self.collector.sign_contract(self.agreement(len(self.folders)), self.text)
        disk.put(note_path(folder, self.contract), note, "a contract")
        office = Collector(self.collector, self.peers(self.collector))
        stopped = office.__dict__.setdefault("stopped", [])
        self.apps[folder.role.address] = application_of(office, lambda: self.now, stopped.append)
        return office

    @property
    def roles(self):
        """Mixes in order and the collector: what has ``tick``, ``node`` and ``stopped``."""
        return [*self.mixes, self.office]

    @property
    def nodes_awake(self):
        """Their nodes."""
        return [role.node for role in self.roles]

    def tick(self):
        """Everybody who is not hostile does what is due."""
        for place, role in enumerate(self.roles, 1):
            if place not in self.hostile:
                role.tick(self.now)

    def round(self, number=1, **changes):
        """A round that all have signed; its sheet."""
        self.note = self.agreed(self.nodes_awake, number, **changes)
        self.tick()
        return self.note

    def row(self, number=1, place=COLLECTOR):
        """A round as a role has it."""
        return self.nodes_awake[place - 1].rounds.of(self.fingerprint, number)

    # -- asking ---------------------------------------------------------------------------------

    def ask(self, place, method, path, body=b"", **more):
        """A request to a role."""
        return ask(self.apps[self.folders[place - 1].role.address], method, path, body, **more)

    def post(self, place, note):
        """A note to a role."""
        return self.ask(place, "POST", "/notes", note)

    def path(self, rest, number=1):
        """Below a round of the contract."""
        return f"/contracts/{self.fingerprint}/rounds/{number}{rest}"

    # -- acting for a role ----------------------------------------------------------------------

    def by(self, place, text):
        """A text with the signature of a role that does not keep the rules."""
        return sign_note(text, self.folders[place - 1].signer)

    def text_of_sheet(self, number=1, **changes):
        """A sheet that nobody has signed, with the keys that the roles have or make."""
        return self.sheet(self.nodes_awake, number, **changes)

    def sealed(self, message, part=0, *, first=1, note=None):
        """An envelope from the layer of the role ``first`` on."""
        note = note or self.note
        keys = read_sheet(note).keys[first - 1 :]
        return Sealer(SUITES[1], keys, sheet_hash(note), first=first).seal(message, part)

    def wrapped(self, inner, *, first=1, last=1, part=0):
        """Any bytes under the layers of the roles ``first`` to ``last``."""
        keys = read_sheet(self.note).keys[first - 1 : last]
        return Sealer(SUITES[1], keys, sheet_hash(self.note), first=first).seal(inner, part)

    def batch(self, hop, envelopes, /, **changes):
        """The manifest of a hop that sends these in one piece, and the piece."""
        data = b"".join(envelopes)
        piece = Piece(sha256(data).hexdigest(), len(envelopes))
        part = PartManifest(len(envelopes), pieces=(piece,))
        fields = {
            "sheet": self.row().sheet,
            "hop": hop,
            "bundles": len(envelopes),
            "left_out": 0,
            "destroyed": None,
            "before": None if hop == 1 else "0" * 64,
            "parts": (part,),
        }
        return listed(Manifest(**fields | changes)), data

    def told(self, hop, envelopes, /, **changes):
        """What the next role answers to the signed manifest of such a batch."""
        manifest, _ = self.batch(hop, envelopes, **changes)
        return self.post(hop + 1, self.by(hop, write_manifest(manifest)))

    def delivered(self, hop, envelopes, /, **changes):
        """A dishonest hop hands over a batch, and what follows happens."""
        self.hostile |= set(range(1, hop + 1))
        manifest, data = self.batch(hop, envelopes, **changes)
        note = self.by(hop, write_manifest(manifest))
        for place in range(hop + 1, COLLECTOR + 1):
            assert self.post(place, note).status == 204
        name = manifest.parts[0].pieces[0].sha256
        assert self.ask(hop + 1, "PUT", f"/pieces/{name}", data).status == 201
        self.finish()

    def finish(self):
        """The window is over, and everybody does what follows."""
        self.close()
        for _ in range(6):
            self.tick()
            self.now += 1

    # -- looking --------------------------------------------------------------------------------

    def drops(self):
        """What was dropped, where and why: "mix-2: unopened 1"."""
        found = []
        for hop in range(1, COLLECTOR):
            manifest = self.collector.manifest_of(self.row(), hop)
            if hop == 1 and manifest is not None and manifest[1].left_out:
                found.append(f"mix-1: left out {manifest[1].left_out}")
            for part in () if manifest is None else manifest[1].parts:
                said = {why: getattr(part, why) for why in WHY}
                found += [f"mix-{hop}: {why} {many}" for why, many in said.items() if many]
        counted = self.office.results.read_tally(self.row().folder)
        for part in () if counted is None else counted.parts:
            found += [f"collector: {why} {many}" for why, many in part.dropped.items()]
        return ", ".join(found) or "nothing dropped"

    def states(self, number=1):
        """How a round stands at every role."""
        rows = [self.row(number, place) for place in range(1, COLLECTOR + 1)]
        return " ".join("none" if row is None else f"{row.state}/{row.ended}" for row in rows)

    def memory(self):
        """All that roles remember of what they were sent, but not bundles; to be compared."""
        held = []
        for node in self.nodes_awake:
            rows = [
                node.database.rows(f"SELECT * FROM {table} ORDER BY 1, 2")
                for table in ("slots", "notes", "signers", "outbox", "rounds", "overruled")
            ]
            files = {
                str(path.relative_to(node.folder.path))
                for path in node.folder.path.rglob("*")
                if not path.name.endswith(("-wal", "-shm"))
            }
            held.append((rows, files, dict(node.pieces._named), node.fatal_error))
        return held

    def counts(self):
        """The tally of a round, as the collector stored it."""
        (part,) = self.office.results.read_tally(self.row().folder).parts
        return Counter(dict(enumerate(part.counts)))


def people(stage, several=(0, 1, 2)):
    """Some people answer."""
    for bin_ in several:
        assert stage.send(stage.bundle([BINS[bin_]])).status == 201


def of_one(envelope):
    """A bundle that holds it."""
    return write_bundle([[envelope]])


def stage_of(place, **changes):
    """A stage whose first round is open."""
    stage = Stage(place, **changes)
    stage.all_awake()
    stage.round()
    return stage
