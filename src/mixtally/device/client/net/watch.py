"""Watching: a device finds out at which roles its messages of a round arrived.

A *tag* is a short hash of the bytes that a role receives. A device that watches stores the tags of
its bundle, and of the envelopes of its messages at every later role. When the round is over, it
fetches the complete lists of tags of all roles (``device.wire.arrivals``), looks for its own tags
and deletes them. It fetches whole lists, so nobody learns which tags it looks for.

The lists and the numbers of a round are signed. An honest role lists everything that it received,
so the tag of a message that arrived is always found. For a message that was lost, an equal tag of
another message is found with probability n / 2^64, for a list of n tags.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from hashlib import sha256
from json import JSONDecoder
from typing import NamedTuple

from mixtally.device.client.net.entries import BundleState, Entry
from mixtally.device.client.net.seal import read_watched
from mixtally.device.client.net.trust import TrustedContract, frame_of
from mixtally.device.contract.contract import Contract, envelope_bytes
from mixtally.device.contract.fields import (
    MOST_NOTE_BYTES,
    fingerprint_of,
    parse_json,
    text_of,
)
from mixtally.device.wire.arrivals import TAG_BYTES, ArrivalLists, find_tags, make_tagger
from mixtally.device.wire.consistency import check_manifests, check_receipt
from mixtally.device.wire.manifest import (
    MOST_PIECE_BYTES,
    Manifest,
    Receipt,
    read_manifest,
    read_receipt,
)
from mixtally.device.wire.note import find_signers
from mixtally.device.wire.sheet import kind_of
from mixtally.errors import DataError, RefusedError

Fetch = Callable[[str, int], bytes]
"""A function from an address and a maximum number of bytes to what is served there. It raises
DataError if there is nothing, or more."""
_MOST_NOTES = 50
_BEFORE_TEXT = re.compile(r'\s*[\[,]\s*(?=")')


class RoleAnswer(NamedTuple):
    """Whether a role lists the messages of a device.

    ``state`` is one of "yes", "no", "some", "no answer" and "refused", and ``why`` explains it.
    """

    name: str
    state: str
    why: str = ""


class Loss(NamedTuple):
    """Messages that were lost before the role ``before``, which does not list them.

    ``after`` is the last role that lists the messages, or "" if no role does. ``messages`` is their
    number. ``by`` is the role at fault, or "" if it is not known.
    """

    after: str
    before: str
    messages: int
    by: str = ""


class WatchReport(NamedTuple):
    """What is known about the messages of an entry.

    Attributes
    ----------
    roles : tuple of RoleAnswer
        The answers of the hops in order, and of the collector.
    lost : tuple of Loss
        Where messages were lost.
    faults : tuple of str
        Sentences about false statements that roles have signed.
    ended : str or None
        Why the round was destroyed, so that no message of it was counted; None if it was not.
    """

    roles: tuple[RoleAnswer, ...]
    lost: tuple[Loss, ...] = ()
    faults: tuple[str, ...] = ()
    ended: str | None = None

    @property
    def is_final(self) -> bool:
        """Whether a later call of ``check_arrival`` cannot have another outcome."""
        return self.ended is not None or all(one.state != "no answer" for one in self.roles)


def check_arrival(
    entry: Entry,
    agreed: TrustedContract,
    fetch: Fetch,
    pieces: Callable[[str], bytes] | None = None,
) -> WatchReport:
    """Return where the messages of an entry arrived. The round of the entry must have closed.

    Parameters
    ----------
    entry : Entry
        The entry, with tags of its messages.
    agreed : TrustedContract
        The contract of the entry.
    fetch : callable
        Fetches lists and notes from the roles.
    pieces : callable, optional
        Returns a piece, which is a published file of messages, by its SHA-256; or raises DataError.
        The pieces that one role sent to the next show which of the two has lost a message.
    """
    contract, answers, seen = agreed.contract, list[RoleAnswer](), list[set[bytes] | None]()
    roles = (*contract.hops, contract.collector)
    chain = [
        (entry.tags[:TAG_BYTES], *one.tags) for one in read_watched(entry.tags, len(roles) - 1)
    ]
    notes = _Notes(contract, entry, fetch)
    for hop, role in enumerate(roles, 1):
        if notes.destroyed_before(hop):
            break
        lists, why = notes.lists_of(hop)
        found = None
        if lists is not None:
            own_tags = {tags[hop - 1] for tags in chain}
            try:
                found = _find(own_tags, lists, partial(_fetch_file, fetch, role.address))
            except DataError as error:
                why = str(error.got)
            except RefusedError as error:
                why = f"its list is not as it has signed: {error.reason}"
                notes.faults.append(f"{role.name}: {why}")
        answers.append(_answer(role.name, hop, chain, found, why, notes))
        seen.append(found)
    names = [role.name for role in roles]
    lost, false = _compare(names, chain, seen, confirmed=entry.state is BundleState.TAKEN)
    decided = [
        one._replace(messages=len(tags), by=notes.decide(names, one, tags, pieces))
        for one, tags in lost.items()
    ]
    return WatchReport(tuple(answers), tuple(decided), (*notes.faults, *false), notes.ended)


def _fetch_file(fetch: Fetch, address: str, name: str) -> bytes:
    return fetch(f"{address}/pieces/{name}", MOST_PIECE_BYTES)


def _find(own_tags: set[bytes], lists: ArrivalLists, read: Callable[[str], bytes]) -> set[bytes]:
    """Return those of ``own_tags`` that are in any of the lists; all lists are read."""
    found = set[bytes]()
    for files in lists:
        found |= find_tags(own_tags, files, read)
    return found


def _answer(
    name: str,
    hop: int,
    chain: list[tuple[bytes, ...]],
    found: set[bytes] | None,
    why: str,
    notes: "_Notes",
) -> RoleAnswer:
    if found is None:
        refused = any(fault.startswith(f"{name}: ") for fault in notes.faults)
        return RoleAnswer(name, "refused" if refused else "no answer", why)
    listed = sum(tags[hop - 1] in found for tags in chain)
    if listed == len(chain):
        return RoleAnswer(name, "yes")
    return RoleAnswer(name, "some" if listed else "no", f"{listed} of {len(chain)}")


def _compare(
    names: list[str],
    chain: list[tuple[bytes, ...]],
    seen: list[set[bytes] | None],
    *,
    confirmed: bool,
) -> tuple[dict[Loss, list[tuple[bytes, ...]]], list[str]]:
    """Compare the tags of a device with the lists of all roles, and return losses and faults.

    ``chain`` has the tags of each message at every role. ``seen`` has, for each role, those tags
    that its lists contain, or None if the lists are unknown. ``confirmed`` is whether hop 1 has
    confirmed the bundle. The first result maps each loss to the tags of its messages, in the form
    of ``chain``. The second has sentences about lists that lack a message which a later role
    received.
    """
    lost: dict[Loss, list[tuple[bytes, ...]]] = {}
    false: dict[str, None] = {}
    for tags in chain:
        states = [None if one is None else tag in one for tag, one in zip(tags, seen, strict=False)]
        after = ""
        for place, (name, state) in enumerate(zip(names, states, strict=False)):
            if state:
                after = name
            elif state is False and True in states[place:]:
                later = names[place + states[place:].index(True)]
                false[f"{name}: its list lacks a message that {later} has received"] = None
            elif state is False:
                # A bundle that hop 1 never confirmed may not have reached it.
                if after or confirmed:
                    lost.setdefault(Loss(after, name, 0), []).append(tags)
                break
    return lost, list(false)


class _Notes:
    """The manifests and receipts of a round that all roles serve, and the faults in them."""

    def __init__(self, contract: Contract, entry: Entry, fetch: Fetch) -> None:
        self._contract, self._sheet, self.faults = contract, entry.sheet, list[str]()
        self._frame = frame_of(contract)
        self._roles = (*contract.hops, contract.collector)
        self._manifests: dict[int, dict[str, Manifest]] = {}
        self._receipts: dict[int, dict[str, Receipt]] = {}
        path = f"/contracts/{entry.contract}/rounds/{entry.round}/manifests"
        for role in self._roles:
            with suppress(DataError, RefusedError):
                for note in _split_notes(fetch(role.address + path, MOST_NOTE_BYTES)):
                    self._take(note)
        self._check()
        self.ended = next((one.destroyed for _, one in self._known if one.destroyed), None)

    def _take(self, note: bytes) -> None:
        """Keep a note of this round that its role has signed; ignore all others."""
        keys = {role.name: role.key for role in self._roles}
        with suppress(RefusedError):
            signers = find_signers(note, keys)
            # Only signed texts are parsed.
            kind = kind_of(note) if signers else None
            if kind == "manifest":
                if parse_json(text_of(note)).get("sheet") == self._sheet:
                    self._take_manifest(note, signers)
            elif kind == "receipt":
                receipt = read_receipt(note)
                if self._name(receipt.hop) in signers:
                    self._receipts.setdefault(receipt.hop, {})[fingerprint_of(note)] = receipt

    def _take_manifest(self, note: bytes, signers: frozenset[str]) -> None:
        try:
            one = read_manifest(note)
        except RefusedError as error:
            self._accuse(min(signers), f"its manifest cannot be true: {error.reason}")
            return
        if self._name(one.hop) in signers:
            self._manifests.setdefault(one.hop, {})[fingerprint_of(note)] = one

    def _name(self, hop: int) -> str:
        return self._roles[hop - 1].name if hop <= len(self._roles) else ""

    def _accuse(self, name: str, why: str) -> None:
        if (fault := f"{name}: {why}") not in self.faults:
            self.faults.append(fault)

    def _check(self) -> None:
        """Keep the manifests of consecutive hops from hop 1 on, up to the first contradiction."""
        known = list[tuple[str, Manifest]]()
        for hop, role in enumerate(self._contract.hops, 1):
            several = list(self._manifests.get(hop, {}).items())
            if len(several) > 1:
                self._accuse(role.name, "it has signed two manifests of this round")
            if len(several) != 1:
                break
            try:
                check_manifests([*known, *several], self._sheet, self._frame)
            except RefusedError as error:
                if error.reason != "before-unfit" or self._receipts_of(hop, known[-1][0]):
                    self._accuse(role.name, f"its manifest cannot be true: {error.reason}")
                else:
                    # The earlier role may have signed two manifests, and serve only one of them.
                    earlier = self._name(hop - 1)
                    why = f"the manifest of {role.name} follows another one"
                    self._accuse(f"{earlier} or {role.name}", why)
                break
            known += several
        self._known = known

    def destroyed_before(self, hop: int) -> bool:
        """Return whether the hop at position ``hop`` or an earlier hop destroyed the round."""
        return any(one.destroyed for _, one in self._known[:hop])

    def lists_of(self, hop: int) -> tuple[ArrivalLists | None, str]:
        """Return the arrival lists that the role at ``hop`` has signed, and an empty text.

        If there are none, or their numbers are false, return None and the reason as text.
        """
        if hop <= len(self._known):
            return self._known[hop - 1][1].arrivals, ""
        if hop <= len(self._contract.hops) or len(self._known) < hop - 1:
            return None, "its signed numbers are not known, or those of a hop before it"
        receipts, digest = self._receipt(hop), self._known[-1][0]
        if len(receipts) != 1:
            return None, "it has not signed what it received"
        try:
            check_receipt(receipts[0], digest, self._known[-1][1], self._frame)
        except RefusedError as error:
            why = f"its receipt cannot be true: {error.reason}"
            self._accuse(self._roles[-1].name, why)
            return None, why
        return receipts[0].arrivals, ""

    def _receipt(self, hop: int) -> list[Receipt]:
        """Return the receipts of the role at ``hop`` for the manifest of the previous hop."""
        found = self._receipts_of(hop, self._known[hop - 2][0])
        if len(found) > 1:
            self._accuse(self._name(hop), "it has signed two receipts of this round")
        return found

    def _receipts_of(self, hop: int, manifest: str) -> list[Receipt]:
        """Return the receipts of the role at ``hop`` for a manifest with this SHA-256."""
        return [one for one in self._receipts.get(hop, {}).values() if one.manifest == manifest]

    def decide(
        self,
        names: list[str],
        loss: Loss,
        lost: list[tuple[bytes, ...]],
        pieces: Callable[[str], bytes] | None,
    ) -> str:
        """Return the role at fault for a loss between two neighbors, or "" if it is not known.

        The later role has signed that it has all pieces of the earlier one. If all lost envelopes
        are in these pieces, the later role has omitted them from its list. Otherwise the earlier
        role did not send some of them.
        """
        hop = names.index(loss.before) + 1
        if pieces is None or hop == 1 or loss.after != names[hop - 2]:
            return ""
        if len(self._receipt(hop)) != 1:
            return ""
        sheet, sent = bytes.fromhex(self._sheet), set[bytes]()
        for part, one in enumerate(self._known[hop - 2][1].parts):
            tag, size = make_tagger(sheet, hop, part), self._envelope_bytes(part, hop)
            for piece in one.pieces:
                try:
                    data = pieces(piece.sha256)
                except DataError:
                    return ""
                if sha256(data).hexdigest() != piece.sha256:
                    return ""
                sent |= {tag(data[at : at + size]) for at in range(0, len(data), size)}
        return loss.before if all(tags[hop - 1] in sent for tags in lost) else loss.after

    def _envelope_bytes(self, part: int, hop: int) -> int:
        """Return the length of an envelope that the role at ``hop`` receives."""
        contract, inside = self._contract, self._contract.plan.parts[part].layout.message_bytes
        return envelope_bytes([inside], len(contract.hops), contract.suite)[0][hop - 1]


def _split_notes(data: bytes) -> Iterator[bytes]:
    """Yield the notes in an answer of a role, which must be a JSON list of texts.

    Stop at the first element that is not a text. Parsing lists of lists would use twenty times
    their length in memory.
    """
    answer, place = data.decode("utf-8", "replace"), 0
    for _ in range(_MOST_NOTES):
        found = _BEFORE_TEXT.match(answer, place)
        if found is None:
            return
        try:
            one, place = JSONDecoder().raw_decode(answer, found.end())
        except ValueError:
            return
        yield one.encode("utf-8", "surrogatepass")
