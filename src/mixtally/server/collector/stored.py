"""Permanent records of a round at the collector: its charge, its tally and its result.

results/ROUND/charge.json   written before any piece of the batch is accepted
results/ROUND/tally.json    written before the key and the envelopes are destroyed
results/ROUND/result.json   what is published, or the reason why nothing is
results/ROUND/kept          opened messages and pieces, if the operator keeps them
results/ROUND/export        files for anyone who checks the round, which the collector serves

The records contain no data other than what the observer in the guarantee receives.
"""

import json
import threading
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np

from mixtally.errors import DataError
from mixtally.model.estimates import Tally
from mixtally.primitives.wide import from_plain
from mixtally.server.node import disk
from mixtally.server.node.disk import Step, no_step

VERSION = 1
KEPT, EXPORT = "kept", "export"
"""Names of the subfolders of a round."""
_T = TypeVar("_T")


class StoredCharge(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The privacy cost of a batch for the people in it. It is final once the batch is received."""

    version: int = VERSION
    name: str
    serial: int
    contract: str
    round: int
    sheet: str
    manifest: str
    """SHA-256 of the last hop's manifest, which identifies the batch; "" for a lost round."""
    epsilon: float
    delta: float
    """The epsilon and delta of all ``collections`` rounds of the contract together."""
    collections: int


class StoredPartTally(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The tally of one part."""

    came: int
    """Number of messages in the batch."""
    messages: int
    counts: list[int]
    """How often each bin was set."""
    codes: list[int | str] | None
    """The bins to which ``counts`` belong, in ascending order; None if every bin has a count. If
    numbers of bins may have more than 8 bytes, they are hexadecimal texts."""
    pairs: list[list[int]] | None
    """How often each pair of bins was set; None if messages do not contain pairs."""
    dropped: dict[str, int]
    """Number of received messages that were not counted, by reason."""

    @property
    def tally(self) -> Tally:
        """The tally in the form that estimators use."""
        pairs = None if self.pairs is None else np.array(self.pairs, dtype=np.int64)
        codes = None if self.codes is None else from_plain(self.codes)
        return Tally(np.array(self.counts, dtype=np.int64), self.messages, pairs, codes)


class StoredTally(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The tally of a batch; ``manifest`` is the SHA-256 of the manifest that identifies it."""

    version: int = VERSION
    contract: str
    round: int
    manifest: str
    parts: tuple[StoredPartTally, ...]


class Results:
    """The records in a role's folder, by the identifiers of rounds."""

    def __init__(self, folder: Path, step: Step = no_step) -> None:
        self._folder, self._step = folder / "results", step
        # The loop and the HTTP route that receives notes can charge a round at the same time.
        self._charging = threading.Lock()

    def charge(self, round_id: str, charge: StoredCharge) -> None:
        """Store the charge of a round; raises DataError if the round has a different one."""
        with self._charging:
            known = self.read_charge(round_id)
            if known is None:
                self._put(round_id, "charge", charge)
        if known not in (None, charge):
            raise DataError(
                f"round {round_id}",
                expected="one batch",
                got="a second one",
                do="find out which hop signed two; the second batch is not accepted",
            )

    def read_charge(self, round_id: str) -> StoredCharge | None:
        """Return the charge of a round, or None if none is stored."""
        return self._read_record(round_id, "charge", StoredCharge)

    def charges(self) -> list[StoredCharge]:
        """Return all charges, ordered by contract and round."""
        found = [self.read_charge(path.name) for path in self._folder.glob("*")]
        known = [charge for charge in found if charge is not None]
        return sorted(known, key=lambda one: (one.name, one.round))

    def keep(self, round_id: str, counted: StoredTally) -> None:
        """Store the tally of a round."""
        self._put(round_id, "tally", counted)

    def read_tally(self, round_id: str) -> StoredTally | None:
        """Return the tally of a round, or None if none is stored."""
        return self._read_record(round_id, "tally", StoredTally)

    def has_tally(self, round_id: str) -> bool:
        """Return whether the tally of a round is stored."""
        return self._path(round_id, "tally").exists()

    def publish(self, round_id: str, result: dict[str, Any]) -> None:
        """Store the published result of a round; its ``released`` says if it has estimates."""
        self._write(round_id, "result", encode_result(result))

    def read_result(self, round_id: str) -> bytes | None:
        """Return the stored bytes of the published result of a round, or None."""
        path = self._path(round_id, "result")
        return disk.read_file(path, "a result") if path.exists() else None

    def is_released(self, round_id: str) -> bool | None:
        """Return whether the published result has estimates, or None if nothing is published."""
        data = self.read_result(round_id)
        return None if data is None else bool(json.loads(data)["released"])

    def people(self, round_id: str) -> int | None:
        """Return the number of participants, or None if it is unknown or not published."""
        data = self.read_result(round_id)
        received = None if data is None else json.loads(data).get("received")
        return None if received is None else int(received["contributors"])

    def folder_of(self, round_id: str, name: str) -> Path:
        """Return the path of the subfolder ``name`` of a round."""
        return self._folder / round_id / name

    def read_text(self, round_id: str, kind: str) -> bytes:
        """Return the bytes of a record; raises DataError if there is none."""
        return disk.read_file(self._path(round_id, kind), f"the {kind} of a round")

    def _put(self, round_id: str, kind: str, record: msgspec.Struct) -> None:
        self._write(round_id, kind, msgspec.json.encode(record) + b"\n")

    def _write(self, round_id: str, kind: str, data: bytes) -> None:
        disk.make_folder(self._folder)
        disk.make_folder(self._folder / round_id)
        disk.put(self._path(round_id, kind), data, f"the {kind} of a round")
        self._step(f"after {kind}")

    def _read_record(self, round_id: str, kind: str, form: type[_T]) -> _T | None:
        path = self._path(round_id, kind)
        if not path.exists():
            return None
        try:
            return msgspec.json.decode(disk.read_file(path, f"the {kind} of a round"), type=form)
        except msgspec.DecodeError as error:
            raise DataError(
                str(path),
                expected=f"the {kind} that was stored",
                got=error,
                do="the file was altered or is of a newer version: restore it",
            ) from error

    def _path(self, round_id: str, kind: str) -> Path:
        return self._folder / round_id / f"{kind}.json"


def decode_tally(data: bytes) -> StoredTally:
    """Return the tally in the bytes of a record; raises msgspec.DecodeError for any other bytes."""
    return msgspec.json.decode(data, type=StoredTally)


def encode_result(result: dict[str, Any]) -> bytes:
    """Return a published result as bytes."""
    return json.dumps(result, indent=1, allow_nan=False).encode() + b"\n"
