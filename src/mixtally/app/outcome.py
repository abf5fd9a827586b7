"""Outcome of a use case: the view of its caller, the publishable view, and the files of both."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from mixtally.lab.simulation import study_document
from mixtally.lab.simulation.findings import Findings
from mixtally.lab.simulation.lab import Lab
from mixtally.lab.simulation.study import Study
from mixtally.model.contract import write_plan
from mixtally.report.document import SIMULATION, Chunks, Document
from mixtally.report.texts import FormatName, files

F = TypeVar("F", bound=Findings[Any])
FileContent = TypeVar("FileContent", str | Chunks, bytes, str | bytes | Chunks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Settings of a simulation.

    Attributes
    ----------
    lab : Lab
        Draws the noise, plans, and reports progress.
    source : str
        A sentence about the origin of the crowd; the number of people is its only count.
    seed : int or None
        Seed of the noise; None for secure randomness.
    level : float
        Confidence level of all intervals, in (0, 1).
    top : int
        Number of rows that a terminal shows.
    """

    lab: Lab
    source: str
    seed: int | None = None
    level: float = 0.95
    top: int = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The result of a use case.

    A question must be fixed before people answer. If parts of the question were taken from the
    data, all files are written to the folder of the simulation.

    Attributes
    ----------
    document : Document
        The result, compared with the true counts if there are any.
    found : Findings or None
        The findings behind the document, including any true counts.
    from_data : tuple of str or None
        Parts of the question that were taken from the data, as in ``Population``; None without
        data.
    plain : Document or None
        The result without true counts.
    seeded : bool
        Whether the noise follows from a public seed, so that nothing may be published.
    more : mapping of bytes
        Further files of the result, without raw counts.

    Raises
    ------
    TypeError
        If ``plain`` contains true counts, or if ``from_data`` is missing for a simulation.
    """

    document: Document
    found: Findings[Any] | None = None
    from_data: tuple[str, ...] | None = None
    plain: Document | None = None
    seeded: bool = False
    more: Mapping[str, bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.document.simulation and self.from_data is None:
            raise TypeError("from_data is missing for a simulation")
        if self.plain is not None and self.plain.simulation:
            raise TypeError("the plain document contains true counts")

    @property
    def shown_document(self) -> Document:
        """The document, with the parts of its question that were taken from the data."""
        return replace(self.document, from_data=self.from_data or ())

    @property
    def is_public(self) -> bool:
        """Whether the result may be published, without true counts."""
        return not self.seeded and not self.from_data

    @property
    def released_document(self) -> Document | None:
        """The publishable document of a simulation; None if nothing may be published."""
        return self.plain if self.is_public else None

    def files(self, out_format: FormatName = "csv") -> dict[str, str | bytes | Chunks]:
        """Return all files by name; files of a simulation are in a separate folder.

        ``out_format`` is the format of the tables.
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
    """Return the outcome of findings, with their full and their publishable document.

    Parameters
    ----------
    found : Findings
        The findings, including any true counts.
    shown : callable
        Returns the document of findings with or without true counts.
    from_data, more
        As in ``Outcome``.
    """
    return Outcome(
        document=shown(found),
        found=found,
        from_data=from_data,
        plain=shown(found.without_truth()),
        seeded=found.provenance.seed is not None,
        more=more or {},
    )


def outcome_of_study(study: Study, top: int, from_data: tuple[str, ...] | None) -> Outcome:
    """Return the outcome of a simulated or counted round, with its plans as files.

    Parameters
    ----------
    study : Study
        The round with its comparisons.
    top : int
        The number of the largest bins that a terminal shows.
    from_data : tuple of str or None
        The parts of the question that were taken from the data; None outside of simulations.
    """
    plans = {} if study.provenance.signed else plan_files(study)  # a contract contains its plan
    return outcome_of(study, lambda shown: study_document.document(shown, top), from_data, plans)


def plan_files(study: Study) -> dict[str, bytes]:
    """Return the files of the plans, named plan.json for the first release."""
    files: dict[str, bytes] = {}
    for place, release in enumerate(study.releases):
        plan = release.result.plan
        files[f"plan-{plan.protocol}.json" if place else "plan.json"] = write_plan(plan)
    return files


def _in_simulation_folder(made: Mapping[str, FileContent]) -> dict[str, FileContent]:
    """Return the files with names in the folder of the simulation."""
    # Some files have the folder in their name already.
    start = f"{SIMULATION}/"
    return {start + name.removeprefix(start): text for name, text in made.items()}
