"""What a role must know of a contract to keep it: who signs, how long envelopes are, and when."""

from collections.abc import Mapping
from functools import cached_property

import msgspec

from mixtally.model.roles import Role, Rounds


class Agreement(msgspec.Struct, frozen=True, kw_only=True, dict=True, forbid_unknown_fields=True):
    """A contract without its question.

    where
      contract        its fingerprint
      name, serial    a larger serial of a name ends the others
      place           of this role, from 1; the collector's is hops + 1
      rounds          how many there may be, over all serials of the name
      windows         how long a round is open, and how often there is one
      minimum_crowd   fewer bundles that open at the first hop, and nothing of the round leaves it
      sizes           for every part, bytes of an envelope before each hop and the collector
    """

    contract: str
    name: str
    serial: int
    place: int
    hops: tuple[Role, ...]
    collector: Role
    suite: int
    rounds: int
    windows: Rounds
    minimum_crowd: int
    sizes: tuple[tuple[int, ...], ...]

    @property
    def roles(self) -> tuple[Role, ...]:
        """All who sign: the hops in order, and the collector."""
        return (*self.hops, self.collector)

    @property
    def own_role(self) -> Role:
        """The role itself."""
        return self.roles[self.place - 1]

    @property
    def other_roles(self) -> tuple[Role, ...]:
        """Everybody else."""
        return tuple(role for role in self.roles if role.name != self.own_role.name)

    @property
    def next_role(self) -> Role | None:
        """Who takes what leaves; None behind the collector."""
        return self.roles[self.place] if self.place < len(self.roles) else None

    @cached_property
    def keys(self) -> Mapping[str, bytes]:
        """Name -> public key of all who sign."""
        return {role.name: role.public for role in self.roles}

    def key_of(self, place: int) -> Mapping[str, bytes]:
        """The same of the role at ``place`` alone."""
        name = self.roles[place - 1].name
        return {name: self.keys[name]}
