"""The plan option of a mechanism that is requested by name, nothing special to the planner."""

from mixtally.errors import ParameterError
from mixtally.planner.build import option
from mixtally.planner.flip_options import Result, lacks
from mixtally.planner.options import Infeasible
from mixtally.planner.request import PlanRequest
from mixtally.privacy.accountant import Accountant
from mixtally.privacy.calibrate import calibrate
from mixtally.privacy.parameters import Parameters, parsed
from mixtally.records.encodings import Encoding
from mixtally.records.guarantee import promised
from mixtally.records.mechanism import Parameter


def fewest_of(
    name: str, request: PlanRequest, encoding: Encoding, accountant: Accountant
) -> Result:
    """The fewest fakes of people with which protocol ``name`` keeps the guarantee."""
    together, messages = len(encoding.parts) * request.collections, []
    for part in encoding.parts:
        try:
            single = parsed(
                name,
                Parameters(bins=part.bins, users=request.users),
                for_epsilon=request.guarantee.epsilon,
            )
            found = calibrate(
                accountant,
                single.counted,
                Parameter.FAKES,
                request.guarantee.epsilon,
                request.guarantee.delta,
                collections=together,
            )
        except ParameterError as error:
            return Infeasible(name, f"other parameters: {error}")
        mechanism = found.message.mechanism
        fakes = promised(mechanism.fakes_promised, request.sure_fraction)
        if not mechanism.holds(part):
            return None
        most = request.most_fakes(len(encoding.parts), mechanism.layout.message_bytes)
        if fakes > most:
            return lacks(name, request, encoding, mechanism.layout.message_bytes)
        messages.append((part, mechanism.having(Parameter.FAKES, fakes)))
    return option(request, messages, accountant)
