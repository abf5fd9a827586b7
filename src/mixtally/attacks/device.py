"""What an attack plays: the production randomizer and mix, or a broken one in their place."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixtally.ground.bits import Rows
from mixtally.ground.chance import Chance
from mixtally.mix import shaped_fakes, shuffle
from mixtally.randomize import fakes, one_fake, one_report, reports
from mixtally.randomize.flips import flip
from mixtally.records.layout import Layout
from mixtally.records.mechanism import Shuffled
from mixtally.records.results import Tally
from mixtally.simulate.simulate import play


@dataclass(frozen=True, slots=True)
class Device:
    """The code that draws noise; the default is what people's devices and mixes run."""

    reports: Callable[[Shuffled, NDArray[np.int64], Chance], Rows] = reports
    fakes: Callable[[Shuffled, int, Chance], Rows] = fakes
    flip: Callable[[Rows, int, int, Chance], Rows] = flip
    shaped: Callable[[tuple[int, ...], Layout, Chance], Rows] = shaped_fakes
    shuffle: Callable[[Rows, Chance], Rows] = shuffle
    one_report: Callable[[Shuffled, int, Chance], bytes] = one_report
    one_fake: Callable[[Shuffled, Chance], bytes] = one_fake
    play: Callable[..., Tally] = play
