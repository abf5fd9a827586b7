"""The hostile roles of a network, which one attacker runs, and how each attack treats a batch.

``arena`` places these roles next to honest mixes. The collector is always hostile, because it is
the observer of every guarantee. A hostile hop never runs the code of a mix. It opens envelopes with
its own key, selects some of them, and passes these on without changing their order.

Terms: a *role* is a mix or the collector, and its *place* is its number in the row, from 1; the
collector is last. A *sheet* lists the keys of a round, and every role signs it. A *manifest* is a
hop's signed statement of the messages that it sends, divided into files (*pieces*). A *bundle* has
all messages of one person, each sealed in an *envelope*. A *victim* is a person under attack.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from typing import NamedTuple

from mixtally.device.contract.fields import fingerprint_of
from mixtally.device.wire.arrivals import ArrivalLists, ListFile
from mixtally.device.wire.bundle import PartShape, part_envelopes, split_bundles
from mixtally.device.wire.envelope import Opener, Sealer
from mixtally.device.wire.manifest import (
    Manifest,
    PartManifest,
    Piece,
    Receipt,
    read_manifest,
    write_manifest,
    write_receipt,
)
from mixtally.device.wire.note import SEED_BYTES, Signer, sign_note
from mixtally.device.wire.sheet import Sheet, kind_of
from mixtally.device.wire.suite import SUITES
from mixtally.lab.attacks.device import Device
from mixtally.model.contract import Plan, envelope_bytes
from mixtally.model.layout import Form, Layout
from mixtally.primitives.chance import Chance
from mixtally.server.node.calls import Answer
from mixtally.server.node.peers import format_listing
from mixtally.server.node.wrapping import secret_bytes

SUITE_NUMBER = 1
SUITE = SUITES[SUITE_NUMBER]
"""The cipher suite of all envelopes."""
Keep = Callable[[Sequence[bytes], int], Sequence[bytes]]
"""A function that selects the bundles or envelopes that a hostile hop passes on.

Its arguments are the batch and the number of victims. The victims' bundles or envelopes come first
in the batch, unless an honest mix has changed the order.
"""


def keep_all(batch: Sequence[bytes], _: int) -> Sequence[bytes]:
    """Return the whole batch."""
    return batch


def keep_victims(batch: Sequence[bytes], victims: int) -> Sequence[bytes]:
    """Return only the victims' messages: the first ``victims`` of the batch (see ``Keep``)."""
    return batch[:victims]


def keep_some(batch: Sequence[bytes], victims: int) -> Sequence[bytes]:
    """Return the batch without every second message of the people who are not victims."""
    return [*batch[:victims], *batch[victims::2]]


def keep_short(batch: Sequence[bytes], _: int) -> Sequence[bytes]:
    """Return the batch without the messages that are longer than its shortest message."""
    least = min(map(len, batch), default=0)
    return [one for one in batch if len(one) == least]


class Attack(NamedTuple):
    """The behavior of hostile hops.

    One hop is hostile, or with ``all_but_one`` all hops but one. ``keep`` selects the messages that
    a hostile hop passes on. With ``fills``, messages of the attacker replace the dropped ones. With
    ``tells``, the hop draws the fakes of the plan, and the collector learns which messages are
    these fakes. With ``own_sheet``, the attacker shows a device a sheet with the attacker's keys,
    and does not change any batch.
    """

    name: str
    text: str
    keep: Keep = keep_all
    fills: bool = False
    tells: bool = False
    own_sheet: bool = False
    all_but_one: bool = False


ATTACKS = {
    one.name: one
    for one in (
        Attack("n-1", "drops all bundles but the victims' and fills with its own", keep_victims,
               fills=True),
        Attack("own-sheet", "shows the victim a sheet with keys of its own", own_sheet=True),
        Attack("loss", "drops the bundles of every second of the others", keep_some),
        Attack("long", "drops what is longer than the shortest", keep_short),
        Attack("tells", "draws its fakes and tells the collector which they are", tells=True),
        Attack("all-but-one", "helps all others: the first drops and fills, and none draws fakes",
               keep_victims, fills=True, all_but_one=True),
    )
}  # fmt: skip
"""All attacks by name, in the order in which the report lists them."""


