"""Tallies that are drawn from the number of people in each bin, without drawing messages.

``app.count`` calls these functions for ``--counts-only`` and for data that are already counted. The
time does not depend on the number of people.

Let q be the probability that a bit is flipped, and N the number of messages. Let c be the number of
messages whose bit of a given bin is set before flipping. Each bit is flipped independently, so the
tally of the bin is distributed as

    c - Binomial(c, q) + Binomial(N - c, q).

Without flips, the tally of a bin is the number of people's messages and fakes that name the bin.
The counts of uniform fakes, and of the uniform bins that replace values, are multinomial. The fakes
of mixes are drawn for each bin from a table of probabilities. If sets are sent in clear, a set with
missing members also names *pads*, which are additional bins. The number of people who name each pad
follows from how many sets have each size.

Given the records and the fakes, the tallies of bins are independent. The whole tally therefore has
the same distribution as if every message were drawn. The only exception is the cap, the largest
number of set bits of a message: a device draws a message above the cap again, and this module does
not. This changes the distribution of all rounds together by at most a thousandth of delta. Numbers
that need whole messages, such as counts of pairs of bits, are not available.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixtally.accounting.accountant import Accountant
from mixtally.errors import DataError, ParameterError, in_range
from mixtally.lab.data.population import Population, ValueCounts, check_shared
from mixtally.lab.simulation.lab import Lab
from mixtally.lab.simulation.parts import is_sent_whole
from mixtally.lab.simulation.run import check_crowd
from mixtally.lab.simulation.study import Release
from mixtally.model.contract import (
    CountedRecipe,
    FakeRecord,
    Part,
    Plan,
    Planes,
    Shape,
    UniformRecipe,
)
from mixtally.model.estimates import Tally
from mixtally.model.guarantee import LEAST_USERS, MOST_USERS
from mixtally.model.planes import bin_points, plane_messages
from mixtally.model.question import Kind, Question
from mixtally.model.received import PartReceived, Received
from mixtally.primitives.bits import spans
from mixtally.primitives.chance import Chance
from mixtally.primitives.fixed_point import SCALE
from mixtally.protocol.estimate.analysis import COUNTS_ALONE, Analysis
from mixtally.protocol.estimate.conclude import conclude
from mixtally.protocol.mixing import draw_fake_counts
from mixtally.protocol.tally.fold import Fold

Counts = NDArray[np.int64]
_SPAN = 1 << 18
"""Number of planes (sets of values, one named by each message) that are drawn at a time."""
_MOST_PLANES = 200_000_000
"""Largest number of messages that name planes, because each such message is drawn."""


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """The number of people in each bin, and nothing else about them.

    Attributes
    ----------
    users
        Number of people. A person who is in several bins is counted once.
    counts
        Shape (bins,), int64, each in [0, users]. Counts of single values sum to ``users``.
    from_data
        The facts that the question takes from the data, as in `Population`.
    sizes
        Number of people whose set has 0, 1, .. members, shape (largest set + 1,), int64; None if
        unknown.

    Raises
    ------
    DataError
        If no crowd has these counts, or there are fewer than 2 or more than 10^10 people.
    """

    question: Question
    users: int
    counts: Counts
    from_data: tuple[str, ...] = ()
    sizes: Counts | None = None

    def __post_init__(self) -> None:
        counts, bins = self.counts, self.question.bins
        if not LEAST_USERS <= self.users <= MOST_USERS:
            raise _invalid_counts_error(
                f"{LEAST_USERS} to {MOST_USERS:,} people", f"{self.users:,}"
            )
        if counts.shape != (bins,) or counts.dtype != np.int64:
            raise _invalid_counts_error(
                f"{bins:,} whole counts", f"{counts.dtype} of shape {counts.shape}"
            )
        if int(counts.min()) < 0 or int(counts.max()) > self.users:
            raise _invalid_counts_error(
                f"counts from 0 to {self.users:,}", f"{counts.min():,} to {counts.max():,}"
            )
        total = int(counts.sum())
        # A person with a set or with bits may be in several bins or in none, so only the counts of
        # single values have a known sum.
        if self.question.kind is Kind.ONE and total != self.users:
            raise _invalid_counts_error(f"counts of {self.users:,} people in all", f"{total:,}")

    @property
    def truth(self) -> Counts:
        """The counts, with which results are compared."""
        return self.counts


def histogram_of(population: Population) -> Histogram:
    """Return the histogram of a population whose records are known."""
    return Histogram(
        population.question, population.users, population.bin_counts, sizes=sizes_of(population)
    )


def sizes_of(population: Population) -> Counts | None:
    """Return how many people have a set of 0, 1, .. members; None if records are not sets."""
    question = population.question
    if question.kind is not Kind.SET:
        return None
    return np.bincount(population.sizes, minlength=question.max_set + 1)


def histogram_of_counts(people: ValueCounts) -> Histogram:
    """Return the histogram of people whose values were counted before.

    Raises DataError if the list of values was read from the data, and more than half of the values
    have only one person each.
    """
    check_shared(people.question, people.counts, people.from_data)
    return Histogram(people.question, int(people.counts.sum()), people.counts, people.from_data)


def collect_counts(
    plan: Plan, histogram: Histogram, lab: Lab, analysis: Analysis = COUNTS_ALONE
) -> Release:
    """Simulate the collection of answers that are given as a histogram.

    The errors are those of `check_counts`.
    """
    check_counts(plan, histogram, analysis, lab.planner.accountant)
    drawn = []
    for part, part_histogram in zip(
        plan.parts, split_histogram(histogram, plan.questions), strict=True
    ):
        drawn.append(
            draw_part(
                part,
                part_histogram.counts,
                part_histogram.users,
                plan.hops,
                lab.chance,
                histogram.sizes,
            )
        )
        lab.progress("draw", len(drawn), len(plan.parts))
    received = Received(contributors=histogram.users, parts=tuple(one for one, _ in drawn))
    tallies = [tally for _, tally in drawn]
    return Release(conclude(plan, tallies, analysis, received=received))


def check_counts(
    plan: Plan, histogram: Histogram, analysis: Analysis, accountant: Accountant
) -> None:
    """Check that a plan and an analysis are possible for people who are known only by counts.

    Raises the errors of ``check_crowd``. Raises ParameterError if the analysis asks for pairs of
    bits, or if the plan sends only some slots of a record.
    """
    check_crowd(plan, histogram.question, histogram.users, accountant, analysis)
    _check_whole_records(plan.parts[0])
    if analysis.pairs:
        raise ParameterError(
            "counts alone",
            expected="counts of bins",
            got="pairs of bits",
            do="play the whole simulation, because counts do not say which bits occur together",
        )


def split_histogram(histogram: Histogram, questions: Sequence[Question]) -> list[Histogram]:
    """Return the histogram of each of ``questions``, see ``parts.split_population``."""
    own, users = histogram.question, histogram.users
    if is_sent_whole(own, questions):
        return [histogram]
    sizes = own.attributes or (1,) * own.bins
    counts = np.split(histogram.counts, np.cumsum(sizes)[:-1])
    # a bit sent in clear has two bins: no and yes
    if own.attributes is None and questions[0].kind is Kind.ONE:
        counts = [np.array([users - int(one[0]), int(one[0])]) for one in counts]
    return [Histogram(q, users, one) for q, one in zip(questions, counts, strict=True)]


def draw_part(
    part: Part,
    counts: Counts,
    users: int,
    hops: int,
    chance: Chance,
    sizes: Counts | None = None,
) -> tuple[PartReceived, Tally]:
    """Draw the numbers of messages that a collector receives for one part, and their tally.

    Both include the fakes. NumPy's generator draws the binomials, with a seed from ``chance``.

    Parameters
    ----------
    part : Part
        The part of a plan.
    counts : array of int64, shape (bins,)
        The number of people in each bin.
    users : int
        The number of people.
    hops : int
        The number of mixes.
    chance : Chance
        The source of random words.
    sizes : array of int64, optional
        The number of people whose set has 0, 1, .. members.

    Raises
    ------
    ParameterError
        If sets are filled up with pads and ``sizes`` is unknown, or only some slots are sent.
    """
    _check_whole_records(part)
    if part.planes is not None:
        if part.pads:
            raise ParameterError(
                "counts alone",
                expected="bins in clear, or single values over planes",
                got="sets over planes, whose members are drawn together",
                do="give the records",
            )
        return _draw_over_planes(part, part.planes, counts, hops, chance)
    # Each record is sent ``repeats`` times, so each person adds this number to the count.
    draws, own, named = _generator(chance), part.own, part.repeats * counts
    messages, fakes = users * part.record_messages, 0
    if part.pads:
        # Pads have the bins after those of the question.
        named = np.concatenate([named, _count_pads(part, sizes)])
    declared: list[int | None] = [None] * hops
    if own is not None:
        # Each person sends ``whole`` fakes, and one more with the probability of the coin.
        fakes = users * own.whole + int(draws.binomial(users, own.coin / SCALE))
    uniform = fakes if own is not None and own.record is FakeRecord.UNIFORM else 0
    if part.replaced is not None:
        # A value that is replaced becomes a uniform bin, and is drawn with the uniform fakes.
        gone = draws.binomial(named, part.replaced / SCALE)
        named, uniform = named - gone, uniform + int(gone.sum())
    if uniform:
        named = named + draws.multinomial(uniform, np.full(len(named), 1.0 / len(named)))
    if isinstance(part.recipe, Shape):
        weights, paired = part.recipe.weights, part.recipe.paired
        added = [draw_fake_counts(weights, len(named), chance, paired=paired) for _ in range(hops)]
        named, declared = named + np.sum(added, axis=0), [int(one.sum()) or None for one in added]
    elif isinstance(part.recipe, CountedRecipe):
        declared = [part.recipe.count] * hops
    messages += fakes + sum(many or 0 for many in declared)
    if part.threshold is not None:
        q = part.threshold / SCALE
        # Flips come last: they apply to people's messages and to fakes in the same way.
        named = named - draws.binomial(named, q) + draws.binomial(messages - named, q)
    received = PartReceived(declared=tuple(declared), received=messages, dropped={})
    return received, Tally(named, messages)


def _check_whole_records(part: Part) -> None:
    """Raise ParameterError if devices send only some slots (bins) of each record.

    The counts do not show which bins belong to one record.
    """
    if part.slots is not None:
        raise ParameterError(
            "counts alone",
            expected="records of which all bins are sent",
            got=f"{part.slots} of {part.most_set} slots, which are drawn from each record",
            do="give the records, or plan with --protocol flip-blank",
        )


def _draw_over_planes(
    part: Part, planes: Planes, counts: Counts, hops: int, chance: Chance
) -> tuple[PartReceived, Tally]:
    """Draw the result of ``draw_part`` for a part whose messages name planes.

    Each message is drawn, because one plane adds to the counts of many values.

    Raises ParameterError if there are too many messages to draw individually.
    """
    draws, people, declared = _generator(chance), int(counts.sum()), list[int | None]([None] * hops)
    gone = draws.binomial(counts, (part.replaced or 0) / SCALE)
    counts, fakes = counts - gone, int(gone.sum())
    if part.own is not None:
        fakes += people * part.own.whole + int(draws.binomial(people, part.own.coin / SCALE))
    if isinstance(part.recipe, UniformRecipe):
        declared = [part.recipe.count] * hops
    more = fakes + sum(many or 0 for many in declared)
    users = people - int(gone.sum())
    in_range("messages over planes", users + more, 1, _MOST_PLANES, "ask fewer people, or bins")
    fold, ends = Fold(part.layout, 0), np.cumsum(counts)
    places = bin_points(planes.device_planes, np.arange(len(counts)), part.bins)
    for span in spans(users, _SPAN):
        # Person x is in the first bin whose cumulative count exceeds x.
        points = places[np.searchsorted(ends, np.arange(span.start, span.stop), side="right")]
        numbers = draws.integers(0, planes.device_planes.directions, len(points))
        fold.add(part.layout.rows(plane_messages(points, numbers, planes.prime, planes.digits)))
    for span in spans(more, _SPAN):
        fold.add(part.layout.rows(draws.integers(0, part.layout.bins, span.stop - span.start)))
    tally = fold.tally()
    return PartReceived(declared=tuple(declared), received=tally.messages, dropped={}), tally


def _count_pads(part: Part, sizes: Counts | None) -> Counts:
    """Return the number of people who send each pad, which stands for a missing member of a set.

    ``sizes`` has the number of people whose set has 0, 1, .. members. If the set of a person has l
    members fewer than the largest possible set, the person sends the pads 0 to l - 1.
    """
    if sizes is None or len(sizes) != part.pads + 1:
        raise ParameterError(
            "counts alone",
            expected="the number of sets of each size, from which pads are counted",
            got="only the number of people in each bin",
            do="give the records, or plan with --protocol flip-blank",
        )
    return np.cumsum(sizes)[: part.pads][::-1]


def _generator(chance: Chance) -> np.random.Generator:  # noqa: TID251
    """Return NumPy's generator with a seed of 256 bits from ``chance``.

    The generator is not cryptographic. It need not be, because its draws protect nobody.
    """
    seed = int.from_bytes(chance.words(4).tobytes(), "little")
    return np.random.Generator(np.random.PCG64(seed))  # noqa: TID251


def _invalid_counts_error(expected: str, got: str) -> DataError:
    return DataError("counts", expected=expected, got=got, do="give the number of people per bin")
