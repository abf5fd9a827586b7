"""The offer of a mechanism that the planner knows nothing special of: asked for by name alone."""

from mixtally.errors import ParameterError
from mixtally.planner.answer import Misfit
from mixtally.planner.build import offer
from mixtally.planner.offers import Result, lacks
from mixtally.planner.ways import Way
from mixtally.planner.wish import Wish
from mixtally.privacy.accountant import Accountant
from mixtally.privacy.calibrate import calibrate
from mixtally.privacy.parameters import Parameters, parsed
from mixtally.records.guarantee import promised
from mixtally.records.mechanism import Parameter


def fewest_of(name: str, wish: Wish, way: Way, accountant: Accountant) -> Result:
    """The fewest fakes of people with which protocol ``name`` keeps the guarantee."""
    together, messages = len(way.parts) * wish.collections, []
    for part in way.parts:
        try:
            asked = parsed(
                name, Parameters(bins=part.bins, users=wish.users),
                for_epsilon=wish.guarantee.epsilon,
            )  # fmt: skip
            found = calibrate(
                accountant, asked.counted, Parameter.FAKES, wish.guarantee.epsilon,
                wish.guarantee.delta, collections=together,
            )  # fmt: skip
        except ParameterError as error:
            return Misfit(name, f"other parameters: {error}")
        mechanism = found.message.mechanism
        fakes = promised(mechanism.fakes_promised, wish.sure_fraction)
        if not mechanism.holds(part):
            return None
        most = wish.most_fakes(len(way.parts), mechanism.layout.message_bytes)
        if fakes > most:
            return lacks(name, wish, way, mechanism.layout.message_bytes)
        messages.append((part, mechanism.having(Parameter.FAKES, fakes)))
    return offer(wish, messages, accountant)
