"""Rounds whose sheets a role has signed, and their states."""

from typing import NamedTuple

from mixtally.server.node.database import Database


class RoundRow(NamedTuple):
    """Stored state of a round."""

    name: str
    """Name of the contract. Rounds are numbered over all serials of a name."""
    round: int
    contract: str
    sheet: str
    """SHA-256 of the sheet's text."""
    opens: int
    closes: int
    expires: int
    """Times of opening, closing and expiry, in seconds since 1970."""
    state: str
    """A state of the role's state machine."""
    ended: str
    """The reason why the round ended; empty while it runs."""

    @property
    def folder(self) -> str:
        """Name of the round's folder and key file."""
        return round_id(self.contract, self.round)


SIGNED = "signed"
"""State of a round whose sheet this role has signed."""
WITHDRAWN = "withdrawn"
"""End of a round that all roles withdrew before it opened; its number is not used again."""
COUNTED = "counted"
"""The state of a round from which on a collector does not need the key of the round."""
INSERT = "INSERT INTO rounds VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
WITHDRAW = f"UPDATE rounds SET ended = '{WITHDRAWN}' WHERE sheet = ?"


def round_id(contract: str, number: int) -> str:
    """Return the identifier of a round, which is used in file names.

    The identifier contains the whole fingerprint, because somebody can construct two contracts
    whose fingerprints start with the same digits. With shortened fingerprints, the rounds of the
    two contracts would share a key.
    """
    return f"{contract}-{number}"


class Rounds:
    """The rounds in the database of a role."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> list[RoundRow]:
        """Return all rounds, ordered by name and number."""
        return self._rows("ORDER BY name, round")

    def of(self, contract: str, number: int) -> RoundRow | None:
        """Return the round of a contract with this number, or None."""
        rows = self._rows("WHERE contract = ? AND round = ?", contract, number)
        return rows[0] if rows else None

    def of_sheet(self, sheet: str) -> RoundRow | None:
        """Return the round whose sheet has this SHA-256, or None."""
        rows = self._rows("WHERE sheet = ?", sheet)
        return rows[0] if rows else None

    def last(self, name: str) -> RoundRow | None:
        """Return the last round signed under a name, over all serials, or None."""
        rows = self._rows("WHERE name = ? ORDER BY round DESC LIMIT 1", name)
        return rows[0] if rows else None

    def last_binding(self, name: str) -> RoundRow | None:
        """Return the last round of a name that was not withdrawn, or None.

        The window of a new round must not overlap the window of this round.
        """
        rows = self._rows(
            "WHERE name = ? AND ended != ? ORDER BY round DESC LIMIT 1", name, WITHDRAWN
        )
        return rows[0] if rows else None

    def move(self, row: RoundRow, state: str, ended: str = "") -> RoundRow:
        """Store a new state of a round, and return the new row.

        If ``ended`` is not empty, it is stored as the reason why the round ended.
        """
        with self._database.transaction(f"state {state}") as open_:
            # A command may have stored an end since ``row`` was read.
            open_.execute(
                "UPDATE rounds SET state = ?, ended = COALESCE(NULLIF(?, ''), ended) "
                "WHERE name = ? AND round = ?",
                (state, ended, row.name, row.round),
            )
        return self.of_sheet(row.sheet) or row

    def end(self, row: RoundRow, end: str) -> RoundRow:
        """Store the reason why a running round ends. The loop of the role then ends the round.

        Returns the new row. A reason that is already stored is kept.
        """
        with self._database.transaction("end") as open_:
            open_.execute(
                "UPDATE rounds SET ended = ? WHERE name = ? AND round = ? AND ended = ''",
                (end, row.name, row.round),
            )
        return self.of_sheet(row.sheet) or row

    def overrule(self, contract: str, name: str) -> None:
        """Record that the role did not wait for a silent peer.

        Manifests name the peer until it answers.
        """
        with self._database.transaction("overrule") as open_:
            open_.execute("INSERT OR IGNORE INTO overruled VALUES (?, ?)", (contract, name))

    def clear_overruled(self, contract: str, name: str) -> None:
        """Remove the record that the role did not wait for a peer.

        This is called when the peer has answered, and knows no note that this role has lost.
        """
        if name in self.list_overruled(contract):
            with self._database.transaction("answered") as open_:
                open_.execute(
                    "DELETE FROM overruled WHERE contract = ? AND name = ?", (contract, name)
                )

    def list_overruled(self, contract: str) -> tuple[str, ...]:
        """Return the names of the silent peers for which the role did not wait."""
        rows = self._database.rows(
            "SELECT name FROM overruled WHERE contract = ? ORDER BY name", contract
        )
        return tuple(name for (name,) in rows)

    def _rows(self, rest: str, *values: object) -> list[RoundRow]:
        return [
            RoundRow(*row) for row in self._database.rows(f"SELECT * FROM rounds {rest}", *values)
        ]
