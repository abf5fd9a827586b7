"""What a collector keeps of a round for ever: its charge, its tally, its result. A folder each.

results/ROUND/charge.json   written before any piece of the batch may come
results/ROUND/tally.json    written before the key and the envelopes go
results/ROUND/result.json   what is published, or why nothing is

Nothing in them is more than the observer of the promise was given.
"""

import json
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np

from mixtally.errors import DataError
from mixtally.model.estimates import Tally
from mixtally.server.node import disk
from mixtally.server.node.disk import Step, no_step

VERSION = 1
_T = TypeVar("_T")


class StoredCharge(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One batch: what its people have spent, whatever becomes of it.

    where
      manifest         SHA-256 of the last hop's manifest, which names the batch
      epsilon, delta   of all ``collections`` of the contract together
    """

    version: int = VERSION
    name: str
    serial: int
    contract: str
    round: int
    sheet: str
    manifest: str
    epsilon: float
    delta: float
    collections: int


class StoredPartTally(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The tally of a part.

    where
      came      messages in the batch
      counts    how often each bin was set
      codes     the bins that counts are of, ascending; None where each has one
      pairs     the same of pairs of bins; None where messages do not tell
      dropped   reason -> messages that came and were not tallied
    """

    came: int
    messages: int
    counts: list[int]
    codes: list[int] | None
    pairs: list[list[int]] | None
    dropped: dict[str, int]

    @property
    def tally(self) -> Tally:
        """As estimates take it."""
        pairs = None if self.pairs is None else np.array(self.pairs, dtype=np.int64)
        codes = None if self.codes is None else np.array(self.codes, dtype=np.int64)
        return Tally(np.array(self.counts, dtype=np.int64), self.messages, pairs, codes)


class StoredTally(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All that is left of a batch; ``manifest`` is SHA-256 of the one that names it."""

    version: int = VERSION
    contract: str
    round: int
    manifest: str
    parts: tuple[StoredPartTally, ...]


class Results:
    """The results in a role's folder, by the names of their rounds."""

    def __init__(self, folder: Path, step: Step = no_step) -> None:
        self._folder, self._step = folder / "results", step

    def charge(self, round_id: str, charge: StoredCharge) -> None:
        """Remember a charge; raises DataError where the round has another one."""
        known = self.read_charge(round_id)
        if known is None:
            self._put(round_id, "charge", charge)
        elif known != charge:
            raise DataError(
                f"round {round_id}",
                expected="one batch",
                got="a second one",
                do="find out which hop signed two; nothing of the second is taken",
            )

    def read_charge(self, round_id: str) -> StoredCharge | None:
        """The charge of a round."""
        return self._read_record(round_id, "charge", StoredCharge)

    def charges(self) -> list[StoredCharge]:
        """All of them, by contract and round."""
        found = [self.read_charge(path.name) for path in self._folder.glob("*")]
        known = [charge for charge in found if charge is not None]
        return sorted(known, key=lambda one: (one.name, one.round))

    def keep(self, round_id: str, counted: StoredTally) -> None:
        """Remember a tally."""
        self._put(round_id, "tally", counted)

    def read_tally(self, round_id: str) -> StoredTally | None:
        """The tally of a round."""
        return self._read_record(round_id, "tally", StoredTally)

    def has_tally(self, round_id: str) -> bool:
        """Whether the tally of a round is stored."""
        return self._path(round_id, "tally").exists()

    def publish(self, round_id: str, said: dict[str, Any]) -> None:
        """Remember what is published of a round; its ``released`` says whether estimates are."""
        text = json.dumps(said, indent=1, allow_nan=False)
        self._write(round_id, "result", text.encode() + b"\n")

    def read_result(self, round_id: str) -> bytes | None:
        """The same as it was written."""
        path = self._path(round_id, "result")
        return disk.read_file(path, "a result") if path.exists() else None

    def is_released(self, round_id: str) -> bool | None:
        """Whether a round's estimates are published; None while nothing is concluded."""
        data = self.read_result(round_id)
        return None if data is None else bool(json.loads(data)["released"])

    def people(self, round_id: str) -> int | None:
        """How many took part; None while that is not published, or not known."""
        data = self.read_result(round_id)
        came = None if data is None else json.loads(data).get("received")
        return None if came is None else int(came["contributors"])

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
                got=str(error),
                do="the file was altered or is of a newer version: restore it",
            ) from error

    def _path(self, round_id: str, kind: str) -> Path:
        return self._folder / round_id / f"{kind}.json"
