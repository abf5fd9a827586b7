"""What else the messages of a release tell, beside the truth: numbers and pairs."""

from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from mixtally.data.population import Population
from mixtally.encode.numbers import Scale
from mixtally.errors import ParameterError
from mixtally.estimate.cumulants import cumulants
from mixtally.estimate.joint import joint_counts
from mixtally.estimate.numbers import QUANTILES, Cuts, summary
from mixtally.ground.bits import Rows
from mixtally.records.layout import Form, Layout
from mixtally.records.mechanism import BitFlips, Shuffled
from mixtally.records.question import Kind, Question
from mixtally.records.results import Estimate, Figure, Figures
from mixtally.tally.pairs import no_pairs, pair_counts

MOST_FIGURES = 1000


def numbers(
    population: Population, scale: Scale, mechanism: Shuffled, messages: int, found: Estimate
) -> Figures:
    """Mean and quantiles of a crowd that was read as numbers on ``scale``."""
    if population.values is None:
        raise TypeError("the crowd holds no numbers")
    level = found.each.level
    noise = cumulants(mechanism, messages, found.counts)
    cuts = Cuts(found.counts, scale.edges, population.users, noise)
    values = np.sort(population.values)
    places = [max(0, int(np.ceil(share * len(values))) - 1) for share in QUANTILES]
    truth = [float(values.mean()), *(float(values[place]) for place in places)]
    rows = (replace(f, truth=true) for f, true in zip(summary(cuts, level), truth, strict=True))
    return Figures(
        "numbers",
        f"{population.question.name}: mean and quantiles",
        f"Out of the counts of {scale.bins:,} bins, {100 * level:g} % for each number alone. A "
        "value is known up to its bin: this resolution, half a bin on each side of the mean and a "
        f"bin at either end of a quantile, is in the intervals. {population.note}",
        tuple(rows),
    )


class PairFold:
    """Counts pairs in the messages that pass by."""

    def __init__(self, layout: Layout) -> None:
        self.layout, self.counts = layout, no_pairs(layout)

    def __call__(self, rows: Rows) -> None:
        """Add the pairs of ``rows``."""
        self.counts += pair_counts(self.layout, rows)


def check_pairs(question: Question, mechanisms: tuple[Shuffled, ...]) -> None:
    """Raises ParameterError when no message carries two bits, or too many."""
    if question.kind is Kind.ONE or question.bins < 2 or len(mechanisms) > 1:
        raise ParameterError(
            "pairs", wanted="records of several bits that travel whole",
            got="a message for every bit or attribute" if len(mechanisms) > 1 else "single values",
            do="add --protocol flip for bits, --protocol flip-blank with fewer messages a user "
            "for attributes" if len(mechanisms) > 1 else "leave --pairs out",
        )  # fmt: skip
    no_pairs(mechanisms[0].layout)


def pairs(
    population: Population, mechanism: Shuffled, counted: NDArray[np.int64], messages: int,
    level: float,
) -> Figures:  # fmt: skip
    """The pairs that most people have by the estimates, at most a thousand of them."""
    if not isinstance(mechanism, BitFlips):
        raise TypeError(f"{mechanism.name} sends no bits")
    question = population.question
    joint = joint_counts(mechanism, counted, messages, level)
    true = true_pairs(population)
    first, second = pairs_of(question)
    order = np.argsort(-joint.counts[first, second], kind="stable")
    surely = joint.counts - joint.width_all * joint.errors > 0.0
    rows = []
    for i, j in zip(
        first[order[:MOST_FIGURES]].tolist(), second[order[:MOST_FIGURES]].tolist(), strict=True
    ):
        count, error = float(joint.counts[i, j]), float(joint.errors[i, j])
        half = joint.width * error
        rows.append(
            Figure(
                f"{question.label(i)} & {question.label(j)}", count, count - half, count + half,
                error, float(true[i, j]),
            )
        )  # fmt: skip
    return Figures(
        "pairs",
        f"{question.name}: how many people have both",
        f"{len(first):,} pairs, {100 * level:g} % for each alone by the normal law. Counting all "
        f"pairs at once, {int(surely[first, second].sum()):,} are surely above zero.",
        tuple(rows),
    )


def true_pairs(population: Population) -> NDArray[np.int64]:
    """How many people have both bits, shape (bins, bins)."""
    layout = Layout(Form.BITS, population.question.bins)
    return pair_counts(layout, population.records.astype(np.uint8, copy=False))


def pairs_of(question: Question) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Bins i < j that one person can have: of two attributes, where there are attributes."""
    if question.attributes is None:
        first, second = np.triu_indices(question.bins, 1)
        return first.astype(np.int64), second.astype(np.int64)
    ends = np.cumsum([0, *question.attributes])
    grids = [
        np.meshgrid(np.arange(ends[a], ends[a + 1]), np.arange(ends[b], ends[b + 1]), indexing="ij")
        for a, b in combinations(range(len(question.attributes)), 2)
    ]
    return (
        np.concatenate([left.ravel() for left, _ in grids]),
        np.concatenate([right.ravel() for _, right in grids]),
    )
