"""The files of the page on which people answer in a browser.

Every file but ``contract.json`` and ``_headers`` is *generic*: its bytes are equal for all
contracts of one version of the package, so that anybody can compare them. The page reads the
question and the addresses of the roles from ``contract.json``.
"""

import gzip
import re
from hashlib import sha256
from pathlib import Path

from mixtally.device.client.limits import Limits, check_plan
from mixtally.device.contract.contract import parse_contract
from mixtally.errors import PlanError, RefusedError
from mixtally.model.contract import Contract

CONTRACT, HEADERS = "contract.json", "_headers"
"""Names of the files that differ between contracts."""
SUMS = "SHA256SUMS"
"""Name of the list of all other generic files."""
PROGRAM = "page/page.js"
"""The file whose presence shows that a folder contains this page."""
_SUITE = 1
"""The number of the only cipher suite that the page implements."""
_NODE_ONLY = frozenset({"src/file-storage.js", "src/index.js"})
_POLICY = re.compile(r'http-equiv="Content-Security-Policy"\s+content="([^"]*)"')
_ORIGIN = re.compile(r"https?://([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?")
_SUM = re.compile(r"([0-9a-f]{64})  ([!-~]{1,200})")


def generic_files() -> dict[str, bytes]:
    """Return the generic files by their path below the address of the page."""
    web = _web_folder()
    paths = sorted(path for part in ("page", "src", "vendor") for path in (web / part).rglob("*"))
    named = {path.relative_to(web).as_posix(): path for path in paths if path.is_file()}
    named["index.html"] = named.pop("page/index.html")
    files = {name: named[name].read_bytes() for name in sorted(named) if name not in _NODE_ONLY}
    sums = "".join(f"{digest_of(data)}  {name}\n" for name, data in files.items())
    return {SUMS: sums.encode(), **files}


def _web_folder() -> Path:
    """Return the folder with the page: that of the installed package, or of the repository."""
    package = Path(__file__).parents[1]
    installed = package / "web"
    return installed if installed.is_dir() else package.parents[1] / "web"


def page_files(contract: Contract, note: bytes) -> dict[str, bytes]:
    """Return all files of the page for one contract, by path.

    Parameters
    ----------
    contract : Contract
        The contract that the page shows to people.
    note : bytes
        The text of the same contract with the signatures of all roles.

    Raises
    ------
    PlanError
        If the address of a role contains characters that would change the page's security policy.
    """
    files = generic_files()
    files[HEADERS] = headers_text(contract, files["index.html"].decode()).encode()
    return {**files, CONTRACT: note}


def check_page_contract(contract: Contract, text: bytes, subject: str) -> None:
    """Raise PlanError for a contract that the page would refuse in every browser.

    Parameters
    ----------
    contract : Contract
        The contract to check.
    text : bytes
        The text of the same contract, as its roles sign it; signatures may follow.
    subject : str
        The name of the file in messages.
    """
    if contract.suite != _SUITE:
        raise PlanError(
            subject,
            expected=f"a contract of suite {_SUITE}, which the page in a browser can seal",
            got=f"suite {contract.suite}",
            do=f"create the contract with suite = {_SUITE}, or let people answer by another client",
        )
    try:
        check_plan(parse_contract(text).plan, Limits())
    except RefusedError as error:
        raise PlanError(
            subject,
            expected=f"{error.subject}: {error.expected}, as the page in a browser requires",
            got=error.got,
            do="make a plan within the limits of the page, or let people answer by another client",
        ) from error


def digest_of(data: bytes) -> str:
    """Return the SHA-256 of a file as hexadecimal digits."""
    return sha256(data).hexdigest()


def compressed_size(data: bytes) -> int:
    """Return the number of bytes of a file after compression by gzip, as hosts send it."""
    return len(gzip.compress(data, 9, mtime=0))


def headers_text(contract: Contract, html: str) -> str:
    """Return the HTTP headers that the host should send, in the format of common static hosts.

    The content security policy is that of the page, with two changes. The page may call only the
    addresses of the roles, and it may not be shown inside another page.
    """
    found = _POLICY.search(html)
    assert found is not None
    policy = re.sub(r"connect-src[^;]*", f"connect-src 'self' {_origins(contract)}", found[1])
    lines = [
        f"Content-Security-Policy: {policy}; frame-ancestors 'none'",
        "Referrer-Policy: no-referrer",
        "X-Content-Type-Options: nosniff",
        "Cross-Origin-Opener-Policy: same-origin",
        "Cache-Control: no-cache",
    ]
    return "/*\n" + "".join(f"  {line}\n" for line in lines)


def _origins(contract: Contract) -> str:
    origins: dict[str, None] = {}
    for role in (*contract.hops, contract.collector):
        origin = "/".join(role.address.split("/")[:3])
        # A semicolon would begin another directive, which could allow scripts from another host.
        if not _ORIGIN.fullmatch(origin):
            raise PlanError(
                f"address of {role.name}",
                expected="a host of letters, digits, dots and dashes",
                got=ascii(origin)[:80],
                do="do not publish this contract: the address would change the policy of the page",
            )
        origins[origin] = None
    return " ".join(origins)


def leftover_files(sums: bytes, files: dict[str, bytes]) -> list[str]:
    """Return the names of files that an earlier build wrote and the new build does not write.

    Parameters
    ----------
    sums : bytes
        The file ``SHA256SUMS`` of the earlier build.
    files : dict of bytes
        The files of the new build.
    """
    names = [found[2] for line in sums.decode("ascii", "replace").splitlines()
             if (found := _SUM.fullmatch(line))]  # fmt: skip
    inside = [name for name in names if not name.startswith("/") and ".." not in name.split("/")]
    return [name for name in inside if name not in files]
