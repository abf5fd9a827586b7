"""The least noise of the usual mechanisms, as bare integers."""

from helpers.named import clear_shaped, clear_uniform, flip_blank
from mixtally.accounting.accountant import Accountant, Record
from mixtally.accounting.calibrate import calibrate
from mixtally.accounting.divergence.in_clear import usual_ratio
from mixtally.model.mechanism import Parameter

FINE = 1e-12
ANY = 1 << 40
"""A value that a search does not read."""


def mechanism(made, parameter, epsilon, delta, **more):
    """``made`` with the least ``parameter``."""
    found = calibrate(Accountant(), Record.of(made), parameter, epsilon, delta, **more)
    return found.message.mechanism


def threshold(fakes: int, epsilon: float, delta: float) -> int:
    """Of one-hot flips among ``fakes`` flipped blanks, times 2^64."""
    blank = flip_blank(bins=2, fakes=fakes, threshold=ANY)
    return mechanism(blank, Parameter.FLIP, epsilon, delta, tolerance=FINE).threshold


def blank_fakes(flip: int, epsilon: float, delta: float) -> int:
    """Flipped blanks at a given flip probability."""
    blank = flip_blank(bins=2, fakes=0, threshold=flip)
    return mechanism(blank, Parameter.FAKES, epsilon, delta).fakes.count


def uniform_fakes(bins: int, epsilon: float, delta: float) -> int:
    """Uniform fakes among records in clear."""
    uniform = clear_uniform(bins=bins, fakes=0)
    return mechanism(uniform, Parameter.FAKES, epsilon, delta).fakes.count


def shape(epsilon: float, delta: float) -> dict[str, int]:
    """Ratio and shift of a mix's shaped fakes."""
    shaped = clear_shaped(bins=2, ratio=usual_ratio(epsilon, 1), shift=1)
    found = mechanism(shaped, Parameter.SHIFT, epsilon, delta).fakes.shape
    return {"ratio": found.ratio, "shift": found.shift}
