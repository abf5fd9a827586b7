"""Health of a role, for its operator: served as metrics, stored in its folder, shown by ``status``.

These numbers must not disclose the size of an open round with more than two digits. The free space
of the disk and the number of connections change with every bundle that arrives. So they are stated
in whole percents of the size of the disk and of the limit of connections, both of which are larger
than a round. Counters only grow, so they are rounded down to two digits. Bundles that were left out
of a round are counted when the round has ended.

Source: the text format of Prometheus, version 0.0.4.
"""

import math
import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import msgspec

from mixtally.errors import DataError
from mixtally.server.node import disk
from mixtally.server.node.database import translate_sqlite_errors
from mixtally.server.node.events import FieldValue
from mixtally.server.node.folder import DATABASE
from mixtally.server.node.node import Node
from mixtally.server.node.peers import PeerHealth, Peers
from mixtally.server.node.rounds import RoundRow
from mixtally.server.node.running import Vitals
from mixtally.version import VERSION

RECORD_SECONDS = 30
"""Seconds between two records of a role's health in its folder."""
STALE_SECONDS = 120
"""If the record of a served role is older than this number of seconds, its loop hangs."""
Conditions = list[dict[str, FieldValue]]
"""For each lasting condition, its fields, including the event with which it began."""
RECORD = "health.json"
"""Name of the file with the last record of a role's health."""
_IN_LOOP = Vitals(0.0, 0.0)
"""The numbers for records in the folder: the loop that writes them does not hang, and it does not
know the number of connections."""


class ContractHealth(msgspec.Struct, frozen=True, kw_only=True):
    """A contract of a role, and whether the role serves the contract.

    A role serves a contract once all peers have listed the notes of the role.
    """

    name: str | None = None
    serial: int | None = None
    fingerprint: str
    serves: bool


class Health(msgspec.Struct, kw_only=True):
    """The health of a role; a field is None if its value was not available."""

    name: str
    ready: bool
    waits: Conditions
    """Conditions because of which the role is not ready."""
    warnings: Conditions = []
    """Conditions that do not prevent the role from being ready."""
    rounds: dict[str, int] = {}
    """Number of rounds in each state."""
    contracts: list[ContractHealth] = []
    peers: list[PeerHealth] | None = None
    version: str | None = None
    time: int | None = None
    """Seconds since 1970."""
    loop_seconds: float | None = None
    """Seconds since the last pass of the loop ended."""
    disk_free_share: float | None = None
    disk_needed_bytes: int | None = None
    """Size of the pieces that peers have announced and not delivered yet."""
    database_seconds: float | None = None
    """Seconds spent in transactions, including the wait for the disk and for other processes."""
    connections_share: float | None = None
    """Number of open connections, as a share of the limit."""
    left_out: dict[str, int] = {}
    """Bundles and messages that were left out of rounds that ended since the start, by reason."""
    refusals: dict[str, int] = {}
    """Number of refused requests since the start, by kind."""


class Monitor:
    """Recorder of a role's health.

    The loop of the role calls ``tick``. Only ``tick`` reads the database, so ``measure`` works even
    while the loop or the database hangs.
    """

    def __init__(self, node: Node, peers: Peers) -> None:
        self._node, self._peers = node, peers
        self._ended = {row.folder for row in node.rounds.all() if row.ended}
        self._left_out: Counter[str] = Counter()
        self._recorded: int | None = None
        self._changes = -1
        self._stored: Mapping[str, Any] = {}

    def tick(self, now: int) -> None:
        """Ask the peers for their health, and record the health of this role in its folder."""
        self._peers.check_health(now)
        changes = self._node.log.changes
        recent = self._recorded is not None and 0 <= now - self._recorded < RECORD_SECONDS
        # A change is recorded at once, so that a role that has just become ready is shown as ready.
        if recent and changes == self._changes:
            return
        self._recorded, self._changes = now, changes
        with _ignore_temporary_errors():
            self._stored = self._read_stored()
        # The record is written also while the database is locked, because it names the program
        # that locks the database.
        with _ignore_temporary_errors():
            path = self._node.folder.path / RECORD
            disk.put(path, msgspec.json.encode(self.measure(now)) + b"\n", "the health of the role")

    def measure(self, now: int, vitals: Vitals = _IN_LOOP) -> Health:
        """Return the health at a time, with the numbers that the last ``tick`` read from disk."""
        node, log = self._node, self._node.log
        waits = log.list_awaited()
        return Health(
            name=node.signer.name,
            version=VERSION,
            time=now,
            ready=not waits,
            waits=waits,
            warnings=log.list_warnings(),
            peers=self._peers.list_health(now),
            disk_free_share=free_share(node.folder.path),
            database_seconds=round_down(node.database.seconds),
            refusals={kind: int(round_down(count)) for kind, count in dict(log.refusals).items()},
            connections_share=whole_percents(vitals.connections_share),
            loop_seconds=round(vitals.loop_seconds, 1),
            **self._stored,
        )

    def _read_stored(self) -> Mapping[str, Any]:
        """Return the fields that are read from the database."""
        node, rows = self._node, self._node.rounds.all()
        for row in rows:
            if row.ended and row.folder not in self._ended and row.contract in node.agreements:
                self._ended.add(row.folder)
                self._left_out.update(_count_left_out(node, row))
        return {
            "contracts": [
                ContractHealth(
                    name=one.name,
                    serial=one.serial,
                    fingerprint=one.contract,
                    serves=one.contract in node.cleared,
                )
                for one in list(node.agreements.values())
            ],
            "rounds": dict(Counter(row.state for row in rows)),
            "left_out": dict(self._left_out),
            "disk_needed_bytes": sum(_needed_bytes(node, row) for row in rows),
        }