def role_name(plan: Plan, place: int) -> str:
    """Return the name of role number ``place``, from 1; the collector follows the last hop."""
    return f"mix-{place}" if place <= plan.hops else "collector"


class Adversary:
    """All hostile roles together, at ``places``, and everything that they have received."""

    def __init__(self, plan: Plan, places: Iterable[int], chance: Chance) -> None:
        self.chance = chance
        self.signers = {
            place: Signer(role_name(plan, place), secret_bytes(chance, SEED_BYTES))
            for place in places
        }
        self._collector, self._part = plan.hops + 1, plan.parts[0]
        self._sizes = envelope_bytes(plan)[0]
        self._own_message = _last_record(self._part.layout)
        self._digest = b""
        self._manifests: dict[int, tuple[str, Manifest]] = {}
        self._pieces: dict[str, bytes] = {}
        self.lengths: set[int] = set()
        """Lengths of all bundles and envelopes that a hostile hop selected from."""

    def make_keys(self, places: Iterable[int]) -> dict[int, bytes]:
        """Make the attacker's keys of a round, and return their configurations by place."""
        self._private = {place: secret_bytes(self.chance, SUITE.private_bytes) for place in places}
        return {place: SUITE.configuration(key) for place, key in self._private.items()}

    def begin(self, sheet: Sheet, digest: bytes) -> None:
        """Begin a new round with this sheet and its hash; forget the previous round."""
        self._keys, self._digest = sheet.keys, digest
        self._manifests, self._pieces = {}, {}
        self._last: str | None = None
        """Hash of the manifest of the batch that the attacker received or sent last."""
        self.known: list[bytes] = []
        """Messages of this round that the attacker wrote."""

    def answer(self, method: str, path: str, body: bytes) -> Answer:
        """Answer a request of an honest role; store the manifest or the piece that it contains."""
        name = path.partition("?")[0].rpartition("/")[2]
        if method == "POST" and path.startswith("/notes"):
            if kind_of(body) == "manifest":
                manifest = read_manifest(body)
                # A mix that is a process may send a manifest of an earlier round late.
                if manifest.sheet == self._digest.hex():
                    self._manifests[manifest.hop] = fingerprint_of(body), manifest
            return Answer(204, b"")
        if method == "PUT":
            self._pieces[name] = body
            return Answer(201, b"")
        if path.startswith("/notes/"):
            return Answer(200, format_listing([]))
        if path == "/readyz":
            return Answer(200, b'{"ready": true}')
        return Answer(200 if name in self._pieces else 404, b"")

    def batch_from(self, hop: int) -> list[bytes] | None:
        """Return the envelopes that an honest hop has sent to a hostile role.

        Return None if the manifest or one of its pieces has not arrived.
        """
        if hop not in self._manifests:
            return None
        digest, manifest = self._manifests[hop]
        named = [piece.sha256 for piece in manifest.parts[0].pieces]
        if not all(name in self._pieces for name in named):
            return None
        self._last, size = digest, self._sizes[hop]
        data = b"".join(self._pieces[name] for name in named)
        return [data[i : i + size] for i in range(0, len(data), size)]

    def pass_on(
        self, attack: Attack, place: int, received: Sequence[bytes], victims: int
    ) -> list[bytes]:
        """Return the envelopes that the hostile hop at ``place`` sends.

        ``received`` are bundles at the first hop, and envelopes at any other hop.
        """
        self.lengths |= set(map(len, received))
        # If only one mix is honest, the hops after it drop nothing, because all messages that the
        # honest mix sends are evidence.
        drops = place == 1 or not attack.all_but_one
        kept = attack.keep(received, victims) if drops else received
        sent = self.open(place, kept)
        if attack.fills:
            sent += self._seal(place, [self._own_message] * (len(received) - len(kept)))
        if attack.tells:
            rows = Device().added(self._part.recipe, self._part.layout, self.chance)
            sent += self._seal(place, [row.tobytes() for row in rows])
        return sent

    def open(self, place: int, received: Sequence[bytes]) -> list[bytes]:
        """Return the contents of envelopes, or of bundles at the first hop, without padding."""
        opener = Opener(SUITE, self._private[place], self._digest, place)
        envelopes = self._unpack(received) if place == 1 else received
        inside = [opener.open(one, 0) for one in envelopes]
        return [one for one in inside if one is not None and (place > 1 or any(one))]

    def bundles(self, count: int) -> list[bytes]:
        """Return bundles of people who help the attacker."""
        messages = [self._own_message] * self._part.most
        return [b"".join(self._seal(0, messages)) for _ in range(count)]

    def without_own(self, messages: Sequence[bytes]) -> list[bytes]:
        """Return the messages without those that the attacker wrote.

        If the attacker wrote n of several equal messages, the last n of them are removed.
        """
        own, rest = Counter(self.known), list[bytes]()
        for message in reversed(messages):
            if own[message]:
                own[message] -= 1
            else:
                rest.append(message)
        return rest[::-1]

    def announce(self, place: int, envelopes: Sequence[bytes], bundles: int) -> tuple[bytes, Piece]:
        """Return the signed manifest of the hostile hop at ``place``, and the piece that it lists.

        The hop sends ``envelopes``, and ``bundles`` is the number of bundles in the round. The
        numbers in the manifest are plausible: an honest hop could state the same numbers.
        """
        count = len(envelopes)
        piece = Piece(sha256(b"".join(envelopes)).hexdigest(), count)
        added = max(0, count - bundles * self._part.most)
        own = PartManifest(count - added, added=added, pieces=(piece,))
        said = Manifest(self._digest.hex(), place, bundles, 0, None, self._last, (own,))
        lists = self._make_lists(said.received_counts)
        note = self._sign(place, write_manifest(said._replace(arrivals=lists)))
        self._last = fingerprint_of(note)
        return note, piece

    def receipt(self, place: int, count: int) -> bytes:
        """Return the signed receipt of a hostile role for ``count`` envelopes of an honest hop."""
        lists = self._make_lists([count]) if place == self._collector else None
        return self._sign(place, write_receipt(Receipt(self._last or "", place, lists)))

    def _unpack(self, bundles: Sequence[bytes]) -> list[bytes]:
        """Return the envelopes of bundles."""
        part = self._part
        shapes = [PartShape(part.most, part.most - part.least, self._sizes[0])]
        return [
            envelope
            for several in bundles
            for bundle in split_bundles(several, shapes)
            for envelope in part_envelopes(bundle, shapes, 0)
        ]

    def _seal(self, place: int, messages: Sequence[bytes]) -> list[bytes]:
        """Seal messages of the attacker for all roles after ``place``."""
        self.known += messages
        sealer = Sealer(SUITE, self._keys[place:], self._digest, first=place + 1)
        return [sealer.seal(message, 0) for message in messages]

    def _make_lists(self, counts: Iterable[int]) -> ArrivalLists:
        """Return arrival lists, one for each count, whose files do not exist.

        Other roles do not notice, because no mix reads the lists of another role.
        """
        name = sha256(self._digest).hexdigest()
        return tuple((ListFile(name, count),) * (count > 0) for count in counts)

    def _sign(self, place: int, text: bytes) -> bytes:
        return sign_note(text, self.signers[place])


def _last_record(layout: Layout) -> bytes:
    """Return a message that names the last bin or, if messages are bits, one with no bit set."""
    if layout.form is Form.INDEX:
        return bytes((layout.bins - 1).to_bytes(layout.message_bytes, "little"))
    return bytes(layout.blank_rows(1).tobytes())
