"""``mixtally check round``: check a counted round from its exported files."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from mixtally.app.outcome import Outcome
from mixtally.cli import options as o
from mixtally.cli.display import show
from mixtally.cli.option_groups import with_option_groups
from mixtally.cli.progress import progress_bars
from mixtally.cli.role_files import Expected, check_fingerprint
from mixtally.device.contract.fields import fingerprint_of
from mixtally.primitives.progress import Progress
from mixtally.server.collector.export_index import CONTRACT
from mixtally.server.collector.round_check import check_round
from mixtally.server.collector.round_files import (
    RoundFiles,
    fetch_file,
    fetch_round,
    limit_fetches,
)
from mixtally.server.collector.round_report import RoundReport
from mixtally.server.node.calls import call


@with_option_groups
def check(
    folder: Annotated[
        str,
        typer.Argument(
            help="The folder that `collector export` wrote, or its address.", metavar="DIR|URL"
        ),
    ],
    fingerprint: Expected = None,
    json: o.Json = False,
) -> None:
    """Check a counted round from its exported files.

    Checks signatures, chain, sums, fakes, tally, estimates and certificate. Prints what the files
    show, who has signed it, and what the files cannot show. The exit status is 1 if something is
    false. A role is accused only if its own signature proves it.
    """
    with progress_bars() as progress:
        found = _check(folder, fingerprint, progress)
    show(Outcome(document=found.document()), None, json=json)
    if found.findings:
        raise typer.Exit(1)


def _check(place: str, fingerprint: str | None, progress: Progress) -> RoundReport:
    """Check the exported round in a folder or at an address.

    A contract whose fingerprint differs from ``fingerprint`` is refused before any other check.
    """
    if not place.startswith(("https://", "http://")):
        files = RoundFiles(Path(place))
        _check_fingerprint(place, fingerprint, files.read(CONTRACT))
        return check_round(files, progress)
    fetch = limit_fetches(call)
    _check_fingerprint(place, fingerprint, fetch_file(place, CONTRACT, fetch))
    with TemporaryDirectory(prefix="mixtally-") as folder:
        fetch_round(place, Path(folder), fetch, progress)
        return _check(folder, fingerprint, progress)


def _check_fingerprint(place: str, expected: str | None, note: bytes | None) -> None:
    if note is not None:
        check_fingerprint(place, expected, fingerprint_of(note))
