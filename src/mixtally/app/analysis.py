"""What is expected of a tally beside the counts of its bins: options, each declared once."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

from mixtally.app.options import option

if TYPE_CHECKING:
    from mixtally.protocol.estimate.analysis import Analysis

Groups = tuple[tuple[str, tuple[str, ...]], ...]
"""The name and the labels of every group whose counts are added up."""
Candidates = Annotated[
    tuple[str, ...] | None, option("--candidates", "Words to look for, one a line.", "FILE")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureOptions:
    """Numbers that follow from counts of bins, whoever knows the truth."""

    compare: Annotated[
        list[str] | None,
        option(
            "--compare", "Also how much this count differs from others; give two or more.", "LABEL"
        ),
    ] = None
    total: Annotated[
        Groups | None,
        option(
            "--total", "Also add up the counts of groups: a CSV with columns label,group.", "FILE"
        ),
    ] = None
    shares: Annotated[
        bool, option("--shares", "Also show counts as shares of the people who took part.")
    ] = False

    def figures(self, level: float) -> "Analysis":
        """Return these numbers alone, with intervals of ``level``."""
        from mixtally.protocol.estimate.analysis import (
            Analysis,  # loads NumPy, which a device's help lacks
        )

        return Analysis(
            level=level,
            shares=self.shares,
            compared=tuple(self.compare or ()),
            totals=self.total or (),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysisOptions:
    """What is expected of a simulated tally beside the counts of its bins."""

    pairs: Annotated[
        bool, option("--pairs", "Also count how many people have both of two bits.")
    ] = False
    more: FigureOptions
    project: Annotated[
        str | None, option("--project", "Also report counts projected to: simplex.", "HOW")
    ] = None
    no_project: Annotated[
        bool,
        option("--no-project", "Show raw counts, which may not add up to the people."),
    ] = False

    def analysis(self, level: float) -> "Analysis":
        """Return all that is expected, with intervals of ``level``."""
        return replace(
            self.more.figures(level),
            projection=self.project,
            raw=self.no_project,
            pairs=self.pairs,
        )
