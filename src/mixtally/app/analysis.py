"""Options for numbers that are computed from a tally in addition to the counts of its bins.

Simulations, the collector's commands and ``conclude`` have these options.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

from mixtally.app.options import option

if TYPE_CHECKING:
    from mixtally.protocol.estimate.analysis import Analysis

Groups = tuple[tuple[str, tuple[str, ...]], ...]
"""The name and the labels of each group; the counts of its bins are added up."""
Candidates = Annotated[
    tuple[str, ...] | None, option("--candidates", "Words to look for, one per line.", "FILE")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureOptions:
    """Options for numbers that are computed from the estimated counts."""

    compare: Annotated[
        list[str] | None,
        option("--compare", "Also compare the counts of these labels; give two or more.", "LABEL"),
    ] = None
    total: Annotated[
        Groups | None,
        option("--total", "Also add the counts of groups: a CSV with columns label,group.", "FILE"),
    ] = None
    shares: Annotated[
        bool, option("--shares", "Also show counts as shares of the participants.")
    ] = False

    def figures(self, level: float) -> "Analysis":
        """Return the analysis that these options request, with intervals at ``level``."""
        # This loads NumPy, which the help of a device's commands must not need.
        from mixtally.protocol.estimate.analysis import Analysis

        return Analysis(
            level=level,
            shares=self.shares,
            compared=tuple(self.compare or ()),
            totals=self.total or (),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysisOptions:
    """Options for numbers that are computed from a simulated tally, in addition to counts."""

    pairs: Annotated[
        bool, option("--pairs", "Also count the people who have both of two bits.")
    ] = False
    more: FigureOptions
    project: Annotated[
        str | None, option("--project", "Also report counts projected to a set: simplex.", "HOW")
    ] = None
    no_project: Annotated[
        bool,
        option("--no-project", "Show raw counts, which may not add up to the number of people."),
    ] = False

    def analysis(self, level: float) -> "Analysis":
        """Return the analysis that computes the requested numbers, with intervals at ``level``."""
        return replace(
            self.more.figures(level),
            projection=self.project,
            raw=self.no_project,
            pairs=self.pairs,
        )
