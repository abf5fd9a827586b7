"""Where a search for the flips or fakes of flipped bits begins, for ``bit_flips``.

The start never decides where a search ends.
"""

from mixtally.accounting.divergence import CalibrationTarget, ObservedMessage
from mixtally.model.guarantee import Observer
from mixtally.model.mechanism import BitFlips, Parameter
from mixtally.primitives.fixed_point import SCALE


def start(message: ObservedMessage, parameter: Parameter, goal: CalibrationTarget) -> int:
    """Return the parameter at which ``goal.cover`` records hide the person's record.

    A fake hides a record if it shows all its bits; another person's record must also lose its own
    bits.
    """
    m = message.mechanism
    if not isinstance(m, BitFlips) or parameter not in (Parameter.FAKES, Parameter.FLIP):
        raise TypeError(f"{m.name} has no {parameter}")
    fakes = m.fakes.count
    if parameter == Parameter.FAKES:
        return round(goal.cover * SCALE / m.threshold)
    if message.observer is Observer.SUMS or (m.max_set is None and m.bins == 1):
        chance = goal.cover / (fakes + m.crowd + 1)
    elif m.max_set is None:
        chance = 0.5 * (goal.cover / m.crowd) ** (1.0 / m.bins)
    else:
        chance = (goal.cover / (fakes + 1)) ** (1.0 / m.max_set)
        if m.crowd:
            chance = min(chance, (goal.cover / m.crowd) ** (0.5 / m.max_set))
    return round(min(0.25, chance) * SCALE)
