"""``mixtally mix status`` and ``mixtally collector status``: the health of a role.

At an address, the running role is asked, and its response is not trusted. In a folder, the records
of the role are read, whether the role runs or not; no file is changed.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from time import time
from typing import Annotated, Any

import msgspec
import typer

from mixtally.cli import options as o
from mixtally.cli.option_groups import with_option_groups
from mixtally.cli.output import print_json, print_lines
from mixtally.errors import DataError
from mixtally.report.numbers import printable
from mixtally.server.node.calls import SilentError, call
from mixtally.server.node.events import Condition
from mixtally.server.node.folder import read_role
from mixtally.server.node.health import (
    RECORD,
    STALE_SECONDS,
    Conditions,
    ContractHealth,
    Health,
    count_rounds,
    read_health,
)
from mixtally.server.node.running import is_locked, lock_path

_MOST_BYTES = 1 << 22
"""Maximum size of an answer that is parsed: the status of a role with 10,000 rounds."""
_MOST_LINE, _MOST_LINES = 300, 1000
"""Maximum length and number of printed lines, whose texts come from an untrusted response."""
NOT_READY = 1
"""Exit status if the role is not ready."""
Place = Annotated[
    str,
    typer.Argument(
        help="Address of the role or of its metrics port, or the folder of the role.",
        metavar="ADDRESS|FOLDER",
    ),
]


class _PublicRound(msgspec.Struct):
    state: str


class _PublicStatus(msgspec.Struct):
    """The response to ``/status`` at the public address of a role."""

    name: str
    serves: list[str]
    waits: list[str]
    rounds: list[_PublicRound]


class _Readiness(msgspec.Struct):
    """The response to ``/readyz``, which says whether the role is ready."""

    ready: bool
    waits: Conditions
    warnings: Conditions = []


@with_option_groups
def status(address_or_folder: Place, json: o.Json = False) -> None:
    """Show the health of a role: contracts, rounds, peers, disk, and why it is not ready.

    The exit status is 1 if the role is not ready.
    """
    place = address_or_folder
    is_address = place.startswith(("http://", "https://"))
    found = _ask_role(place) if is_address else _read_folder(Path(place))
    if json:
        print_json(msgspec.to_builtins(found))
    else:
        lines = islice(_format_lines(found), _MOST_LINES)
        print_lines(printable(line)[:_MOST_LINE] for line in lines)
    if not found.ready:
        raise typer.Exit(NOT_READY)


def _ask_role(address: str) -> Health:
    """Return the health that a role reports at an address.

    The metrics port of the role reports everything, and its public address only a part.
    """
    said = _ask(address, "/status", Health, _PublicStatus)
    if isinstance(said, Health):
        return said
    found = _ask(address, "/readyz", _Readiness)
    return Health(
        name=said.name,
        ready=found.ready,
        waits=found.waits,
        warnings=found.warnings,
        rounds=dict(Counter(one.state for one in said.rounds)),
        contracts=[
            ContractHealth(fingerprint=one, serves=serves)
            for serves, some in ((True, said.serves), (False, said.waits))
            for one in some
        ],
    )


def _ask(address: str, path: str, *forms: Any) -> Any:
    """Return the response to a request, as an instance of the first of ``forms`` that it fits.

    Raises DataError if it fits none of these types.
    """
    got = "another answer"
    try:
        body = call(address.rstrip("/"), "GET", path).body
    except SilentError as error:
        body, got = b"", printable(str(error))
    for form in forms if len(body) <= _MOST_BYTES else ():
        with suppress(msgspec.MsgspecError, RecursionError):
            return msgspec.json.decode(body, type=form)
    raise DataError(
        f"{address}{path}",
        expected="the answer of a mix or a collector",
        got=got,
        do="start the role, or give its folder",
    )


def _read_folder(folder: Path) -> Health:
    """Return the health that a role has recorded in its folder, with the present rounds."""
    role = read_role(folder)
    rounds, found = count_rounds(folder), read_health(folder)
    if found is None:
        return Health(name=role.name, ready=False, waits=[{"event": "never served"}], rounds=rounds)
    # The age comes from the time of the file, because the clock of the role may differ from the
    # clock of this machine.
    age = max(0.0, round(time() - (folder / RECORD).stat().st_mtime, 1))
    found.rounds, found.loop_seconds = rounds, age
    if not is_locked(lock_path(folder)):
        found.ready, found.waits = False, [{"event": "not served", "seconds": age}]
    elif age > STALE_SECONDS:
        found.ready = False
        found.waits.insert(0, {"event": Condition.LOOP.value.begins, "seconds": age})
    return found


def _format_lines(found: Health) -> Iterator[str]:
    """Yield the lines of text that describe the health of a role."""
    version = "" if found.version is None else f", version {found.version}"
    yield f"role       {found.name}{version}"
    yield f"ready      {'yes' if found.ready else 'no'}"
    for title, conditions in (("waits", found.waits), ("warning", found.warnings)):
        for said in conditions:
            fields = "".join(f" {name}={value}" for name, value in said.items() if name != "event")
            yield f"{title:11}{said.get('event')}{fields}"
    for one in found.contracts:
        name = "" if one.name is None else f"{one.name}, serial {one.serial}, "
        state = "served" if one.serves else "waits for peers"
        yield f"contract   {name}{one.fingerprint[:16]}: {state}"
    states = ", ".join(f"{count:,} {state}" for state, count in sorted(found.rounds.items()))
    yield f"rounds     {states or 'none'}"
    for peer in found.peers or []:
        age = peer.answered_seconds
        answered = "no answer yet" if age is None else f"answered {age:,} s ago"
        skew = "" if peer.skew_seconds is None else f", its clock {peer.skew_seconds:+.1f} s"
        yield f"peer       {peer.name} at {peer.address}: {answered}{skew}"
    if found.disk_free_share is not None:
        needed = (found.disk_needed_bytes or 0) / 1e9
        yield f"disk       {found.disk_free_share:.0%} free; announced batches need {needed:.2g} GB"
    if found.loop_seconds is not None:
        yield f"loop       last step {found.loop_seconds:,.0f} s ago"
