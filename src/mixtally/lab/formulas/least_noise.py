"""The least noise that keeps a guarantee, computed from the exact delta.

``audit`` and ``literature`` compare the noise of published formulas with the least noise.
"""

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
    """Return the mechanism of a single bit with the least flip probability for the guarantee.

    ``ones`` of the other people in the crowd of ``users`` hold a one; None means the worst number.
    """
    made = single_bit(fakes=0, threshold=MOST_THRESHOLD, crowd=users, repeats=repeats)
    record = Record(ObservedMessage(made, others=ones))
    found = calibrate(Accountant(), record, Parameter.FLIP, epsilon, delta)
    return found.message.mechanism


def least_flip(users: int, epsilon: float, delta: float) -> Shuffled:
    """Return the mechanism of a one-hot record with the least flip probability, without fakes.

    The flipped records of all ``users`` hide a person.
    """
    made = flip(bins=MOST_BINS, threshold=MOST_THRESHOLD, crowd=users)
    return _least(made, Parameter.FLIP, epsilon, delta)


def least_flip_among_blanks(fakes: int, epsilon: float, delta: float) -> float:
    """Return the least flip probability of a one-hot record among ``fakes`` flipped blanks."""
    made = flip_blank(bins=MOST_BINS, fakes=fakes, threshold=MOST_THRESHOLD)
    return (_least(made, Parameter.FLIP, epsilon, delta).flip_threshold or 0) / SCALE


def least_uniform_fakes(bins: int, epsilon: float, delta: float) -> int:
    """Return the least number of uniform fakes that hide a record of ``bins`` bins in clear."""
    made = clear_uniform(bins=bins, fakes=0)
    return _least(made, Parameter.FAKES, epsilon, delta).fakes_promised


def _least(mechanism: Shuffled, parameter: Parameter, epsilon: float, delta: float) -> Shuffled:
    found = calibrate(Accountant(), Record.of(mechanism), parameter, epsilon, delta)
    return found.message.mechanism
