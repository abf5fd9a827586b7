"""True counts of a simulated population, with which a result is compared.

Only simulations know them. Documents show them next to the estimates.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mixtally.lab.data.population import Population
from mixtally.model.estimates import Figures
from mixtally.model.layout import Form, Layout
from mixtally.protocol.estimate.conclude.differences import NAME as DIFFERENCES
from mixtally.protocol.estimate.conclude.set_sizes import NAME as SIZES
from mixtally.protocol.estimate.conclude.totals import NAME as TOTALS
from mixtally.protocol.estimate.numbers import QUANTILES
from mixtally.protocol.tally.pairs import count_pairs

Values = tuple[float | None, ...]
"""True numbers, one for each row of a figure; None for a row that has no true number."""
_CELLS = 4
"""Number of cells of a 2 x 2 table."""


class HasFigures(Protocol):
    """The conclusion of a round: a result, or the refusal to release one."""

    @property
    def figures(self) -> Sequence[Figures]:
        """Figures that were derived from the messages in addition to the counts."""


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """True numbers for a result.

    ``counts`` has the number of people in each bin, shape (bins,). ``figures`` maps the name of
    each figure of the result to the true values of its rows. ``central`` maps the name of each
    central-model mechanism to the error of one release.
    """

    counts: NDArray[np.int64]
    figures: Mapping[str, Values] = field(default_factory=dict)
    central: Mapping[str, float] = field(default_factory=dict)


def truth_of(population: Population, conclusion: HasFigures) -> Truth:
    """Return the true counts of a population, and the true numbers for the figures of a result."""
    both: NDArray[np.int64] | None = None
    figures: dict[str, Values] = {}
    for one in conclusion.figures:
        if one.name == "numbers":
            figures[one.name] = _number_figures(population)
            continue
        if one.name == SIZES:
            figures[one.name] = size_figures(population)
            continue
        if one.name in (DIFFERENCES, TOTALS):
            continue
        # Counting pairs takes long, so it is done at most once, and only if some figure needs it.
        if both is None:
            layout = Layout(Form.BITS, population.question.bins)
            both = count_pairs(layout, population.records.astype(np.uint8, copy=False))
        figures[one.name] = _pair_figures(one, both, population.users)
    return add_comparisons(Truth(population.truth, figures), conclusion)


def add_comparisons(truth: Truth, conclusion: HasFigures) -> Truth:
    """Return ``truth`` extended by the true differences and totals of counts.

    These are the true values of the differences and totals that ``conclusion`` contains.
    """
    added: dict[str, Values] = {}
    for one in conclusion.figures:
        if one.name == DIFFERENCES:
            added[one.name] = tuple(float(truth.counts[i] - truth.counts[j]) for i, j in one.about)
        elif one.name == TOTALS:
            added[one.name] = tuple(float(truth.counts[list(bins)].sum()) for bins in one.about)
    return replace(truth, figures={**truth.figures, **added})


def _number_figures(population: Population) -> Values:
    """Return true moments, quantiles and end shares, in the order of ``estimate.conclude.numbers``.

    Moments and quantiles are those of the numbers before rounding. The end shares are the shares of
    people whose rounded number is the lowest or the highest grid point.
    """
    assert population.values is not None
    values, at_points = np.sort(population.values), population.truth
    # The quantile at a share is the smallest value that at least this share does not exceed.
    places = [max(0, int(np.ceil(share * len(values))) - 1) for share in QUANTILES]
    found = values.mean(), values.sum(), np.mean(values**2), values.var(), *values[places]
    shares = at_points[0] / len(values), at_points[-1] / len(values)
    return tuple(float(one) for one in (*found, *shares))


def size_figures(population: Population) -> Values:
    """Return the mean size of a set, and the number of people with at most 0, 1, .. members."""
    sizes = population.sizes
    reached = np.cumsum(np.bincount(sizes, minlength=population.question.max_set))
    return float(sizes.mean()), *map(float, reached[: population.question.max_set])


def _pair_figures(figures: Figures, both: NDArray[np.int64], users: int) -> Values:
    """Return true counts of pairs, correlations, or cells of 2 x 2 tables, one for each row.

    ``both[i, j]`` is the number of people whose bits i and j are both set, and ``both[i, i]`` the
    number of people whose bit i is set.
    """
    values: list[float | None] = []
    for row, (i, j) in enumerate(figures.about):
        joint, one, two = int(both[i, j]), int(both[i, i]), int(both[j, j])
        cells = (joint, one - joint, two - joint, users - one - two + joint)
        match figures.name:
            case "pairs":
                values.append(float(joint))
            case "correlations":
                values.append(_phi_coefficient(joint, one, two, users))
            case "tables":
                values.append(float(cells[row % _CELLS]))
            case _:
                raise TypeError(f"{figures.name}: no true numbers are known")
    return tuple(values)


def _phi_coefficient(both: int, one: int, two: int, users: int) -> float | None:
    """Return the correlation of two bits; None if one of them is the same for all people."""
    root = (one * two * (users - one) * (users - two)) ** 0.5
    return (users * both - one * two) / root if root else None
