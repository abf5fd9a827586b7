"""A synthetic crowd over time: people who join, leave and change their values.

``mixtally simulate epochs`` uses it when the data have no column of epochs.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mixtally.errors import in_range
from mixtally.lab.data.epoch_counts import EpochCounts
from mixtally.lab.data.population import Population
from mixtally.lab.data.timeline import Timeline
from mixtally.model.question import Kind
from mixtally.primitives.chance import Chance
from mixtally.primitives.draw import draw_below
from mixtally.primitives.fixed_point import SCALE

MOST_EPOCHS = 1000


def simulate_turnover(
    first: Population, epochs: int, *, join: float, leave: float, change: float, chance: Chance
) -> Timeline:
    """Draw a timeline whose first epoch has the people ``first``.

    The same number of further people are absent in the first epoch and may join later.

    Parameters
    ----------
    first : Population
        The people who are present in the first epoch.
    epochs : int
        The number of epochs, in [2, 1000].
    join : float
        The probability that an absent person joins, or comes back, from one epoch to the next.
    leave : float
        The probability that a present person leaves from one epoch to the next.
    change : float
        The probability that a person's value is drawn again from the values of ``first``.
    chance : Chance
        The source of random words.

    Raises
    ------
    ParameterError
        If ``epochs`` is outside [2, 1000], or a probability outside [0, 1].
    DataError
        If an epoch has fewer than two people.
    """
    rates = _Rates(join, leave, change)
    rows, epoch_numbers, people = [], [], []
    for epoch, (value_rows, now) in enumerate(_simulate_epochs(first.users, epochs, rates, chance)):
        rows.append(value_rows)
        people.append(now)
        epoch_numbers.append(np.full(len(now), epoch))
    chosen = np.concatenate(rows)
    return Timeline(
        question=first.question,
        epochs=_names(epochs),
        codes=first.records[chosen],
        epoch_of_answer=np.concatenate(epoch_numbers),
        people=np.concatenate(people),
        note=first.note,
        from_data=first.from_data,
        values=None if first.values is None else first.values[chosen],
    )


def simulate_turnover_counts(
    first: Population, epochs: int, *, join: float, leave: float, change: float, chance: Chance
) -> Timeline | EpochCounts:
    """Draw the same crowd as `simulate_turnover`, but keep only the counts of each epoch.

    The crowd is the same if ``chance`` gives the same random words. Parameters and errors are those
    of `simulate_turnover`.

    Returns
    -------
    EpochCounts or Timeline
        The counts, shape (epochs, bins). A timeline for sets, bits and numbers, because their
        simulation needs each record.
    """
    if first.question.kind is not Kind.ONE or first.values is not None:
        return simulate_turnover(
            first, epochs, join=join, leave=leave, change=change, chance=chance
        )
    bins, codes, rates = first.question.bins, first.codes, _Rates(join, leave, change)
    truth, times = list[NDArray[np.int32]](), np.zeros(2 * first.users, dtype=np.int32)
    for value_rows, now in _simulate_epochs(first.users, epochs, rates, chance):
        truth.append(np.bincount(codes[value_rows], minlength=bins).astype(np.int32))
        times[now] += 1
    # People who never took part are left out below.
    people = np.bincount(times).tolist()
    return EpochCounts(
        question=first.question,
        epochs=_names(epochs),
        truth=np.array(truth),
        attendance={many: people[many] for many in range(1, len(people)) if people[many]},
        note=first.note,
        from_data=first.from_data,
    )


class _Rates(NamedTuple):
    """Probabilities of a change from one epoch to the next."""

    join: float
    leave: float
    change: float


def _names(epochs: int) -> tuple[str, ...]:
    return tuple(str(epoch) for epoch in range(1, epochs + 1))


def _simulate_epochs(
    size: int, epochs: int, rates: _Rates, chance: Chance
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield two arrays for each epoch, with one entry for each person who is present.

    The first array has the index of the person in the first epoch, below ``size``, whose value the
    present person has now. The second array has the numbers of the present people, from 0.
    """
    in_range("epochs", epochs, 2, MOST_EPOCHS, "a change needs two of them")
    for name, rate in rates._asdict().items():
        in_range(f"{name} rate", rate, 0.0, 1.0, "it is a probability from one epoch to the next")
    value_rows = np.concatenate([np.arange(size), draw_below(chance, size, size)])
    present = np.arange(2 * size) < size
    for epoch in range(epochs):
        if epoch:
            present = np.where(
                present,
                ~draw_events(rates.leave, 2 * size, chance),
                draw_events(rates.join, 2 * size, chance),
            )
            new = np.flatnonzero(draw_events(rates.change, 2 * size, chance))
            value_rows[new] = draw_below(chance, size, len(new))
        now = np.flatnonzero(present)
        yield value_rows[now], now


def draw_events(probability: float, count: int, chance: Chance) -> NDArray[np.bool_]:
    """Draw ``count`` independent events; true for each event that occurs.

    The probability is rounded down to a multiple of 2^-64.
    """
    numerator, denominator = probability.as_integer_ratio()
    threshold = numerator * SCALE // denominator
    if threshold == SCALE:  # 2^64 does not fit into a word
        return np.ones(count, dtype=np.bool_)
    return chance.words(count) < np.uint64(threshold)
