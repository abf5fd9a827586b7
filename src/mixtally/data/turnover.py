"""A synthetic crowd over time: people who join, leave and change their minds."""

import numpy as np
from numpy.typing import NDArray

from mixtally.data.population import Population
from mixtally.data.timeline import Timeline
from mixtally.errors import in_range
from mixtally.ground.chance import Chance
from mixtally.ground.draw import below
from mixtally.ground.fixed import SCALE

MOST_EPOCHS = 1000


def turnover(
    first: Population, epochs: int, *, join: float, leave: float, change: float, chance: Chance
) -> Timeline:
    """``first`` is the crowd of the first epoch; as many people again are away at first.

    From one epoch to the next everybody who is there leaves with probability ``leave``, everybody
    who is away joins (or comes back) with probability ``join``, and everybody's value is drawn
    anew, from the values of ``first``, with probability ``change``.

    Raises ParameterError for epochs outside [2, 1000] or a probability outside [0, 1], DataError
    when an epoch is left with fewer than two people.
    """
    _check(epochs, {"join": join, "leave": leave, "change": change})
    size = first.users
    held = np.concatenate([np.arange(size), below(chance, size, size)])
    here = np.arange(2 * size) < size
    rows, at, people = [], [], []
    for epoch in range(epochs):
        if epoch:
            here = np.where(
                here, ~happens(leave, 2 * size, chance), happens(join, 2 * size, chance)
            )
            new = np.flatnonzero(happens(change, 2 * size, chance))
            held[new] = below(chance, size, len(new))
        now = np.flatnonzero(here)
        rows.append(held[now])
        people.append(now)
        at.append(np.full(len(now), epoch))
    chosen = np.concatenate(rows)
    return Timeline(
        question=first.question,
        epochs=tuple(str(epoch) for epoch in range(1, epochs + 1)),
        codes=first.records[chosen],
        at=np.concatenate(at),
        people=np.concatenate(people),
        note=first.note,
        from_data=first.from_data,
        values=None if first.values is None else first.values[chosen],
    )


def _check(epochs: int, rates: dict[str, float]) -> None:
    in_range("epochs", epochs, 2, MOST_EPOCHS, "a change needs two of them")
    for name, rate in rates.items():
        in_range(f"{name} rate", rate, 0.0, 1.0, "it is a probability from one epoch to the next")


def happens(probability: float, count: int, chance: Chance) -> NDArray[np.bool_]:
    """``count`` independent events of a probability in [0, 1], to one part in 2^64."""
    numerator, denominator = probability.as_integer_ratio()
    threshold = numerator * SCALE // denominator
    if threshold == SCALE:
        return np.ones(count, dtype=np.bool_)
    return chance.words(count) < np.uint64(threshold)
