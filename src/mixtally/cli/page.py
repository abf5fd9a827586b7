"""``mixtally page``: write the page on which people answer, and compare a page with its files."""

from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Annotated

import typer

from mixtally.app.page_check import MOST_FILE_BYTES, PageComparison, Read, compare_page
from mixtally.app.page_files import (
    CONTRACT,
    SUMS,
    check_page_contract,
    compressed_size,
    digest_of,
    generic_files,
    leftover_files,
    page_files,
)
from mixtally.cli import options as o
from mixtally.cli.common import command_group
from mixtally.cli.device_options import read_note
from mixtally.cli.display import console_of
from mixtally.cli.option_groups import with_option_groups
from mixtally.cli.output import print_json, print_lines, publish
from mixtally.device.client.limits import Limits
from mixtally.device.client.net import Pins, verify_contract
from mixtally.device.client.net.pins import validate_fingerprint
from mixtally.device.client.net.requests import get, parse_address
from mixtally.device.contract.fields import MOST_NOTE_BYTES
from mixtally.errors import DataError, ParameterError, RefusedError
from mixtally.model.contract import fingerprint_of, read_contract
from mixtally.primitives.files import read_bytes
from mixtally.report.folding import FoldingTable
from mixtally.report.numbers import printable

app = command_group("page", "Write the page on which people answer, and check one on a host.")

_SECONDS = 10.0
# Limits for all files together, because a hostile host could send many slow or long files.
_MOST_SECONDS, _MOST_BYTES = 300, 1 << 26

MaybeContract = Annotated[
    str | None,
    typer.Argument(
        help="The contract with its signatures: a file, or its address at a role, "
        "https://.../contracts/FINGERPRINT.",
        metavar="[CONTRACT]",
    ),
]
Out = Annotated[
    Path,
    o.option(
        "--out", "Write the files to this folder, new, empty or with an earlier build.", "DIR"
    ),
]
Address = Annotated[
    str, typer.Argument(help="The address of a page, with or without #FINGERPRINT.", metavar="URL")
]


@app.command()
@with_option_groups
def build(out: Out, contract: MaybeContract = None, json: o.Json = False) -> None:
    """Write the static files of the page of one contract, for any host but the collector's.

    The contract must have the signatures of all roles, as they serve it. Without a contract, only
    the files that are equal for all contracts are written, so that `mixtally contract new
    --client-files` can state their digests.
    """
    fingerprint, files = (None, generic_files()) if contract is None else _read(contract)
    leftovers = _check_folder(out, files)
    publish(out, files)
    for name in leftovers:
        with suppress(OSError):  # the file is gone already
            (out / name).unlink()
    compressed = sum(map(compressed_size, files.values()))
    if json:
        print_json(
            {
                "fingerprint": fingerprint,
                "link": None if fingerprint is None else f"#{fingerprint}",
                "compressed_bytes": compressed,
                "files": [
                    {"path": name, "sha256": digest_of(data), "bytes": len(data)}
                    for name, data in sorted(files.items())
                ],
            }
        )
        return
    table = FoldingTable("file", "SHA-256", title=f"{len(files)} files in {printable(str(out))}")
    for name, data in sorted(files.items()):
        table.add_row(name, digest_of(data))
    console_of().print(table)
    print_lines([f"Compressed size: {compressed / 1000:.1f} kB", *_next_steps(out, fingerprint)])


def _next_steps(out: Path, fingerprint: str | None) -> list[str]:
    if fingerprint is None:
        return [
            "Next: mixtally contract new PLAN --network NETWORK --out CONTRACT --client-files "
            f"{printable(str(out))}"
        ]
    return [
        f"Link for people: https://YOUR-HOST/#{fingerprint}",
        "Copy the folder to a host that the collector does not run. Then compare what the host "
        f"serves: mixtally page check 'https://YOUR-HOST/#{fingerprint}'",
    ]


def _read(place: str) -> tuple[str, dict[str, bytes]]:
    """Return the fingerprint of a contract and the files of its page."""
    note = read_note(place, "a contract")
    read = read_contract(note, place)
    check_page_contract(read, note, place)  # before its signatures, for which all roles are asked
    _verify(place, note)
    return fingerprint_of(note), page_files(read, note)


