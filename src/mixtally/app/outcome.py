"""Outcome of a use case: the full document, the publishable document, and the files of both."""

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
        The source of randomness, the planner and the progress report.
    source : str
        A sentence about the origin of the crowd. It may contain no count except the number of
        people, because it is published.
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
    data, nothing may be published, so all files are written to the folder of the simulation.

    Attributes
    ----------
    document : Document
        The full result, compared with the true counts if they are known.
    found : Findings or None
        The findings from which the document was made, including true counts if they are known.
    from_data : tuple of str or None
        Names of the facts of the question that were read from the data, as in ``Population``. None
        if no data were read.
    plain : Document or None
        The same result without true counts; None if there is no such document.
    seeded : bool
        Whether the noise follows from a public seed, so that nothing may be published.
    more : mapping of str to bytes
        Further files by name, without raw counts.

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
        """The full document, with a warning for each fact that was read from the data."""
        return replace(self.document, from_data=self.from_data or ())

    @property
    def is_public(self) -> bool:
        """Whether the result without true counts may be published."""
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
        The findings, including true counts if they are known.
    shown : callable
        A function that returns the document of findings, with or without true counts.
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
        The releases of the round, and the mechanisms with which they are compared.
    top : int
        The number of bins, largest first, that a terminal shows.
    from_data : tuple of str or None
        As in ``Outcome``; None outside of simulations.
    """
    plans = {} if study.provenance.signed else plan_files(study)  # a contract contains its plan
    return outcome_of(study, lambda shown: study_document.document(shown, top), from_data, plans)


def plan_files(study: Study) -> dict[str, bytes]:
    """Return the files of the plans of all releases by name; the first one is plan.json."""
    files: dict[str, bytes] = {}
    for place, release in enumerate(study.releases):
        plan = release.result.plan
        files[f"plan-{plan.protocol}.json" if place else "plan.json"] = write_plan(plan)
    return files


def _in_simulation_folder(made: Mapping[str, FileContent]) -> dict[str, FileContent]:
    """Return the same files, with the folder of the simulation put before each name."""
    # The names of some files already begin with the folder.
    start = f"{SIMULATION}/"
    return {start + name.removeprefix(start): text for name, text in made.items()}
