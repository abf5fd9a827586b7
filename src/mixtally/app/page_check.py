"""Comparison of a web page on a host with the files of this package and of the contract.

People answer on this page. The host could replace the page, even for a single visitor. If anybody
may compare the served files, the host risks discovery. But the comparison is no proof, because a
host can serve other files to this program than to a browser.
"""

from collections.abc import Callable
from typing import NamedTuple

from mixtally.app.page_files import CONTRACT, HEADERS, digest_of, generic_files
from mixtally.errors import PlanError
from mixtally.model.contract import fingerprint_of, read_contract

MOST_FILE_BYTES = 1 << 20
"""Largest accepted size of a generic file, many times that of any real one."""
_MOST_SILENT = 3
Read = Callable[[str], bytes | str]
"""A function from a path to the bytes of the file, or to the reason why there are none, as text."""


class Difference(NamedTuple):
    """A file that is not as expected.

    ``expected`` and ``got`` are SHA-256 digests, or words such as "status 404". ``by`` says where
    the expected digest comes from: "package", "contract" or, for the contract itself, "link".
    """

    path: str
    by: str
    expected: str
    got: str


class PageComparison(NamedTuple):
    """The result of a comparison.

    Attributes
    ----------
    checked : int
        The number of files that were fetched.
    fingerprint : str or None
        The fingerprint of the contract that the host serves; None if there is no contract.
    named : bool
        Whether the contract lists the files of its page with their digests.
    differences : tuple of Difference
        All files that are not as expected.
    """

    checked: int
    fingerprint: str | None
    named: bool
    differences: tuple[Difference, ...]


def compare_page(read: Read, fingerprint: str | None) -> PageComparison:
    """Compare all files of a page.

    Parameters
    ----------
    read : callable
        A function that fetches a file of the host by its path below the address of the page. The
        empty path is the address itself.
    fingerprint : str or None
        The fingerprint in the link to the page, which the served contract must have; None to accept
        any contract.
    """
    ours = {name: digest_of(data) for name, data in generic_files().items()}
    # The address itself is what a browser asks for first.
    served = {"": read("")}
    found, theirs, differences = _compare_contract(read(CONTRACT), fingerprint)
    silent = 0
    for name in sorted({*ours, *theirs}):
        served[name] = read(name) if silent < _MOST_SILENT else "no answer to earlier requests"
        silent = silent + 1 if isinstance(served[name], str) else 0
    for name, data in served.items():
        got = data if isinstance(data, str) else digest_of(data)
        for by, known in (("package", ours), ("contract", theirs)):
            # A contract that lists no files is not compared. A list must name every file.
            expected = known.get(name or "index.html", "no such file")
            if known and got != expected:
                differences.append(Difference(name or "/", by, expected, got))
    return PageComparison(len(served) + 1, found, bool(theirs), tuple(differences))


def _compare_contract(
    note: bytes | str, fingerprint: str | None
) -> tuple[str | None, dict[str, str], list[Difference]]:
    """Return the fingerprint of a served contract, its page's files, and the differences.

    ``note`` is the served contract or, if the host does not serve one, the reason in words. The
    files are a dict from the path of each file to its SHA-256.
    """
    expected = fingerprint or "a contract"
    if isinstance(note, str):
        return None, {}, [Difference(CONTRACT, "link", expected, note)]
    found = fingerprint_of(note)
    if fingerprint not in (None, found):
        return found, {}, [Difference(CONTRACT, "link", expected, found)]
    try:
        files = read_contract(note, CONTRACT).client_files
    except PlanError as error:
        return found, {}, [Difference(CONTRACT, "link", expected, str(error)[:200])]
    # Hosts read their configuration from the file of headers, and many do not serve this file.
    return found, {one.path: one.sha256 for one in files if one.path != HEADERS}, []
