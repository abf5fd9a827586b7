"""What is promised, out of what a caller gives."""

from mixtally.api import checks
from mixtally.model.guarantee import Guarantee


def guarantee_of(epsilon: object, delta: object) -> Guarantee:
    """The guarantee; ParameterError for what is no number, or outside its range."""
    return Guarantee(epsilon=checks.number("epsilon", epsilon), delta=checks.number("delta", delta))