@app.command()
@with_option_groups
def check(url: Address, json: o.Json = False) -> None:
    """Compare every file of a page on a host with this package, and with its contract.

    The exit status is 1 if a file differs.
    """
    address, _, fragment = url.partition("#")
    # A one-time code may follow; it is not sent anywhere.
    fingerprint = fragment.partition(".")[0] or None
    if fingerprint is not None:
        try:
            validate_fingerprint(fingerprint)
        except ValueError as error:
            raise ParameterError(
                "url", expected=f"after the sign #, {error}", got=ascii(fingerprint)[:80],
                do="give the link as people receive it",
            ) from error  # fmt: skip
    found = compare_page(_reader(address), fingerprint)
    if json:
        print_json(
            {
                "url": address,
                "fingerprint": found.fingerprint,
                "files_checked": found.checked,
                "contract_names_files": found.named,
                "differences": [one._asdict() for one in found.differences],
            }
        )
    else:
        _print_comparison(address, found)
    if found.differences:
        raise typer.Exit(1)


def _verify(place: str, note: bytes) -> None:
    """Raise an error for a contract that the page would refuse for every visitor."""
    try:
        verify_contract(note, Pins(fingerprint_of(note)), Limits())
    except RefusedError as error:
        if error.reason != "signature-missing":
            raise
        raise DataError(
            place,
            expected="the contract with the signatures of all roles",
            got=error.got.strip("'"),
            do="give the address at which a role serves it, once all have signed: "
            "https://MIX/contracts/FINGERPRINT",
        ) from error


def _check_folder(out: Path, files: dict[str, bytes]) -> list[str]:
    """Return the files in ``out`` that an earlier build wrote and the new build does not have.

    Raise DataError if the folder has files that are not those of an earlier build.
    """
    if not out.is_dir() or not any(out.iterdir()):
        return []
    got = "a folder with other files"
    if (out / SUMS).is_file() and (out / "index.html").is_file():
        leftovers = leftover_files(read_bytes(out / SUMS, "an earlier build"), files)
        places = {place for name in (*files, *leftovers) for place in Path(name).parents}
        if not any((out / place).is_symlink() for place in places - {Path()}):
            return leftovers
        got = "a folder with links, through which files elsewhere would be replaced"
    raise DataError(
        str(out),
        expected="a new or empty folder, or one with an earlier build",
        got=got,
        do="choose another folder",
    )


def _reader(address: str) -> Read:
    """Return the function that fetches a file by its path below ``address``."""
    try:
        place = parse_address(address)
    except RefusedError as error:
        raise ParameterError(
            "url",
            expected="https://, a host and perhaps a path; http:// on this machine only",
            got=ascii(address)[:80],
            do="give the address of the page; browsers seal over a secure connection only",
        ) from error

    until, remaining = monotonic() + _MOST_SECONDS, _MOST_BYTES

    def read(path: str) -> bytes | str:
        nonlocal remaining
        # A request has up to four steps, each of which may take this time.
        seconds = min(_SECONDS, (until - monotonic()) / 4)
        if seconds <= 0 or remaining <= 0:
            return f"more than {_MOST_SECONDS} seconds, or {_MOST_BYTES:,} bytes, for all files"
        most = MOST_NOTE_BYTES if path == CONTRACT else MOST_FILE_BYTES
        found = get(address, f"{place.path}/{path}", most, seconds)
        if isinstance(found, bytes):
            remaining -= len(found)
            return found if len(found) <= most else f"more than {most:,} bytes"
        if found.status is None and not path:
            raise DataError(
                ascii(address)[:200],
                expected="a host that answers",
                got=found.why,
                do="check the address, and whether the host is up",
            )
        return f"no answer ({found.why})" if found.status is None else f"status {found.status}"

    return read


def _print_comparison(address: str, found: PageComparison) -> None:
    if found.differences:
        table = FoldingTable("file", "as in the", "expected", "got", title="Files that differ")
        for one in found.differences:
            table.add_row(*map(printable, one))
        console_of().print(table)
    contract = "none" if found.fingerprint is None else found.fingerprint
    paths = len({one.path for one in found.differences})
    print_lines(
        [
            f"{printable(address)}: {found.checked} files compared, {paths} differ.",
            f"Contract: {contract}. "
            + ("It names the files of its page." if found.named else "It names no files."),
            "The host may serve other files to other people.",
        ]
    )
