"""What an attack plays: the production randomizer and mix, or a broken one in their place."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mixtally.ground.bits import Rows
from mixtally.ground.chance import Chance
from mixtally.mix import shaped_fakes, shuffle
from mixtally.randomize import fakes, reports
from mixtally.randomize.flips import flip
from mixtally.records.layout import Layout
from mixtally.records.mechanism import Shuffled


@dataclass(frozen=True, slots=True)
class Device:
    """The code that draws noise; the default is what people's devices and mixes run."""

    reports: Callable[[Shuffled, NDArray[np.int64], Chance], Rows] = reports
    fakes: Callable[[Shuffled, int, Chance], Rows] = fakes
    flip: Callable[[Rows, int, int, Chance], Rows] = flip
    shaped: Callable[[tuple[int, ...], Layout, Chance], Rows] = shaped_fakes
    shuffle: Callable[[Rows, Chance], Rows] = shuffle
