"""The rounds whose sheets a role signed, and how far each has come."""

from typing import NamedTuple

from mixtally.server.node.database import Database


class RoundRow(NamedTuple):
    """A round as it is remembered.

    where
      name       of the contract: rounds of all its serials count together
      sheet      SHA-256 of the sheet's text
      state      a word of the role's own table of states
      ended      how it ended: a word, or nothing yet
    """

    name: str
    round: int
    contract: str
    sheet: str
    opens: int
    closes: int
    expires: int
    state: str
    ended: str

    @property
    def folder(self) -> str:
        """The name of its folder and of its key."""
        return round_id(self.contract, self.round)


SIGNED = "signed"
"""The state of a round whose sheet this role signed, before anything else is known of it."""
WITHDRAWN = "withdrawn"
"""How a round ended that all roles withdrew before it opened: its number is used up."""
INSERT = "INSERT INTO rounds VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
WITHDRAW = f"UPDATE rounds SET ended = '{WITHDRAWN}' WHERE sheet = ?"


def round_id(contract: str, number: int) -> str:
    """What a round is called among files: no part of a fingerprint would do.

    Whoever makes contracts can make two that begin alike, and their rounds would share a key.
    """
    return f"{contract}-{number}"


class Rounds:
    """The rounds in a role's database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> list[RoundRow]:
        """Every round, in order."""
        return self._rows("ORDER BY name, round")

    def of(self, contract: str, number: int) -> RoundRow | None:
        """The round of a contract with this number."""
        rows = self._rows("WHERE contract = ? AND round = ?", contract, number)
        return rows[0] if rows else None

    def of_sheet(self, sheet: str) -> RoundRow | None:
        """The round whose sheet has this SHA-256."""
        rows = self._rows("WHERE sheet = ?", sheet)
        return rows[0] if rows else None

    def last(self, name: str) -> RoundRow | None:
        """The last round signed under a name, whatever the serial."""
        rows = self._rows("WHERE name = ? ORDER BY round DESC LIMIT 1", name)
        return rows[0] if rows else None

    def last_binding(self, name: str) -> RoundRow | None:
        """The last one whose window is to be kept clear of."""
        rows = self._rows(
            "WHERE name = ? AND ended != ? ORDER BY round DESC LIMIT 1", name, WITHDRAWN
        )
        return rows[0] if rows else None

    def move(self, row: RoundRow, state: str, ended: str = "") -> RoundRow:
        """Remember a new state, and how it ended where that is known now."""
        moved = row._replace(state=state, ended=ended or row.ended)
        with self._database.transaction(f"state {state}") as open_:
            open_.execute(
                "UPDATE rounds SET state = ?, ended = ? WHERE name = ? AND round = ?",
                (moved.state, moved.ended, row.name, row.round),
            )
        return moved

    def overrule(self, contract: str, name: str) -> None:
        """A silent role was not waited for; manifests say so until it has answered."""
        with self._database.transaction("overrule") as open_:
            open_.execute("INSERT OR IGNORE INTO overruled VALUES (?, ?)", (contract, name))

    def clear_overruled(self, contract: str, name: str) -> None:
        """It has answered, and knew nothing that is not here."""
        if name in self.list_overruled(contract):
            with self._database.transaction("answered") as open_:
                open_.execute(
                    "DELETE FROM overruled WHERE contract = ? AND name = ?", (contract, name)
                )

    def list_overruled(self, contract: str) -> tuple[str, ...]:
        """Roles that were silent and not waited for."""
        rows = self._database.rows(
            "SELECT name FROM overruled WHERE contract = ? ORDER BY name", contract
        )
        return tuple(name for (name,) in rows)

    def _rows(self, rest: str, *values: object) -> list[RoundRow]:
        return [
            RoundRow(*row) for row in self._database.rows(f"SELECT * FROM rounds {rest}", *values)
        ]
