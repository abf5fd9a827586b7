"""Unbiased counts out of a tally, and the choice of what is done with them."""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from mixtally.errors import ParameterError
from mixtally.estimate.arrived import check_arrived
from mixtally.estimate.intervals import checked_level, intervals
from mixtally.estimate.noise import Noises
from mixtally.estimate.simplex import nearest_histogram
from mixtally.records.mechanism import Shuffled
from mixtally.records.results import Estimate, Tally

Projection = Callable[[NDArray[np.float64], float], NDArray[np.float64]]
PROJECTIONS: dict[str, Projection] = {"simplex": nearest_histogram}


def check_choices(level: float, projection: str | None) -> None:
    """Raises ParameterError for a level outside (0, 1) or an unknown projection."""
    checked_level(level)
    if projection is not None and projection not in PROJECTIONS:
        raise ParameterError(
            "projection",
            wanted="one of " + ", ".join(PROJECTIONS),
            got=repr(projection),
            do="leave it out for the unbiased counts",
        )


def estimate_counts(
    mechanism: Shuffled,
    tally: Tally,
    users: int,
    *,
    level: float = 0.95,
    projection: str | None = None,
    exact_ones: float | None = None,
    together: int | None = None,
    noises: Noises | None = None,
) -> Estimate:
    """Unbiased counts with intervals at ``level``.

    where
      users        people who sent their records; a projection sums to them
      projection   None, or "simplex" for the nearest histogram of ``users`` people, kept beside
                   the unbiased counts, never in their place; only where a person is in one bin
      exact_ones   as ``intervals`` has it
      together     bins over which intervals hold at once, if more than this tally's own
      noises       shared by many estimates that are alike, which saves their time

    Raises ParameterError for a level outside (0, 1) or an unknown projection, MessageError when
    the batch is not what so many people and their fakes make.
    """
    check_choices(level, projection)
    check_arrived(mechanism, tally.messages, users)
    counts, noises = mechanism.unbiased(tally.counts, tally.messages), noises or Noises()
    return Estimate(
        counts=counts,
        standard_error=math.sqrt(mechanism.variance(tally.messages)),
        each=intervals(
            mechanism, tally, level, simultaneous_over=1, exact_ones=exact_ones, noises=noises
        ),
        together=intervals(
            mechanism,
            tally,
            level,
            simultaneous_over=together or len(counts),
            exact_ones=exact_ones,
            noises=noises,
        ),
        projected=PROJECTIONS[projection](counts, float(users)) if projection else None,
    )
