"""Records in clear: among people's uniform fakes or mixes' shaped ones.

What the observer of sums sees is what the observer of messages sees: the number of messages in
every bin. Other people's records are no cover at worst, as nobody else may hold the same.
"""

import math

from mixtally.privacy.divergence import Goal, Message, Quote, clear_shaped, clear_uniform, repeats
from mixtally.records.mechanism import InClear, Parameter, ShapedFakes, UniformFakes

SHAPED = (
    "the mix that draws the fakes draws them as told, keeps their numbers to itself and does not "
    "collude with the collector; at least one mix shuffles"
)
SHAPED_BY_MANY = (
    "at least one of the mixes that add fakes draws them as told, keeps their numbers to itself "
    "and does not collude with the collector; at least one mix shuffles"
)


def exact(message: Message, epsilon: float) -> Quote:
    """Both ends of delta(epsilon), the larger of both directions."""
    mechanism = _in_clear(message)
    match mechanism.fakes:
        case UniformFakes(count):
            ends = clear_uniform.delta(count, mechanism.bins, epsilon)
            assumption = f"{count:,} fakes come from honest parties; at least one mix shuffles"
            return Quote(ends, clear_uniform.SOURCE, assumption)
        case ShapedFakes(mixes=mixes) as shaped:
            ends = clear_shaped.delta(shaped.weights, epsilon)
            return Quote(ends, clear_shaped.SOURCE, SHAPED if mixes == 1 else SHAPED_BY_MANY)


def upper(message: Message, epsilon: float) -> float:
    """The upper end alone."""
    return exact(message, epsilon).ends.upper


expected = upper


def apart(message: Message) -> tuple[Message, int]:
    """The message itself: it holds one bin."""
    return message, 1


def knows_repeats(message: Message) -> bool:  # noqa: ARG001
    """Rounds are composed."""
    return False


def lower_of(message: Message, epsilon: float, rounds: int) -> float:
    """From counting the messages in one bin."""
    mechanism = _in_clear(message)
    match mechanism.fakes:
        case UniformFakes(count):
            kinds = [repeats.Kind([(count, 1.0 / mechanism.bins)], 1.0, 0.0)]
            return repeats.lower_end(kinds, epsilon, rounds)
        case ShapedFakes() as shaped:
            return repeats.shaped_lower_end(shaped.weights, epsilon, rounds)


def start(message: Message, parameter: Parameter, goal: Goal) -> int:
    """Of uniform fakes the usual cover of every bin; of shaped ones what their ends may weigh.

    A collection's delta is 2 F(0) - F(0)^2, F(0) the chance of either end.
    """
    mechanism = _in_clear(message)
    match mechanism.fakes:
        case UniformFakes() if parameter is Parameter.FAKES:
            return round(goal.cover * mechanism.bins)
        case ShapedFakes(decay=decay) if parameter is Parameter.SHIFT:
            ends = math.log(2.0 * goal.times * math.tanh(decay / 2.0) / goal.delta) / decay
            return max(1, math.ceil(ends))
    raise TypeError(f"{mechanism.name} has no {parameter}")


def _in_clear(message: Message) -> InClear:
    if not isinstance(message.mechanism, InClear):
        raise TypeError(f"{message.mechanism.name} is not sent in clear")
    return message.mechanism
