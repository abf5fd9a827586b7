"""Check of an exported round, offline and by anyone.

``mixtally check round`` calls ``check_round``. First ``round_notes`` checks the signed notes. Then
this module checks the pieces, the messages, the tally, the estimates and the certificate.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from hashlib import sha256
from importlib.util import find_spec
from io import BytesIO
from itertools import zip_longest
from math import isclose

import msgspec
import numpy as np
from numpy.typing import NDArray

from mixtally.accounting.accountant import Accountant
from mixtally.accounting.plans.terms import verify
from mixtally.device.wire.arrivals import TAG_BYTES, ListFile, make_tagger
from mixtally.device.wire.consistency import check_piece
from mixtally.device.wire.manifest import Piece
from mixtally.errors import MixtallyError, RefusedError
from mixtally.model.contract import write_plan
from mixtally.model.estimates import Tally
from mixtally.model.result import Result
from mixtally.primitives.chance import SecureChance
from mixtally.primitives.progress import Progress
from mixtally.protocol.estimate.received_fakes import RARE
from mixtally.server.collector.concluding import CountedRound, conclude_round
from mixtally.server.collector.counting import can_count_pairs
from mixtally.server.collector.export_index import CONTRACT
from mixtally.server.collector.kept import MESSAGES
from mixtally.server.collector.release_receipt import ReleasedRound, receipt_files
from mixtally.server.collector.results import ShownRound, result_facts
from mixtally.server.collector.round_files import RoundFiles
from mixtally.server.collector.round_notes import NotesCheck
from mixtally.server.collector.round_report import Claim, RoundReport, limits_of_check
from mixtally.server.collector.stored import StoredTally, decode_tally, encode_result
from mixtally.server.engine.folding import SiftedTally
from mixtally.version import VERSION

_MALFORMED = (
    *(ArithmeticError, LookupError, MixtallyError, RecursionError, TypeError, ValueError),
    msgspec.MsgspecError,
)
"""The exceptions that the content of an untrusted file can cause."""
_MOST_FIELDS = 100
"""The maximum number of fields and lists of a part in a tally file, without rows of pairs. The
collector writes about 20.
"""
_FRACTION = re.compile(
    rb'( *(?:"[a-z0-9_]+": )?)(-?[0-9]+(?:\.[0-9]+(?:e[+-]?[0-9]+)?|e[+-]?[0-9]+))(,?\n)'
)
"""A line of JSON with a decimal fraction. Integers do not match, because they are exact counts."""
_ROUNDING = 1e-9
"""The maximum relative difference of two estimates that other processors or libraries can cause."""
_SAMPLE = 20_000
"""If a part has more envelopes than this, only a random sample of this size is looked for in lists.

