"""What a use comes to: as whoever ran it sees it, as it may be published, and in which files."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from mixtally.lab.simulation.findings import Findings
from mixtally.lab.simulation.lab import Lab
from mixtally.report.document import SIMULATION, Chunks, Document
from mixtally.report.texts import FormatName, files

F = TypeVar("F", bound=Findings[Any])
FileContent = TypeVar("FileContent", str | Chunks, bytes, str | bytes | Chunks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """How a crowd is played and shown.

    where
      lab      draws the noise, tells progress, plans
      source   of the crowd, in a sentence, with nothing that was counted in it but people
      seed     of the noise, None when it comes from the operating system
      level    of all intervals, in (0, 1)
      top      rows that a terminal shows
    """

    lab: Lab
    source: str
    seed: int | None = None
    level: float = 0.95
    top: int = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a use comes to.

    What was asked has to be fixed before anybody answers: where some of it was read off the data,
    all files go into the folder of the simulation.

    where
      document   beside the truth where there is one
      found      the findings that it shows, with the truth where there is one; None where none
                 were made
      from_data  what of the question was read off the data, as ``Population`` has it; None where
                 no data were played
      plain      the same without the truth; None where there is none
      seeded     whether its noise is public, so that nothing of it may be
      more       further files of the result, without raw counts

    Raises TypeError for a plain one that follows from the truth, and for data that were played
    without a word of what was read off them.
    """

    document: Document
    found: Findings[Any] | None = None
    from_data: tuple[str, ...] | None = None
    plain: Document | None = None
    seeded: bool = False
    more: Mapping[str, bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.document.simulation and self.from_data is None:
            raise TypeError("what was read off the data is not said")
        if self.plain is not None and self.plain.simulation:
            raise TypeError("a simulation is no release")

    @property
    def shown_document(self) -> Document:
        """The document, which says what of its question was read off the data."""
        return replace(self.document, from_data=self.from_data or ())

    @property
    def released_document(self) -> Document | None:
        """What may be published of a simulation, None where nothing may."""
        return None if self.seeded or self.from_data else self.plain

    @property
    def is_public(self) -> bool:
        """Whether any of its files may be published."""
        return not self.from_data and not (
            self.document.simulation and self.released_document is None
        )

    def files(self, out_format: FormatName = "csv") -> dict[str, str | bytes | Chunks]:
        """Return every file by its name; those of a simulation in a folder apart.

        ``out_format`` is how tables are written.
        """
        made, more = files(self.shown_document, out_format), dict(self.more)
        if self.document.simulation or self.from_data:
            made = _in_simulation_folder(made)
        if self.from_data:
            return {**made, **_in_simulation_folder(more)}
        released = files(self.released_document, out_format) if self.released_document else {}
        return {**released, **made, **more}


def outcome_of(
    found: F,
    shown: Callable[[F], Document],
    from_data: tuple[str, ...] | None,
    more: Mapping[str, bytes] | None = None,
) -> Outcome:
    """Return the outcome of findings: their document, and that of what may be published.

    Parameters
    ----------
    found : Findings
        The findings, with the truth where there is one.
    shown : callable
        Makes the document of findings, with the truth or without it.
    from_data, more
        As ``Outcome`` has them.
    """
    return Outcome(
        document=shown(found),
        found=found,
        from_data=from_data,
        plain=shown(found.without_truth()),
        seeded=found.about.seed is not None,
        more=more or {},
    )


def _in_simulation_folder(made: Mapping[str, FileContent]) -> dict[str, FileContent]:
    """Files in the folder of the simulation, those that are there already as they are."""
    start = f"{SIMULATION}/"
    return {start + name.removeprefix(start): text for name, text in made.items()}
