"""The parts of a contract that a role needs to serve it, without the question.

The collector and the mixes are *roles*. A *hop* is a mix at its position in the chain of mixes. The
server packages read an agreement to know who signs, when rounds are open, and how long envelopes
are. An agreement omits the question, because a mix must not learn it. All that one person sends in
a round is a *bundle*. A bundle has a fixed number of *slots*, one for each envelope. A *part* is
one of the messages of a record. A *fake* is a dummy message.
"""

from collections.abc import Mapping
from functools import cached_property

import msgspec

from mixtally.model.roles import Role, Rounds


# dict=True gives instances a __dict__, which cached_property needs.
class Agreement(msgspec.Struct, frozen=True, kw_only=True, dict=True, forbid_unknown_fields=True):
    """A contract without its question, as one role sees it.

    Attributes
    ----------
    contract : str
        The fingerprint of the contract.
    name, serial : str, int
        The name of the contract, and the number of its version. A contract ends when a contract of
        the same name and a larger serial is signed.
    place : int
        The position of this role, from 1. The collector has position hops + 1.
    hops, collector : tuple of Role, Role
        The mixes in order, and the collector.
    suite : int
        The number of the HPKE suite.
    rounds : int
        The maximum number of rounds of all contracts of this name together, whatever their serial.
    windows : Rounds
        How long a round is open, and how often a round starts.
    minimum_crowd : int
        The minimum number of bundles that the first hop must be able to open. If it can open
        fewer, it sends no message of the round to the next role.
    most_bundles : int
        The maximum number of bundles that the first hop accepts in a round.
    admission : str
        Who may take part: "open" or "codes".
    most_messages : tuple of tuples of int
        For each part, the maximum number of messages that leave each hop. This is the number of
        slots in ``most_bundles`` bundles, plus the maximum numbers of fakes that this hop and all
        hops before it add.
    sizes : tuple of tuples of int
        For each part, the length in bytes of the envelopes that each hop receives, and at the end
        of those that the collector receives.
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
    most_bundles: int
    admission: str
    most_messages: tuple[tuple[int, ...], ...]
    sizes: tuple[tuple[int, ...], ...]

    @property
    def roles(self) -> tuple[Role, ...]:
        """All roles that sign: the hops in order, then the collector."""
        return (*self.hops, self.collector)

    @property
    def own_role(self) -> Role:
        """The role at position ``place``, which this agreement is for."""
        return self.roles[self.place - 1]

    @property
    def other_roles(self) -> tuple[Role, ...]:
        """All roles except this one."""
        return tuple(role for role in self.roles if role.name != self.own_role.name)

    @property
    def next_role(self) -> Role | None:
        """The role that receives this role's output; None for the collector."""
        return self.roles[self.place] if self.place < len(self.roles) else None

    @cached_property
    def keys(self) -> Mapping[str, bytes]:
        """Public keys of all roles, by name."""
        return {role.name: role.public for role in self.roles}

    def key_of(self, place: int) -> Mapping[str, bytes]:
        """Return the name and public key of the role at ``place``, as a mapping of one entry."""
        name = self.roles[place - 1].name
        return {name: self.keys[name]}