If a share f of the tags in a list is missing, this is noticed with probability 1 - (1 - f)^20,000.
"""
_Tags = NDArray[np.uint64]
_NO_TAGS: _Tags = np.zeros(0, dtype=np.uint64)


def check_round(files: RoundFiles, progress: Progress) -> RoundReport:
    """Check all files of a round, and return a report.

    Raises DataError for a symbolic link, or a file that is too long.
    """
    return _RoundCheck(files, progress).run()


class _RoundCheck(NotesCheck):
    """The check of all files; each method checks one kind of file."""

    def __init__(self, files: RoundFiles, progress: Progress) -> None:
        super().__init__(files)
        self._progress = progress
        self._tally: StoredTally | None = None
        self._result: Result | None = None
        self._tags: defaultdict[int, list[bytes]] = defaultdict(list)
        """For each part, the tags of the envelopes in the pieces, or those of a random sample."""

    def run(self) -> RoundReport:
        agreed, sheet = self.check_notes()
        if agreed is not None and sheet is not None:
            self._check_tally()
            self._check_pieces()
            self._check_lists()
            self._check_messages()
            self._check_result()
            self._check_certificate()
            self.read_others()
            altered = any(finding.role is None for finding in self.findings)
            if self.index is not None:
                who = self.agreed.contract.collector.name
                self.claims.append(Claim("every file is as it was exported", who, not altered))
        limits = limits_of_check(
            None if agreed is None or sheet is None else agreed.contract.plan,
            messages=bool(self._list_messages()),
            pieces=any(name.startswith("piece-") for name in self.names),
            receipts=agreed is not None and len(self.receipts) == len(agreed.contract.hops),
        )
        number = None if sheet is None else sheet.round
        found = self.claims, self.findings, limits, RARE * self.drawn, self._result
        return RoundReport(agreed, number, *found)

    def _check_tally(self) -> None:
        who = self.agreed.contract.collector.name
        with self.claim("the tally has as many messages as the last mix sent", who):
            if (data := self.read("tally.json")) is None:
                return
            try:
                self._check_structure(data)
                tally = decode_tally(data)
                fault = self._find_tally_fault(tally)
            except _MALFORMED as error:
                self.blame("tally.json", self.publisher, "a tally", error)
                return
            if fault is not None:
                self.blame("tally.json", self.publisher, *fault)
            else:
                self._tally = tally

    def _check_structure(self, data: bytes) -> None:
        """Raise ValueError for a tally that would use much more memory than its bytes."""
        plan = self.agreed.contract.plan
        rows = 0
        if can_count_pairs(plan.question, plan.parts):
            rows = plan.parts[0].layout.bins
        if data.count(b"[") + data.count(b":") > _MOST_FIELDS * (1 + len(plan.parts)) + rows:
            raise ValueError("more lists or fields than the parts of the plan have")

    def _find_tally_fault(self, tally: StoredTally) -> tuple[str, str] | None:
        plan, number = self.agreed.contract.plan, self.sheet.round
        if (tally.contract, tally.round) != (self.agreed.fingerprint, number):
            return f"the tally of round {number}", "that of another round"
        last = self.manifests[-1] if self.has_all_manifests else (tally.manifest, None)
        if tally.manifest != last[0]:
            return f"the tally of the batch {last[0]}", f"that of {tally.manifest}"
        paired = can_count_pairs(plan.question, plan.parts)
        for part, stored in zip(plan.parts, tally.parts, strict=True):
            found, bins = stored.tally, part.layout.bins
            shape = None if found.pairs is None else found.pairs.shape
            if (
                len(found.counts) != (bins if found.codes is None else len(found.codes))
                or shape != ((bins, bins) if paired else None)
                or min(stored.messages, *stored.dropped.values(), *stored.counts, 0) < 0
            ):
                return "a count of 0 or more for each bin", "others"
            if stored.came != stored.messages + sum(stored.dropped.values()):
                expected = f"{stored.came:,} messages, counted or dropped"
                return expected, f"{stored.messages:,} and {sum(stored.dropped.values()):,}"
        sent = [] if last[1] is None else [part.sent_count for part in last[1].parts]
        arrived = [part.came for part in tally.parts]
        if last[1] is not None and arrived != sent:
            return f"{sent} messages, as the last mix sent", str(arrived)
        return None

    def _check_pieces(self) -> None:
        """Check pieces against their hashes in the manifest of the last hop."""
        kept = [name for name in self.names if name.startswith("piece-")]
        if not kept or not self.has_all_manifests:
            return
        last = self.agreed.contract.hops[-1].name
        with self.claim("pieces have the hashes of the last manifest", last):
            sizes = [size[-1] for size in self.agreed.contract.envelope_bytes]
            parts = list(enumerate(self.manifests[-1][1].parts))
            pieces = [(number, piece) for number, part in parts for piece in part.pieces]
            for done, (number, piece) in enumerate(pieces):
                self._progress("pieces", done, len(pieces))
                data = self._read_piece(f"piece-{piece.sha256}", piece, sizes[number], last)
                if data is not None:
                    many = parts[number][1].sent_count
                    self._tags[number] += self._sample_tags(data, sizes[number], number, many)

    def _read_piece(self, name: str, piece: Piece, size: int, signer: str) -> bytes | None:
        """Return the piece or list file ``name``, or None if it does not match ``piece``.

        ``piece`` has the hash and the length from a signed note. The hash is part of the name, so
        it is computed only once. If the signed index states another hash, the finding accuses the
        collector. If only the length is wrong, it accuses ``signer``, who signed the length.
        """
        if (data := self.read(name, hashed=False)) is None:
            return None
        try:
            check_piece(data, piece, size)
        except RefusedError as error:
            entry = None if self.index is None else self.index.files[name]
            role = None if entry is None or entry.sha256 == piece.sha256 else self.publisher
            if error.reason == "piece-length":
                role = signer
            self.blame(name, role, f"the bytes of SHA-256 {piece.sha256}", error)
            return None
        return data

    def _sample_tags(self, data: bytes, size: int, part: int, many: int) -> Iterator[bytes]:
        """Return the tags of all envelopes of a piece, or of a random sample if its part is large.

        ``size`` is the length of an envelope, and ``many`` the number of envelopes of the part.
        """
        here = len(data) // size
        positions = range(here)
        if many > _SAMPLE:
            words = SecureChance().words(-(-_SAMPLE * here // many))
            positions = (words % np.uint64(here)).tolist()
        tag = make_tagger(bytes.fromhex(self.digest), len(self.agreed.contract.hops) + 1, part)
        return (tag(data[size * place : size * (place + 1)]) for place in positions)

    def _check_lists(self) -> None:
        """Check the collector's arrival lists against its receipt and the pieces."""
        who = self.agreed.contract.collector.name
        receipt = self.receipts.get(len(self.agreed.contract.hops) + 1)
        if receipt is None or not any(name.startswith("list-") for name in self.names):
            return
        shown = "fits the pieces" if self._tags else "is in order"
        with self.claim(f"the list of what the collector received {shown}", who):
            for number, files in enumerate(receipt.arrivals or ()):
                found = [tags for file in files if (tags := self._read_tags(file)) is not None]
                if len(found) == len(files) and not self._fits_pieces(number, found):
                    expected = f"the ascending tags of the pieces of part {number + 1}"
                    self.blame(f"list-{files[0].sha256}", who, expected, "others")

    def _fits_pieces(self, number: int, found: Sequence[_Tags]) -> bool:
        tags = np.concatenate([_NO_TAGS, *found])
        own = np.sort(np.frombuffer(b"".join(self._tags[number]), dtype=">u8").astype(np.uint64))
        if (tags[1:] < tags[:-1]).any():
            return False
        if len(own) == len(tags) <= _SAMPLE:
            return np.array_equal(own, tags)
        places = np.searchsorted(tags, own).clip(max=len(tags) - 1)
        return bool((tags[places] == own).all())

    def _read_tags(self, file: ListFile) -> _Tags | None:
        who = self.agreed.contract.collector.name
        data = self._read_piece(f"list-{file.sha256}", Piece(*file), TAG_BYTES, who)
        return None if data is None else np.frombuffer(data, dtype=">u8").astype(np.uint64)

    def _list_messages(self) -> list[tuple[int, str]]:
        """Return the number of the part, from 0, and the name of every file of messages."""
        named = [(MESSAGES.fullmatch(name), name) for name in self.names]
        return [(int(found[1]) - 1, name) for found, name in named if found is not None]

    def _check_messages(self) -> None:
        """Count the opened messages again."""
        plan, files, tally = self.agreed.contract.plan, self._list_messages(), self._tally
        if not files:
            return
        with self.claim(
            "the tally counts the opened messages", self.agreed.contract.collector.name
        ):
            pairs = can_count_pairs(plan.question, plan.parts)
            for number, part in enumerate(plan.parts):
                sifted = SiftedTally(part.layout, 1 << 30, pairs=pairs)
                own = [name for of, name in files if of == number]
                for done, name in enumerate(own):
                    self._progress("messages", done, len(own))
                    if (data := self.read(name)) is None:
                        return
                    if len(data) % part.layout.message_bytes:
                        expected = f"messages of {part.layout.message_bytes} bytes"
                        self.blame(name, self.publisher, expected, f"{len(data):,} bytes")
                        return
                    sifted.add(data)
                if tally is None:
                    continue
                if sifted.dropped or not _are_equal(sifted.tally(), tally.parts[number].tally):
                    expected = f"the counts of the messages in part {number + 1}"
                    self.blame("tally.json", self.publisher, expected, "other counts")

    def _check_result(self) -> None:
        who = self.agreed.contract.collector.name
        with self.claim("estimates and release receipt follow from tally and manifests", who):
            data = self.read("result.json")
            receipts = {name: self.read(name) for name in ("receipt.json", "receipt.md")}
            if data is None or self._tally is None:
                return
            if not self.has_all_manifests:
                return
            software = VERSION if self.index is None else self.index.software
            # Another version may round the last digit of an estimate differently.
            role = self.publisher if software == VERSION else None
            counted = CountedRound(
                self.agreed, self.sheet, self.digest, self.manifests, self._tally
            )
            try:
                silent = msgspec.json.decode(data, type=_Overruled).overruled
                if not set(silent) <= self.agreed.agreement.keys.keys():
                    raise ValueError(f"overruled {silent}")
                sheet = self.sheet
                shown = ShownRound(self.agreed, sheet.round, sheet.opens, sheet.closes, silent)
                conclusion = conclude_round(counted)
                found = encode_result(result_facts(shown, conclusion))
                made = ReleasedRound(
                    shown, conclusion, self.digest, sha256(data).hexdigest(), software
                )
                derived = receipt_files(made)
            except _MALFORMED as error:
                self.blame("result.json", role, "a result", error)
                return
            self._result = conclusion.result
            if not _differ_by_rounding(found, data):
                self.blame("result.json", role, "what the tally leads to", "another result")
            for name, text in receipts.items():
                if text is not None and text != derived[name]:
                    self.blame(name, role, "what contract and result lead to", "other facts")

    def _check_certificate(self) -> None:
        plan, who = self.agreed.contract.plan, self.agreed.contract.collector.name
        with self.claim("delta is as the contract states, derived again", "all roles"):
            try:
                verify(plan, Accountant())
            except MixtallyError as error:
                self.blame(CONTRACT, who, "a delta that is proved", error)
                return
        if find_spec("flint") is None:  # an optional package
            return
        from mixtally.accounting.verification import verify_certificate

        with self.claim("a second program does not contradict delta", "all roles"):
            try:
                verify_certificate(json.loads(write_plan(plan)))
            except MixtallyError as error:
                self.blame(CONTRACT, who, "a delta that is proved twice", error)


class _Overruled(msgspec.Struct, frozen=True):
    """The field of a result that cannot be computed again, because no other file contains it."""

    overruled: tuple[str, ...]


def _differ_by_rounding(one: bytes, other: bytes) -> bool:
    """Return whether two results are equal except for the last digits of some estimates.

    Processors and libraries round exponentials and logarithms differently.
    """
    lines = zip_longest(BytesIO(one), BytesIO(other), fillvalue=b"")
    return one == other or all(a == b or _are_close(a, b) for a, b in lines)


def _are_close(one: bytes, other: bytes) -> bool:
    """Return whether two lines of JSON have nearly the same decimal fraction."""
    a, b = _FRACTION.fullmatch(one), _FRACTION.fullmatch(other)
    if a is None or b is None or a.group(1, 3) != b.group(1, 3):
        return False
    return isclose(float(a[2]), float(b[2]), rel_tol=_ROUNDING)


def _are_equal(one: Tally, other: Tally) -> bool:
    """Return whether two tallies have the same counts."""
    return one.messages == other.messages and all(
        np.array_equal(np.asarray(a), np.asarray(b))  # None equals only None
        for a, b in (
            (one.counts, other.counts),
            (one.pairs, other.pairs),
            (one.codes, other.codes),
        )
    )