@contextmanager
def _ignore_temporary_errors() -> Iterator[None]:
    """Ignore a full disk and a locked database, because only people read the record."""
    try:
        yield
    except DataError as error:
        if not disk.is_temporary(error):
            raise


def _count_left_out(node: Node, row: RoundRow) -> Counter[str]:
    """Count the bundles and messages that were left out of an ended round, by reason.

    The numbers are those in manifests: a mix uses its own manifest, and a collector adds those of
    all hops.
    """
    agreement, found = node.agreements[row.contract], Counter[str]()
    hops = len(agreement.hops)
    for hop in [agreement.place] if agreement.place <= hops else range(1, hops + 1):
        known = node.manifest_of(row, hop)
        if known is not None:
            found["bundles"] += known[1].left_out
            for part in known[1].parts:
                found["copies"] += part.copies
                found["unopened"] += part.unopened
                found["malformed"] += part.malformed
    return found


def _needed_bytes(node: Node, row: RoundRow) -> int:
    if row.ended or row.contract not in node.agreements:
        return 0
    before, place = node.preceding_manifest(row), node.agreements[row.contract].place
    if before is None or not node.count_missing(row):
        return 0
    sizes = (part[place - 1] for part in node.agreements[row.contract].sizes)
    return sum(one.sent_count * size for one, size in zip(before[1].parts, sizes, strict=True))


def whole_percents(share: float) -> float:
    """Return a share rounded down to whole percents."""
    return math.floor(100 * share) / 100


def round_down(number: float) -> float:
    """Return a number that is at least 0, rounded down to two significant digits.

    Digits after the hundredths are dropped, too.
    """
    unit = 10.0 ** max(-2, math.floor(math.log10(number)) - 1) if number > 0 else 1.0
    return round(math.floor(number / unit) * unit, 2)


def free_share(path: Path) -> float:
    """Return the free share of the disk of a folder, in whole percents."""
    found = shutil.disk_usage(path)
    return whole_percents(found.free / found.total)


def format_metrics(health: Health) -> str:
    """Return the health as text for Prometheus."""
    lines, known = list[str](), set[str]()
    for name, labels, value in _list_metrics(health):
        if value is None:
            continue
        if name not in known:
            known.add(name)
            lines.append(f"# TYPE mixtally_{name} {'counter' if 'total' in name else 'gauge'}")
        inside = ",".join(f"{key}={_quote(text)}" for key, text in labels.items())
        lines.append(
            f"mixtally_{name}{{{inside}}} {value}" if inside else f"mixtally_{name} {value}"
        )
    return "\n".join(lines) + "\n"


def _quote(text: str) -> str:
    escaped = text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
    return f'"{escaped}"'


def _list_metrics(health: Health) -> Iterator[tuple[str, dict[str, str], float | None]]:
    """Yield name, labels and value of each number."""
    yield "info", {"role": health.name, "version": str(health.version)}, 1
    yield "ready", {}, int(health.ready)
    yield "warnings", {}, len(health.warnings)
    yield "loop_age_seconds", {}, health.loop_seconds
    yield "disk_free_share", {}, health.disk_free_share
    yield "disk_needed_bytes", {}, health.disk_needed_bytes
    yield "connections_share", {}, health.connections_share
    yield "database_seconds_total", {}, health.database_seconds
    for name, label, counts in (
        ("rounds", "state", health.rounds),
        ("left_out_total", "reason", health.left_out),
        ("refusals_total", "kind", health.refusals),
    ):
        for key, count in counts.items():
            yield name, {label: key}, count
    # Two contracts may use one name for different roles, and Prometheus refuses equal labels.
    peers = [({"peer": one.name, "address": one.address}, one) for one in health.peers or []]
    yield from (("peer_age_seconds", labels, one.answered_seconds) for labels, one in peers)
    yield from (("peer_skew_seconds", labels, one.skew_seconds) for labels, one in peers)


def read_health(folder: Path) -> Health | None:
    """Return the last recorded health of a role, or None if it was never served.

    Raises DataError if the record is damaged.
    """
    path = folder / RECORD
    if not path.exists():
        return None
    try:
        return msgspec.json.decode(disk.read_file(path, "the health of a role"), type=Health)
    except msgspec.MsgspecError as error:
        raise DataError(
            str(path), expected="the health that the role recorded", got=error, do="remove the file"
        ) from error


def count_rounds(folder: Path) -> dict[str, int]:
    """Return the number of rounds in each state, from the database of a folder.

    The database is not changed. Raises DataError if the database cannot be read.
    """
    path = (folder / DATABASE).absolute()
    # Without a log file no process uses the database. SQLite would create one just for reading,
    # unless the database is declared immutable.
    mode = "mode=ro" if path.with_name(f"{DATABASE}-wal").exists() else "immutable=1"
    with (
        translate_sqlite_errors(path),
        closing(sqlite3.connect(f"{path.as_uri()}?{mode}", uri=True)) as open_,
    ):
        return dict(open_.execute("SELECT state, COUNT(*) FROM rounds GROUP BY state").fetchall())
