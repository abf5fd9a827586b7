"""Who runs what, and when: hops, collector, rounds."""

from functools import partial

import msgspec

from mixtally.device.contract.roles import parse_verifier_key, read_role, read_rounds
from mixtally.model.contract_json import check_readable

_DO = "mend the contract's network"


class Role(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A hop, or the collector.

    where
      name       letters, digits, dots, dashes, underscores and slashes, at most 100
      address    https://..., or http:// on this machine and nowhere else
      key        its Ed25519 verifier key: NAME+HASH+BASE64, as signed notes have it
      operator   who runs it, in words

    Raises PlanError for anything else.
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
        """The 32 bytes of its Ed25519 key, whatever the name they are written with."""
        return parse_verifier_key(self.name, self.key, self.name)


class Rounds(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """When answers are taken.

    where
      open_seconds    how long a round is open, in [1, 10^8]
      every_seconds   from the start of one to the start of the next, no less

    Raises PlanError for anything else.
    """

    open_seconds: int
    every_seconds: int

    def __post_init__(self) -> None:
        check_readable(read_rounds, self, of="", do=_DO)
