"""The least noise of the usual mechanisms, as bare integers."""

from mixtally.privacy import laws
from mixtally.privacy.laws import Ask
from mixtally.privacy.laws.ask import whole

FINE = 1e-12


def threshold(fakes: int, epsilon: float, delta: float) -> int:
    """Of one-hot flips among ``fakes`` flipped blanks, times 2^64."""
    found = laws.calibrate("flip-blank", Ask(fakes=fakes), epsilon, delta, tolerance=FINE)
    return whole(found.threshold)


def blank_fakes(flip: int, epsilon: float, delta: float) -> int:
    """Flipped blanks at a given flip probability."""
    return whole(laws.calibrate("flip-blank", Ask(threshold=flip), epsilon, delta).fakes)


def uniform_fakes(bins: int, epsilon: float, delta: float) -> int:
    """Uniform fakes among records in clear."""
    return whole(laws.calibrate("clear-uniform", Ask(bins=bins), epsilon, delta).fakes)


def shape(epsilon: float, delta: float) -> tuple[int, int]:
    """(ratio, shift) of a mix's shaped fakes."""
    found = laws.calibrate("clear-shaped", Ask(), epsilon, delta)
    return whole(found.ratio), whole(found.shift)
