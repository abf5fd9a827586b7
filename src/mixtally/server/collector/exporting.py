"""Export of a counted round: all files with which anyone can check it.

``mixtally collector export`` calls this module. The default folder is served by the collector.
"""

import json
import shutil
from collections.abc import Iterator
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from mixtally.accounting.accountant import Accountant
from mixtally.accounting.plans.terms import verify
from mixtally.device.wire.manifest import read_receipt
from mixtally.device.wire.note import sign_note
from mixtally.device.wire.rotation import write_rotations
from mixtally.errors import DataError
from mixtally.server.collector.collector import Collector
from mixtally.server.collector.core import CollectorState
from mixtally.server.collector.export_index import (
    CONTRACT,
    INDEX,
    KIND,
    MOST_FILES,
    VERSION,
    ExportedFile,
    ExportIndex,
    describe_file,
    is_export_name,
    max_bytes,
    write_index,
)
from mixtally.server.collector.reanalysis import find_round, open_collector
from mixtally.server.collector.release_receipt import ReleasedRound, receipt_files
from mixtally.server.collector.results import result_facts
from mixtally.server.collector.stored import EXPORT, KEPT, encode_result
from mixtally.server.node import disk
from mixtally.server.node.folder import Folder
from mixtally.server.node.key_rotation import list_rotations
from mixtally.server.node.rounds import RoundRow
from mixtally.version import VERSION as SOFTWARE


class ExportedRound(NamedTuple):
    """The outcome of an export."""

    folder: Path
    files: int
    """Number of files, with the index."""
    has_messages: bool
    """Whether opened messages were kept and are among the files."""
    served_at: str | None
    """Address at which the collector serves the files; None for another folder."""


def export_round(folder: Folder, name: str, number: int, out: Path | None) -> ExportedRound:
    """Write the files of a counted round to ``out``, or to the folder that the collector serves.

    Raises
    ------
    DataError
        If the round was not counted, the folder exists already, or the disk fails.
    AccountingError, PlanError
        If the certificate is wrong.
    """
    with open_collector(folder) as collector:
        row = find_round(collector, name, number)
        if row.state not in (CollectorState.RELEASED, CollectorState.REFUSED):
            raise DataError(
                f"round {number} of {name}",
                expected="one that was counted",
                got=f"one that is {row.state}",
                do=collector.describe_missing(row) or "there is nothing to check",
            )
        place = out or collector.results.folder_of(row.folder, EXPORT)
        if out is not None and out.exists():
            do = "name a new one: files of two rounds must not be mixed"
            raise DataError(str(out), expected="a new folder", got="one that exists", do=do)
        served_at = f"{folder.role.address}/contracts/{row.contract}/rounds/{number}/export"
        names = _write_folder(collector, row, place)
    has_messages = any(one.startswith("messages-") for one in names)
    return ExportedRound(place, len(names) + 1, has_messages, served_at if out is None else None)


def _write_folder(collector: Collector, row: RoundRow, place: Path) -> list[str]:
    """Write all files of a round to the folder ``place``, and return their names.

    They are first written to a folder with another name, so that ``place`` is complete or absent.
    """
    aside, entries = place.with_name(f".{place.name}.part"), dict[str, ExportedFile]()
    try:
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir(parents=True)
        released = _release(collector, row)
        for name, data in _list_files(collector, row, released):
            _check_size(name, len(data), len(entries))
            entries[name] = describe_file(data)
            (aside / name).write_bytes(data)
        index = ExportIndex(
            version=VERSION,
            kind=KIND,
            contract=row.contract,
            sheet=row.sheet,
            software=released.software,
            files=entries,
        )
        folder, key = collector.node.folder, collector.contracts.of(row.contract).contract.collector
        # After a key rotation, the key in the contract may be deleted. The exported rotation notes
        # lead from this key to the current one.
        known = {one.public: one for one in folder.signers}
        signer = known.get(key.public, folder.signer)
        (aside / INDEX).write_bytes(sign_note(write_index(index), signer))
        disk.sync_tree(aside)
        shutil.rmtree(place, ignore_errors=True)
        aside.rename(place)
    except OSError as error:
        do = "check its permissions and free space"
        raise DataError(str(place), expected="a new folder", got=error, do=do) from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return list(entries)


def _check_size(name: str, length: int, files: int) -> None:
    """Raise DataError for a file that is too long for an export, or for too many files."""
    if length > max_bytes(name) or files >= MOST_FILES:
        raise DataError(
            name,
            expected=f"at most {max_bytes(name):,} bytes, and {MOST_FILES:,} files",
            got=f"{length:,} bytes, in file {files + 1:,}",
            do="the round is too large to be exported; its result is published without it",
        )


def _release(collector: Collector, row: RoundRow) -> ReleasedRound:
    """Estimate a round again, and find out which version of the software made its stored result.

    The stored result of an earlier version may differ in fields or digits. This is no fault.
    """
    result = collector.results.read_text(row.folder, "result")
    shown, conclusion = collector.shown_round(row), collector.conclusion(row)
    then = shown._replace(overruled=tuple(json.loads(result)["overruled"]))
    is_equal = encode_result(result_facts(then, conclusion)) == result
    software = SOFTWARE if is_equal else f"before {SOFTWARE}"
    return ReleasedRound(shown, conclusion, row.sheet, sha256(result).hexdigest(), software)


def _list_files(
    collector: Collector, row: RoundRow, released: ReleasedRound
) -> Iterator[tuple[str, bytes]]:
    """Yield the name and content of each file except the index."""
    node, results, agreed = collector.node, collector.results, collector.contracts.of(row.contract)
    verify(agreed.contract.plan, Accountant())
    yield CONTRACT, node.notes.of(row.contract) or b""
    yield "sheet.note", node.sheet_note(row)
    yield "rotations.json", write_rotations(list_rotations(node.notes, agreed.agreement))
    for hop in range(1, len(agreed.contract.hops) + 1):
        yield f"manifest-{hop}.note", node.notes.of(node.manifest_hash(row, hop) or "") or b""
    for note in node.notes.of_round(row.contract, row.round, "receipt"):
        receipt = read_receipt(note)
        yield f"receipt-{receipt.hop}.note", note
        files = [file.sha256 for file in chain.from_iterable(receipt.arrivals or ())]
        paths = [found[0] for name in files if (found := node.lists.find(name)) is not None]
        # Lists are removed some time after the round, perhaps one after the other.
        if len(paths) == len(files):
            for name, path in zip(files, paths, strict=True):
                yield f"list-{name}", disk.read_file(path, "an arrival list")
    yield "tally.json", results.read_text(row.folder, "tally")
    yield "result.json", results.read_text(row.folder, "result")
    yield from receipt_files(released).items()
    for path in sorted(results.folder_of(row.folder, KEPT).glob("*")):
        if is_export_name(path.name):
            yield path.name, disk.read_file(path, "what the collector kept")
