"""What an attack plays: the production randomizer and mix, or a broken one in their place."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixtally.ground.bits import Rows
from mixtally.ground.chance import Chance
from mixtally.lab.simulate import play
from mixtally.mix import shaped_fakes, shuffle
from mixtally.protocols.base import Protocol
from mixtally.randomize import fakes, one_fake, one_report, reports
from mixtally.randomize.flips import flip
from mixtally.records.layout import Layout
from mixtally.records.results import Tally


@dataclass(frozen=True, slots=True)
class Device:
    """The code that draws noise; the default is what people's devices and mixes run."""

    reports: Callable[[Protocol, NDArray[np.int64], Chance], Rows] = reports
    fakes: Callable[[Protocol, int, Chance], Rows] = fakes
    flip: Callable[[Rows, int, int, Chance], Rows] = flip
    shaped: Callable[[tuple[int, ...], Layout, Chance], Rows] = shaped_fakes
    shuffle: Callable[[Rows, Chance], Rows] = shuffle
    one_report: Callable[[Protocol, int, Chance], bytes] = one_report
    one_fake: Callable[[Protocol, Chance], bytes] = one_fake
    play: Callable[..., Tally] = play
