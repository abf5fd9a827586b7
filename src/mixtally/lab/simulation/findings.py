"""Findings of a simulation: estimates, with or without the truth.

Every kind of result is a subclass of `Findings`. The type of its ``truth`` names everything that
only a simulation knows. A publishable result is the same object without the truth.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Generic, Self, TypeVar

from mixtally.lab.simulation.lab import Provenance
from mixtally.report.document import Batches, Document, Facts, Part, Promise, Rows, Section, closing

T = TypeVar("T")


@dataclass(frozen=True, eq=False, kw_only=True)
class Findings(Generic[T]):
    """The findings of one simulation.

    Attributes
    ----------
    provenance : Provenance
        Where the result comes from.
    truth : T or None
        Everything that follows from the true data; None in a publishable result.
    """

    provenance: Provenance
    truth: T | None

    def without_truth(self) -> Self:
        """Return the findings without the true numbers, so that they may be published."""
        return replace(self, truth=None)

    @property
    def is_simulated(self) -> bool:
        """Whether the findings include the truth."""
        return self.truth is not None

    @property
    def known_truth(self) -> T:
        """The truth. Raises TypeError if the findings lack it."""
        if self.truth is None:
            raise TypeError("a release has no true numbers")
        return self.truth

    def document(
        self,
        *,
        promise: Promise,
        key: tuple[tuple[str, str], ...],
        sections: Callable[[], tuple[Section, ...]],
        summary: Callable[[], tuple[Part, ...]],
        facts: Callable[[], Facts],
        tables: Callable[[], Mapping[str, Rows | Batches]],
        prose: tuple[str, ...] = (),
        origin: tuple[str, ...] = (),
    ) -> Document:
        """Return the document of the findings, from the pieces that differ between kinds of result.

        Parameters
        ----------
        promise, key, sections, summary, tables, prose
            The fields of ``report.Document`` with the same names.
        facts : callable
            Returns the JSON object, without title, source, seed and reason, which are added here.
        origin : tuple of str
            A fingerprint and the name of what it identifies, for the closing section.
        """
        about = self.provenance
        source = about.source_text(simulation=self.is_simulated)
        head = {
            "title": about.title, "source": source, "seed": about.seed, "reason": about.reason,
        }  # fmt: skip
        return Document(
            title=about.title,
            source=source,
            promise=promise,
            simulation=self.is_simulated,
            key=key,
            sections=sections,
            summary=summary,
            prose=prose,
            facts=lambda: {**head, **facts()},
            tables=tables,
            closing=closing(about.seed, *origin),
        )
