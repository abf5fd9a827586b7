"""What every play of a crowd needs, and what its readers are told of where it comes from."""

from dataclasses import dataclass, field
from typing import NamedTuple

from mixtally.planning import Planner
from mixtally.primitives.chance import Chance
from mixtally.primitives.progress import Progress, ignore_progress
from mixtally.protocol.estimate.analysis import MapPieces


@dataclass(frozen=True, slots=True)
class Lab:
    """What plays share.

    where
      chance     draws all their noise
      progress   is called with how far they are
      planner    chooses plans and proves their certificates, every number once
      across     counts listed words in pieces of the messages, as ``Analysis`` has it
    """

    chance: Chance
    progress: Progress = ignore_progress
    planner: Planner = field(default_factory=Planner)
    across: MapPieces = map


class ContractReference(NamedTuple):
    """The contract that a plan stands in: its name, its serial and the fingerprint of its text."""

    contract: str
    serial: int
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Where a result comes from, for those who read it.

    where
      title    of what is shown
      source   of the data, in a sentence or two, with nothing that was counted in it but people
      raw      what else was seen in the data, for a simulation alone
      reason   why its plan was chosen
      seed     of the randomness, None when it came from the operating system
      ordered  whether the order of the bins was given, rather than found in the data
      signed   the contract under which it was played; None for a plan alone
    """

    title: str
    source: str = ""
    raw: str = ""
    reason: str = ""
    seed: int | None = None
    ordered: bool = False
    signed: ContractReference | None = None

    def source_text(self, *, simulation: bool) -> str:
        """The source as it may be told."""
        return f"{self.source} {self.raw}".strip() if simulation else self.source
