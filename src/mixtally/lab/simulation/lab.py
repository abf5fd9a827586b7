"""Shared tools of all simulations, and the provenance of a result.

The Python functions and the command line make one `Lab` per call, and describe the data by a
`Provenance`.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

from mixtally.planning import Planner
from mixtally.primitives.chance import Chance
from mixtally.primitives.progress import Progress, ignore_progress
from mixtally.protocol.estimate.analysis import MapPieces


@dataclass(frozen=True, slots=True)
class Lab:
    """The tools that all simulated rounds of a call share.

    ``chance`` is the source of all noise. ``progress`` is called with the name of a step, the work
    done and the total. ``planner`` chooses plans and computes their certificates, each only once.
    ``across`` maps a function over pieces of the messages, see ``Analysis``.
    """

    chance: Chance
    progress: Progress = ignore_progress
    planner: Planner = field(default_factory=Planner)
    across: MapPieces = map


class ContractReference(NamedTuple):
    """The contract of a plan: its name, its serial number, and the fingerprint of its text."""

    contract: str
    serial: int
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Where a result comes from, for its readers.

    Attributes
    ----------
    title
        The title of the document.
    source
        The source of the data, in a sentence or two that reveals only the number of people.
    raw
        Sentences on the data that reveal more, and are shown only in a simulation.
    reason
        Why the plan was chosen.
    seed
        The seed of the randomness; None if it came from the operating system.
    ordered
        Whether the order of the bins was fixed in advance, not found in the data.
    signed
        The contract that was simulated; None for a plan without a contract.
    """

    title: str
    source: str = ""
    raw: str = ""
    reason: str = ""
    seed: int | None = None
    ordered: bool = False
    signed: ContractReference | None = None

    def source_text(self, *, simulation: bool) -> str:
        """Return ``source``, and in a simulation ``raw`` too, which may reveal more of the data."""
        return f"{self.source} {self.raw}".strip() if simulation else self.source
