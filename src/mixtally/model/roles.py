"""The operators of a contract and its schedule: hops, collector and rounds."""

from functools import partial

import msgspec

from mixtally.device.contract.roles import parse_verifier_key, read_role, read_rounds
from mixtally.model.contract_json import check_readable

_DO = "correct the network section of the contract"


class Role(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A hop (a mix at its position in the chain) or the collector.

    Raises PlanError if a field is invalid.

    Attributes
    ----------
    name : str
        Letters, digits, dots, dashes, underscores and slashes, at most 100 characters.
    address : str
        An https URL. An http URL is permitted for this machine only.
    key : str
        The Ed25519 verifier key, in the format NAME+HASH+BASE64 of signed notes.
    operator : str
        A description of who runs the role.
    """

    name: str
    address: str
    key: str
    operator: str

    def __post_init__(self) -> None:
        check_readable(
            partial(read_role, place=f"role {ascii(self.name)[1:-1]:.40}"), self, of="", do=_DO
        )

    @property
    def public(self) -> bytes:
        """The 32 bytes of the Ed25519 key."""
        return parse_verifier_key(self.name, self.key, self.name)


class Rounds(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The schedule of a contract: when answers are accepted.

    A round is open for ``open_seconds``, in [1, 10^8]. A new round starts every ``every_seconds``,
    which is at least ``open_seconds``. Raises PlanError for other numbers.
    """

    open_seconds: int
    every_seconds: int

    def __post_init__(self) -> None:
        check_readable(read_rounds, self, of="", do=_DO)
