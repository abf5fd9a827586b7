"""Tallies drawn from how many people hold each bin, without drawing a message.

A tally is a sum of independent parts: of K uniform fakes and replaced values a multinomial number
falls into each bin, of mixes' fakes a number of their table, and of the c set and N - c unset bits
of a bin each is flipped by itself, so that the bin counts

    c - Binomial(c, q) + Binomial(N - c, q).

Of sets in clear the pads count as well, which follow from how many sets are of each size.
Given the records and the fakes, bins are independent. So the whole tally has the distribution that
it has when every message is drawn, for any number of people in the same time: but for the cap of a
message, past which so few are drawn again that all rounds together differ by a thousandth of delta.
What needs whole messages, pairs of their bits among it, is not there.
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
_MOST_PLANES = 200_000_000
"""Messages that are drawn one by one."""


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """How many people hold each bin, and nothing else of them.

    where
      users    people
      counts   shape (bins,), int64, each in [0, users]; of single values their sum is ``users``
      from_data  what of the question was read off the data, as ``Population`` has it
      sizes    how many people's sets have 0, 1, .. members, shape (most + 1,), int64; None where
               that is not known

    Raises DataError for counts that no crowd has, and for fewer than 2 or more than 10^10 people.
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
        if self.question.kind is Kind.ONE and total != self.users:
            raise _invalid_counts_error(f"counts of {self.users:,} people in all", f"{total:,}")

    @property
    def truth(self) -> Counts:
        """The counts, as what results are compared with."""
        return self.counts


def histogram_of(population: Population) -> Histogram:
    """That of a crowd whose records are known."""
    return Histogram(
        population.question, population.users, population.bin_counts, sizes=sizes_of(population)
    )


def sizes_of(population: Population) -> Counts | None:
    """How many people's sets have 0, 1, .. members; None where records are no sets."""
    question = population.question
    if question.kind is not Kind.SET:
        return None
    return np.bincount(population.sizes, minlength=question.max_set + 1)


def histogram_of_counts(people: ValueCounts) -> Histogram:
    """That of people whose values came counted.

    Raises DataError where the data say which values there are, and most were one person's own.
    """
    check_shared(people.question, people.counts, people.from_data)
    return Histogram(people.question, int(people.counts.sum()), people.counts, people.from_data)


def collect_counts(
    plan: Plan, histogram: Histogram, lab: Lab, analysis: Analysis = COUNTS_ALONE
) -> Release:
    """The result of collecting the crowd of ``histogram`` under ``plan``.

    Errors as ``checked_counts``.
    """
    check_counts(plan, histogram, analysis, lab.planner.accountant)
    drawn = []
    for part, held in zip(plan.parts, split_histogram(histogram, plan.questions), strict=True):
        drawn.append(
            draw_part(part, held.counts, held.users, plan.hops, lab.chance, histogram.sizes)
        )
        lab.progress("draw", len(drawn), len(plan.parts))
    received = Received(contributors=histogram.users, parts=tuple(one for one, _ in drawn))
    tallies = [tally for _, tally in drawn]
    return Release(conclude(plan, tallies, analysis, received=received))


def check_counts(
    plan: Plan, histogram: Histogram, analysis: Analysis, accountant: Accountant
) -> None:
    """Raises as ``run.check_crowd``, ParameterError where whole messages are asked for."""
    check_crowd(plan, histogram.question, histogram.users, accountant, analysis)
    if analysis.pairs:
        raise ParameterError(
            "counts alone",
            expected="counts of bins",
            got="pairs of bits",
            do="play the whole simulation: counts do not say who holds what together",
        )


def split_histogram(histogram: Histogram, questions: Sequence[Question]) -> list[Histogram]:
    """The crowd as it answers each of ``questions``, as ``parts`` has it."""
    own, users = histogram.question, histogram.users
    if is_sent_whole(own, questions):
        return [histogram]
    sizes = own.attributes or (1,) * own.bins
    held = np.split(histogram.counts, np.cumsum(sizes)[:-1])
    if own.attributes is None and questions[0].kind is Kind.ONE:  # a bit in clear: no, yes
        held = [np.array([users - int(one[0]), int(one[0])]) for one in held]
    return [Histogram(q, users, one) for q, one in zip(questions, held, strict=True)]


