"""What an attack plays: the production randomizer and mix, or a broken one in their place."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from typing import Protocol as Interface

import numpy as np
from numpy.typing import NDArray

from mixtally.errors import ParameterError
from mixtally.ground.bits import Rows
from mixtally.ground.chance import Chance
from mixtally.ground.flips import flip
from mixtally.ground.memo import Memo
from mixtally.mixing import added, shaped_fakes, shuffle
from mixtally.randomize import fakes, one_fake, one_report, part_fakes, part_reports, reports
from mixtally.randomize.bins import Records
from mixtally.records.contract import Part, Recipe
from mixtally.records.layout import Layout
from mixtally.records.mechanism import Shuffled
from mixtally.records.results import Tally

_MOST_BYTES = 1_000_000


def _held(draw: Callable[..., Any]) -> Callable[[], Callable[..., Any]]:
    """Makes ``draw`` with a memo of its own, which ends with the device that holds it."""
    return lambda: partial(draw, memo=Memo(_MOST_BYTES))


@dataclass(frozen=True, slots=True)
class Device:
    """The code that draws noise; the default is what people's devices and mixes run."""

    reports: Callable[[Shuffled, NDArray[np.int64], Chance], Rows] = field(
        default_factory=_held(reports)
    )
    fakes: Callable[[Shuffled, int, Chance], Rows] = field(default_factory=_held(fakes))
    flip: Callable[[Rows, int, int, Chance], Rows] = field(default_factory=_held(flip))
    shaped: Callable[[tuple[int, ...], Layout, Chance], Rows] = shaped_fakes
    shuffle: Callable[[Rows, Chance], Rows] = shuffle
    one_report: Callable[[Shuffled, int, Chance], bytes] = one_report
    one_fake: Callable[[Shuffled, Chance], bytes] = one_fake
    part_reports: Callable[[Part, Records, Chance], Rows] = field(
        default_factory=_held(part_reports)
    )
    part_fakes: Callable[[Part, int, Chance], tuple[Rows, int]] = field(
        default_factory=_held(part_fakes)
    )
    added: Callable[[Recipe, Layout, Chance], Rows] = added


class Play(Interface):
    """A whole collection in one process: everybody's messages, shuffled, and their tally."""

    def __call__(
        self,
        mechanism: Shuffled,
        records: NDArray[np.int64],
        chance: Chance,
        *,
        watch: Callable[[Rows], None],
    ) -> Tally:
        """The tally; ``watch`` is called with every span of shuffled messages."""
        ...


def unplayed(*_: object, **__: object) -> Tally:
    """Nobody said how: raises ParameterError."""
    raise ParameterError(
        "collection",
        wanted="a lab that can play one",
        got="one that cannot",
        do="hand it mixtally.simulation.simulate.play",
    )
