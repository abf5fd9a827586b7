"""Tables and correlations of the pairs of a release, beside the truth."""

import numpy as np
from numpy.typing import NDArray

from mixtally.data.population import Population
from mixtally.estimate.two_by_two import TwoByTwo, two_by_two
from mixtally.records.mechanism import BitFlips, Shuffled
from mixtally.records.question import Kind
from mixtally.records.results import Figure, Figures
from mixtally.simulate.derived import MOST_FIGURES, pairs_of, true_pairs

_Integers = NDArray[np.int64]
_CELLS = 4
_LEFT_OUT = (
    "The others have a bit that nearly nobody or everybody has, as far as the noise can tell. "
)


def tables(
    population: Population, mechanism: Shuffled, counted: _Integers, messages: int, level: float
) -> list[Figures]:
    """The correlation of every pair, the largest first; of bits the 2 x 2 tables as well.

    At most a thousand rows each. Nothing where no correlation can be told from the noise.
    """
    if not isinstance(mechanism, BitFlips):
        raise TypeError(f"{mechanism.name} sends no bits")
    first, second = pairs_of(population.question)
    found = two_by_two(mechanism, counted, messages, first, second, level=level)
    both = true_pairs(population)
    told = [_correlations(population, found, first, second, both)]
    if population.question.kind is Kind.BITS:
        told.append(_tables(population, found, first, second, both))
    return [one for one in told if one.rows]


def _correlations(
    population: Population, found: TwoByTwo, first: _Integers, second: _Integers, both: _Integers
) -> Figures:
    question, single = population.question, np.diag(both)
    shown = np.argsort(-np.abs(found.correlations), kind="stable")  # NaN goes last
    shown = shown[~np.isnan(found.correlations[shown])]
    rows = []
    for k in shown[:MOST_FIGURES].tolist():
        i, j = int(first[k]), int(second[k])
        phi, error = float(found.correlations[k]), float(found.correlation_errors[k])
        half = found.width * error
        true = _phi(int(both[i, j]), int(single[i]), int(single[j]), population.users)
        rows.append(
            Figure(
                f"{question.label(i)} & {question.label(j)}", phi, max(-1.0, phi - half),
                min(1.0, phi + half), error, true,
            )
        )  # fmt: skip
    sure = np.abs(found.correlations) > found.width_all * found.correlation_errors
    return Figures(
        "correlations",
        f"{question.name}: how far two of them go together",
        f"Correlations (phi) of {len(shown):,} of {len(first):,} pairs. "
        + _LEFT_OUT * (len(shown) < len(first))
        + f"Counting all pairs at once, {int(sure.sum()):,} surely go together or apart.",
        tuple(rows),
    )


def _phi(both: int, one: int, two: int, users: int) -> float | None:
    """The correlation of two bits, None where one of them is the same for everybody."""
    root = (one * two * (users - one) * (users - two)) ** 0.5
    return (users * both - one * two) / root if root else None


def _tables(
    population: Population, found: TwoByTwo, first: _Integers, second: _Integers, both: _Integers
) -> Figures:
    question, single = population.question, np.diag(both)
    order = np.argsort(-found.counts[:, 0], kind="stable")
    rows = []
    for k in order[: MOST_FIGURES // _CELLS].tolist():
        i, j = int(first[k]), int(second[k])
        a, b = question.label(i), question.label(j)
        together, one, two = int(both[i, j]), int(single[i]), int(single[j])
        true = (together, one - together, two - together, population.users - one - two + together)
        names = (f"{a} & {b}", f"{a} & not {b}", f"not {a} & {b}", f"neither {a} nor {b}")
        for name, count, error, held in zip(
            names, found.counts[k].tolist(), found.errors[k].tolist(), true, strict=True
        ):
            half = found.width * error
            rows.append(Figure(name, count, count - half, count + half, error, float(held)))
    return Figures(
        "tables",
        f"{question.name}: two answers at a time",
        "Four counts of every pair, which add up to the people; intervals are for each alone by "
        "the normal law.",
        tuple(rows),
    )