def draw_part(
    part: Part,
    counts: Counts,
    users: int,
    hops: int,
    chance: Chance,
    sizes: Counts | None = None,
) -> tuple[PartReceived, Tally]:
    """What comes of ``users`` people, ``counts`` of whom hold each bin, and of all fakes.

    ``counts`` has shape (bins,); ``sizes`` as a histogram has them. The generator behind it is
    keyed by ``chance``. Raises ParameterError where a set's pads count and sizes are not known.
    """
    if part.planes is not None:
        if part.pads:
            raise ParameterError(
                "counts alone",
                expected="bins in clear, or single values over planes",
                got="sets over planes, whose members are drawn together",
                do="give the records",
            )
        return _draw_over_planes(part, part.planes, counts, hops, chance)
    draws, own, held = _generator(chance), part.own, part.repeats * counts
    messages, fakes = users * part.record_messages, 0
    if part.pads:
        held = np.concatenate([held, _count_pads(part, sizes)])
    declared: list[int | None] = [None] * hops
    if own is not None:
        fakes = users * own.whole + int(draws.binomial(users, own.coin / SCALE))
    uniform = fakes if own is not None and own.record is FakeRecord.UNIFORM else 0
    if part.replaced is not None:
        gone = draws.binomial(held, part.replaced / SCALE)
        held, uniform = held - gone, uniform + int(gone.sum())
    if uniform:
        held = held + draws.multinomial(uniform, np.full(len(held), 1.0 / len(held)))
    if isinstance(part.recipe, Shape):
        added = [draw_fake_counts(part.recipe.weights, len(held), chance) for _ in range(hops)]
        held, declared = held + np.sum(added, axis=0), [int(one.sum()) or None for one in added]
    elif isinstance(part.recipe, CountedRecipe):
        declared = [part.recipe.count] * hops
    messages += fakes + sum(many or 0 for many in declared)
    if part.threshold is not None:
        q = part.threshold / SCALE
        held = held - draws.binomial(held, q) + draws.binomial(messages - held, q)
    received = PartReceived(declared=tuple(declared), received=messages, dropped={})
    return received, Tally(held, messages)


def _draw_over_planes(
    part: Part, planes: Planes, counts: Counts, hops: int, chance: Chance
) -> tuple[PartReceived, Tally]:
    """The same over planes: every direction is drawn, as one joins all counts.

    Raises ParameterError for more messages than are drawn one by one.
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
        points = places[np.searchsorted(ends, np.arange(span.start, span.stop), side="right")]
        numbers = draws.integers(0, planes.device_planes.directions, len(points))
        fold.add(part.layout.rows(plane_messages(points, numbers, planes.prime, planes.digits)))
    for span in spans(more, _SPAN):
        fold.add(part.layout.rows(draws.integers(0, part.layout.bins, span.stop - span.start)))
    tally = fold.tally()
    return PartReceived(declared=tuple(declared), received=tally.messages, dropped={}), tally


def _count_pads(part: Part, sizes: Counts | None) -> Counts:
    """How many people take each pad: those whose sets lack more bins than stand before it."""
    if sizes is None or len(sizes) != part.pads + 1:
        raise ParameterError(
            "counts alone",
            expected="how many sets are of each size, which pads are counted by",
            got="how many people hold each bin",
            do="give the records, or plan with --protocol flip-blank",
        )
    return np.cumsum(sizes)[: part.pads][::-1]


def _generator(chance: Chance) -> np.random.Generator:  # noqa: TID251
    """Binomials of the library, whose words follow from 256 bits of ``chance``.

    Nothing that is drawn here hides anybody: there are no people, but their counts.
    """
    seed = int.from_bytes(chance.words(4).tobytes(), "little")
    return np.random.Generator(np.random.PCG64(seed))  # noqa: TID251


def _invalid_counts_error(expected: str, got: str) -> DataError:
    return DataError("counts", expected=expected, got=got, do="give how many people hold each bin")
