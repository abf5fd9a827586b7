"""Admission: who may send bundles in a round.

In a round with limited admission, a request spends a *ticket*, a few bytes that permit one answer.
The first hop stores the ticket in the same commit as the bundle, in one database for all intake
processes. So another bundle with this ticket is never accepted, and sending the same bundle again
succeeds. To add a kind of admission, implement the protocol ``Admission``.
"""

import sqlite3
from enum import Enum, auto
from hashlib import sha256
from pathlib import Path
from typing import Protocol

from mixtally.device.wire.codes import SCHEME, hash_code, read_codes
from mixtally.device.wire.problem import Problem
from mixtally.errors import DataError, RefusedError
from mixtally.server.node import disk
from mixtally.server.node.refusal import ProblemError

CODES = "codes"
"""The value of ``admission`` in a contract that asks for codes."""


class Admission(Protocol):
    """Decides who may send a bundle."""

    is_limited: bool
    """Whether admission is limited, so that each bundle spends a ticket."""

    def find_ticket(self, authorization: bytes | None) -> bytes:
        """Return the ticket that a request spends; raises ProblemError for a refused request.

        ``authorization`` is the value of the header Authorization, or None without the header.
        """


class OpenAdmission:
    """Admission of everybody; headers are ignored."""

    is_limited = False

    def find_ticket(self, authorization: bytes | None) -> bytes:  # noqa: ARG002
        """Return an empty ticket, because nothing is spent."""
        return b""


class CodeAdmission:
    """Admission of everybody who has a code; ``hashes`` has the hashes of all codes."""

    is_limited = True

    def __init__(self, hashes: frozenset[bytes]) -> None:
        self._hashes = hashes

    def find_ticket(self, authorization: bytes | None) -> bytes:
        """Return the ticket, which is the hash of the code in the header."""
        scheme, _, code = (authorization or b"").partition(b" ")
        if scheme.lower() != SCHEME.lower().encode():
            raise ProblemError(Problem.NO_CODE)
        found = hash_code(code)
        if found not in self._hashes:
            raise ProblemError(Problem.UNKNOWN_CODE)
        return found


class Spending(Enum):
    """The outcome of storing a request body with its ticket."""

    NEW = auto()
    """The body is to be stored: it spends the ticket, or needs none."""
    AGAIN = auto()
    """The same body has spent the ticket before, and is stored already."""
    REFUSED = auto()
    """Another bundle has spent the ticket."""


def prepare_tickets(database: sqlite3.Connection) -> None:
    """Create the table of spent tickets, with the hashes of their bundles, unless it exists."""
    database.execute(
        "CREATE TABLE IF NOT EXISTS spent (ticket BLOB PRIMARY KEY, bundle BLOB NOT NULL) "
        "WITHOUT ROWID"
    )


def spend_ticket(database: sqlite3.Connection, ticket: bytes, body: bytes) -> Spending:
    """Spend the ticket of a body, in the transaction that stores the body.

    If the ticket is empty, nothing is spent and the outcome is ``NEW``.
    """
    if not ticket:
        return Spending.NEW
    bundle = sha256(body).digest()
    found = database.execute("SELECT bundle FROM spent WHERE ticket = ?", (ticket,)).fetchone()
    if found is None:
        database.execute("INSERT INTO spent VALUES (?, ?)", (ticket, bundle))
        return Spending.NEW
    return Spending.AGAIN if found[0] == bundle else Spending.REFUSED


def codes_path(folder: Path, contract: str) -> Path:
    """Return the path of the list of codes of a contract in a role's folder."""
    return folder / "codes" / f"{contract}.note"


def load_admission(folder: Path, contract: str, kind: str, most: int) -> Admission:
    """Return the admission of a contract; raises DataError if its list of codes is damaged.

    Parameters
    ----------
    folder : Path
        The folder of the role.
    contract : str
        The fingerprint of the contract.
    kind : str
        The field ``admission`` of the contract.
    most : int
        Maximum number of bundles of a round.
    """
    if kind != CODES:
        return OpenAdmission()
    path = codes_path(folder, contract)
    try:
        return CodeAdmission(read_codes(disk.read_file(path, "the codes"), contract, most))
    except RefusedError as error:
        raise DataError(
            str(path), expected="the list that `mix codes` wrote", got=error, do="load it again"
        ) from error
