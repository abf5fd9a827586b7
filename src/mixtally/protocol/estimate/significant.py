"""The least tallied count that tells a held bin from an empty one, at a stated rate of errors."""

from mixtally.errors import ParameterError
from mixtally.model.mechanism import Shuffled
from mixtally.protocol.estimate.noise import reach


def checked_rate(rate: float) -> float:
    """``rate`` itself when it lies in (0, 1/2]; raises ParameterError otherwise."""
    if not 0.0 < rate <= 0.5:
        raise ParameterError(
            "false-positive rate", wanted="a number in (0, 0.5]", got=rate, do="0.05 is common"
        )
    return rate


def least_significant(mechanism: Shuffled, messages: int, tests: int, rate: float) -> int:
    """The least count that an empty bin reaches with chance at most rate / tests, exactly.

    With ``tests`` bins looked at, any empty one of them reaches it with chance at most ``rate``
    (Bonferroni: however the bins depend on each other, and also when the later of them are chosen
    by what the earlier ones showed, since every round draws its noise afresh).
    """
    return reach(mechanism, messages, 0, checked_rate(rate) / tests)[1] + 1
