"""``mixtally client watch``: whether what this device sent has arrived at every role."""

from functools import partial
from pathlib import Path
from time import time
from typing import Annotated, Any

import typer

from mixtally.cli import options as o
from mixtally.cli.device_options import ContractPlace, DeviceOptions
from mixtally.cli.option_groups import with_option_groups
from mixtally.cli.output import print_json, print_lines
from mixtally.device.client.net import Diary, Entry, TrustedContract, WatchReport, check_arrival
from mixtally.device.client.net.requests import fetch
from mixtally.primitives.files import read_bytes

PiecesFolder = Annotated[
    Path | None,
    o.option(
        "--pieces",
        "Published pieces, named by their SHA-256. They decide which of two roles lost a message.",
        "FOLDER",
    ),
]
Forget = Annotated[bool, o.option("--forget", "Erase the tags without checking anything.")]


@with_option_groups
def watch(
    contract: ContractPlace,
    device: DeviceOptions,
    pieces: PiecesFolder = None,
    forget: Forget = False,
    json: o.Json = False,
) -> None:
    """Find out at which roles the bundles sent with --watch arrived, and erase their tags.

    The exit status is 1 if a message was lost, or if a role has signed what cannot be true.
    """
    agreed = device.verify(contract, device.load_trust())
    with device.open_diary() as diary:
        rounds = [
            entry
            for entry in diary.entries()
            if entry.is_watched and entry.contract == agreed.contract.fingerprint
        ]
        reports = [(entry, _check(diary, entry, agreed, pieces, forget=forget)) for entry in rounds]
    if json:
        print_json({"rounds": [_facts(entry, report) for entry, report in reports]})
    else:
        print_lines([_line(entry, report) for entry, report in reports] or ["Nothing is watched."])
    if any(report is not None and (report.lost or report.faults) for _, report in reports):
        raise typer.Exit(1)


def _check(
    diary: Diary, entry: Entry, agreed: TrustedContract, pieces: Path | None, *, forget: bool
) -> WatchReport | None:
    """Return the report on the messages of one round.

    Return None if the round is still open, or with ``forget``, which only erases the tags.
    """
    if forget:
        diary.forget_tags(entry)
        return None
    if time() < entry.closes or entry.is_pending:
        return None
    given = None if pieces is None else partial(_read_piece, pieces)
    report = check_arrival(entry, agreed, fetch, given)
    if report.is_final:
        diary.forget_tags(entry)
    return report


def _read_piece(folder: Path, name: str) -> bytes:
    return read_bytes(folder / name, "a piece", "export the round again, or leave out --pieces")


def _line(entry: Entry, report: WatchReport | None) -> str:
    start = f"{entry.name} round {entry.round}: "
    if report is None:
        return start + "not checked; ask again after the round has closed"
    said = [
        f"{one.name} {one.state}" + (f" ({one.why})" if one.why else "") for one in report.roles
    ]
    if report.ended is not None:
        said.append(f"the round was destroyed ({report.ended}), and nothing was counted")
    lines = [start + ", ".join(said)]
    for loss in report.lost:
        messages = "1 message" if loss.messages == 1 else f"{loss.messages} messages"
        where = f"between {loss.after} and {loss.before}" if loss.after else f"at {loss.before}"
        by = f"; the pieces show that {loss.by} is at fault" if loss.by else ""
        lines.append(f"  lost {where}: {messages}{by}")
    lines += (f"  {fault}" for fault in report.faults)
    return "\n".join(lines)


def _facts(entry: Entry, report: WatchReport | None) -> dict[str, Any]:
    facts: dict[str, Any] = {"name": entry.name, "round": entry.round, "checked": False}
    if report is None:
        return facts
    return facts | {
        "checked": report.is_final,
        "roles": [one._asdict() for one in report.roles],
        "lost": [one._asdict() for one in report.lost],
        "faults": list(report.faults),
        "ended": report.ended,
    }
