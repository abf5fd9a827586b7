"""For tests of devices: contracts and sheets that roles with real keys signed, and a first mix."""

import hashlib
import random
import socketserver
import threading
from contextlib import contextmanager

from helpers import contracts
from mixtally.device.client import Limits
from mixtally.device.client.net import Pins, open_round, verify_contract
from mixtally.device.wire.bundle import PartShape, check_body, part_envelopes, split_bundles
from mixtally.device.wire.envelope import Opener
from mixtally.device.wire.note import Signer, sign_note
from mixtally.device.wire.sheet import Sheet, sheet_hash, write_sheet
from mixtally.device.wire.suite import SUITES
from mixtally.model.contract import Role, fingerprint_of, write_contract
from mixtally.model.question import Question

NOW = 1_800_000_000
OPEN = 3600
ANY = Limits(epsilon=20.0, delta=0.1, hops=1)
SUITE = SUITES[1]
LABELS = ("yes", "no", "Zürich", "perhaps")
ASKED = Question(name="opinion", bins=4, labels=LABELS)


def secret(text):
    """32 bytes that belong to a test."""
    return hashlib.sha256(text.encode()).digest()


def by_mixes(**changes):
    """One answer of four, hidden by every mix, for three rounds."""
    fields = {"collections": 3, **changes}
    return contracts.plan_of(fields.pop("question", ASKED), [contracts.shaped(4)], **fields)


def by_people(**changes):
    """The same, hidden by people: a fake, and one more with a chance of a half."""
    part = contracts.uniform(4, whole=1, coin=1 << 63)
    return contracts.plan_of(ASKED, [part], **changes)


class Words:
    """Repeatable words: count -> 8 * count bytes."""

    def __init__(self, seed):
        self.chance = random.Random(seed)

    def __call__(self, count):
        return self.chance.randbytes(8 * count)


class World:
    """Roles with keys, a contract that all signed, and what they do in its rounds."""

    def __init__(self, plan=None, *, address="http://127.0.0.1:9", team="", **changes):
        self.plan = by_mixes() if plan is None else plan
        names = [f"{team}mix-{i + 1}" for i in range(self.plan.hops)] + [f"{team}collector"]
        self.signers = [Signer(name, secret(name)) for name in names]
        roles = [
            Role(
                name=one.name,
                address=f"https://{one.name}" if place else address,
                key=one.verifier,
                operator=f"Team {one.name}",
            )
            for place, one in enumerate(self.signers)
        ]
        fields = {"hops": tuple(roles[:-1]), "collector": roles[-1], **changes}
        self.contract = contracts.contract_of(self.plan, **fields)
        self.text = write_contract(self.contract)
        self.note = sign_note(self.text, *self.signers)
        self.fingerprint = fingerprint_of(self.note)
        self.pins = Pins(self.fingerprint)
        self.suite = SUITES[self.contract.suite]
        several = self.suite.private_bytes // 32
        self.private = [secret(f"{name} round") * several for name in names]

    def sheet(self, number=1, signers=None, **changes):
        """The note of a round that opens now."""
        opens = changes.pop("opens", NOW)
        fields = {
            "contract": self.fingerprint,
            "round": number,
            "opens": opens,
            "closes": opens + OPEN,
            "expires": opens + 10 * OPEN,
            "keys": tuple(map(self.suite.configuration, self.private)),
        }
        text = write_sheet(Sheet(**{**fields, **changes}))
        return sign_note(text, *(self.signers if signers is None else signers))

    def trusted(self, pins=None, limits=ANY):
        return verify_contract(self.note, self.pins if pins is None else pins, limits)

    def round(self, number=1, now=NOW, **changes):
        """The round as a device takes it."""
        return open_round(self.trusted(), self.sheet(number, **changes), now)

    def opened(self, bundle, number=1, **changes):
        """The messages in a bundle, a list for each part: every layer taken off; no padding."""
        digest = sheet_hash(self.sheet(number, **changes))
        shapes = [
            PartShape(part.most, part.most - part.least, size)
            for part, (size, *_) in zip(self.plan.parts, self.contract.envelope_bytes, strict=True)
        ]
        check_body(bundle, shapes)
        (whole,) = split_bundles(bundle, shapes)
        parts = [part_envelopes(whole, shapes, part) for part in range(len(shapes))]
        for hop, private in enumerate(self.private, 1):
            opener = Opener(self.suite, private, digest, hop)
            parts = [[one and opener.open(one, i) for one in part] for i, part in enumerate(parts)]
            if hop == 1:
                parts = [[one for one in part if one is None or any(one)] for part in parts]
        return parts


def answer(status, *headers, body=b""):
    """A response of a first mix."""
    lines = [f"HTTP/1.1 {status} Said", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


class FirstMix(socketserver.ThreadingTCPServer):
    """Keeps whole requests as they came; answers one after the other, the last one for ever.

    An answer of None closes the connection; one that is callable gets the connection.
    """

    daemon_threads = True

    def __init__(self, *answers):
        self.answers, self.requests = list(answers), []
        super().__init__(("127.0.0.1", 0), _Request)

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server_address[1]}"

    @property
    def bodies(self):
        return [request.partition(b"\r\n\r\n")[2] for request in self.requests]


class _Request(socketserver.StreamRequestHandler):
    def handle(self):
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            line = self.rfile.readline()
            if not line:
                return
            head += line
        stated = [int(line[15:]) for line in head.split(b"\r\n") if line[:15] == b"Content-Length:"]
        size = stated[0] if head.startswith(b"POST") else 0
        mix = self.server
        mix.requests.append(head + self.rfile.read(size))
        said = mix.answers.pop(0) if len(mix.answers) > 1 else mix.answers[0]
        if callable(said):
            said(self.wfile)
        elif said is not None:
            self.wfile.write(said)


@contextmanager
def first_mix(*answers):
    """A first mix on this machine while the block runs."""
    with FirstMix(*(answers or (answer(201),))) as mix:
        serving = threading.Thread(target=mix.serve_forever, args=(0.005,))
        serving.start()
        try:
            yield mix
        finally:
            mix.shutdown()
            serving.join()
