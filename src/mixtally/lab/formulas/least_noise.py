"""The least noise that keeps a guarantee, exactly: what formulas are held against."""

from mixtally.accounting.accountant import Accountant, Record
from mixtally.accounting.calibrate import calibrate
from mixtally.accounting.divergence import ObservedMessage
from mixtally.model.mechanism import Parameter, Shuffled
from mixtally.model.mechanism.presets import clear_uniform, flip, flip_blank, single_bit
from mixtally.model.question import MOST_BINS
from mixtally.primitives.fixed_point import MOST_THRESHOLD, SCALE


def least_single_bit(
    users: int, epsilon: float, delta: float, *, ones: int | None = None, repeats: int = 1
) -> Shuffled:
    """A single bit in a crowd, of whom ``ones`` hold a one; None for the worst."""
    made = single_bit(fakes=0, threshold=MOST_THRESHOLD, crowd=users, repeats=repeats)
    record = Record(ObservedMessage(made, others=ones))
    found = calibrate(Accountant(), record, Parameter.FLIP, epsilon, delta)
    return found.message.mechanism


def least_flip(users: int, epsilon: float, delta: float) -> Shuffled:
    """A value among other people's flips."""
    made = flip(bins=MOST_BINS, threshold=MOST_THRESHOLD, crowd=users)
    return _least(made, Parameter.FLIP, epsilon, delta)


def least_flip_among_blanks(fakes: int, epsilon: float, delta: float) -> float:
    """The flip probability of a value among ``fakes`` flipped blanks."""
    made = flip_blank(bins=MOST_BINS, fakes=fakes, threshold=MOST_THRESHOLD)
    return (_least(made, Parameter.FLIP, epsilon, delta).flip_threshold or 0) / SCALE


def least_uniform_fakes(bins: int, epsilon: float, delta: float) -> int:
    """Uniform fakes that cover ``bins`` bins in clear."""
    made = clear_uniform(bins=bins, fakes=0)
    return _least(made, Parameter.FAKES, epsilon, delta).fakes_promised


def _least(made: Shuffled, parameter: Parameter, epsilon: float, delta: float) -> Shuffled:
    found = calibrate(Accountant(), Record.of(made), parameter, epsilon, delta)
    return found.message.mechanism
