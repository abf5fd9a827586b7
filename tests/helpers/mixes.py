"""Mixes of a village: with intake and rounds, driven by a clock that a test sets."""

from helpers.listed import invented
from helpers.roles_in_folders import ENVIRONMENT, OPEN, START, Village, ask
from mixtally.device.wire.bundle import write_bundle
from mixtally.device.wire.envelope import Opener, Sealer
from mixtally.device.wire.sheet import read_sheet, sheet_hash
from mixtally.device.wire.suite import SUITES
from mixtally.primitives.chance import SecureChance
from mixtally.server.mix.intake import Intake
from mixtally.server.mix.intake_processes import IntakeProcess
from mixtally.server.mix.jobs import take_job
from mixtally.server.mix.mix import Mix, Options
from mixtally.server.mix.serve import mix_application
from mixtally.server.mix.web import BundleRoute, bundle_application
from mixtally.server.node.disk import no_step
from mixtally.server.node.folder import open_folder
from mixtally.server.node.node import Node
from mixtally.server.node.web.bodies import BodyBudget


class Town(Village):
    """A village whose mixes work; the collector only takes what comes."""

    def awaken(self, place: int, *, step=no_step, chance=None, options=None, overruled=()) -> Mix:
        """The mix at ``place``, as a process that begins."""
        folder = open_folder(self.folders[place - 1].path, ENVIRONMENT)
        node = Node(folder, chance or SecureChance(), step)
        take_job(node, self.jobs[place - 1], self.text)
        stopped = []
        intake = Intake(folder.subfolder("rounds"), stopped.append, step)
        mix = Mix(node, self.peers(node, overruled), intake, options or Options())
        mix.stopped = stopped
        self.apps[folder.role.address] = mix_application(mix, lambda: self.now, stopped.append)
        return mix

    def all_awake(self, **options):
        """All mixes, and the collector's node; all have asked each other."""
        self.collector = self.node(len(self.folders), cleared=False)
        self.awake(self.collector)
        self.mixes = [self.awaken(place + 1, **options) for place in range(len(self.jobs))]
        for _ in range(2):
            self.tick()
        self.peers(self.collector).ask(self.now)
        return self.mixes

    def tick(self):
        """Every mix does what is due."""
        for mix in self.mixes:
            mix.tick(self.now)

    def round(self, number=1, **changes):
        """A round that all have signed and the first mix takes bundles for; its sheet."""
        nodes = [mix.node for mix in self.mixes] + [self.collector]
        self.note = self.agreed(nodes, number, **changes)
        self.tick()
        return self.note

    def sealer(self):
        """What seals for the round's sheet."""
        return Sealer(SUITES[1], read_sheet(self.note).keys, sheet_hash(self.note))

    def bundle(self, *parts):
        """A bundle of messages, a sequence for each part."""
        seal = self.sealer().seal
        return write_bundle(
            [[seal(message, place) for message in part] for place, part in enumerate(parts)]
        )

    def beside(self, number=1, *, step=no_step, place=1, clock=None) -> IntakeProcess:
        """A process of intake beside the mix at ``place``, as it begins; a test makes it tick."""
        rounds, stopped = self.folders[place - 1].subfolder("rounds"), []
        intake = Intake(rounds, stopped.append, step, number)
        made = IntakeProcess(rounds, intake, step)
        bundles = BundleRoute(intake, made.find, clock or (lambda: self.now), BodyBudget(1 << 20))
        self.apps[number] = bundle_application(bundles, stopped.append)
        return made

    @property
    def path(self):
        """Where bundles of the first round go."""
        return f"/contracts/{self.fingerprint}/rounds/1/bundles"

    def send(self, body, number=1, *, to=None, **more):
        """Send bundles to the first mix, or to the process of intake of number ``to``."""
        app = self.apps[to or self.folders[0].role.address]
        path = f"/contracts/{self.fingerprint}/rounds/{number}/bundles"
        return ask(app, "POST", path, body, **more)

    def close(self):
        """Let the round's time be over."""
        self.now = START + OPEN

    def opened(self, number=1):
        """What the collector holds of a round, opened, a list for each part; None for nothing."""
        row = self.collector.rounds.of(self.fingerprint, number)
        before = self.collector.preceding_manifest(row)
        if before is None or before[1].destroyed is not None:
            return None
        key = self.collector.keys.read_key(row.folder)
        opener = Opener(SUITES[1], key.private, bytes.fromhex(row.sheet), len(self.folders))
        parts = []
        for place, part in enumerate(before[1].parts):
            size = self.jobs[0].sizes[place][-1]
            data = b"".join(
                self.collector.pieces.path(row.folder, piece.sha256).read_bytes()
                for piece in part.pieces
            )
            parts.append(
                [opener.open(data[i : i + size], place) for i in range(0, len(data), size)]
            )
        return parts

    def receive(self, number=1):
        """The collector signs that it has everything, and tells all."""
        row = self.collector.rounds.of(self.fingerprint, number)
        before = self.collector.preceding_manifest(row)
        assert self.collector.count_missing(row) == 0
        lists = invented([part.sent_count for part in before[1].parts])
        self.collector.sign_receipt(row, before[0], lists)
        self.peers(self.collector).send_all(self.now)

    def end(self):
        """Give everything back."""
        for mix in self.mixes:
            mix.end()
        self.collector.close()


def town_of(tmp_path, **changes):
    """A town whose first round is open."""
    town = Town(tmp_path, **changes)
    town.all_awake()
    town.round()
    return town


def run(town, ticks=4):
    """Let the round's time be over, and every mix do what follows."""
    town.close()
    for _ in range(ticks):
        town.tick()


def sizes(town, part=0):
    """Bytes of an envelope before each hop and the collector."""
    return town.jobs[0].sizes[part]


def manifests(town):
    """What every hop said of the first round."""
    row = town.collector.rounds.all()[0]
    hops = range(1, len(town.folders))
    return [town.collector.manifest_of(row, hop)[1] for hop in hops]
