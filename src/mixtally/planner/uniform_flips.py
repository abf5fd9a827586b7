"""Plan options of flip-uniform: fakes that cover the bins nearly as they would in clear.

With x = q d, a record that shows its own bit is hidden by about K q / (1 - e^-x) messages. Where
bins are many, x is large: uniform fakes hide like blank ones, and their variance of K / d is for
nothing. Where K / d is nearly what records in clear need, few flips are left to add. From about
half of those fakes on that gives a smaller error than blank fakes do (docs/accounting.md has the
numbers); with all of them records in clear give as small a one, in shorter messages.
"""

from msgspec import structs

from mixtally.ground.fixed import MOST_THRESHOLD
from mixtally.planner.build import option
from mixtally.planner.flip_options import COINS, Result, lacks
from mixtally.planner.noise import capped, counted, fewest_fakes, least_flips, uniform_fakes
from mixtally.planner.options import Infeasible
from mixtally.planner.request import PlanRequest
from mixtally.privacy.accountant import Accountant
from mixtally.records.encodings import Encoding
from mixtally.records.guarantee import arriving
from mixtally.records.layout import Form, Layout
from mixtally.records.mechanism import BitFlips, UniformFakes
from mixtally.records.question import Kind, Question

_LEAST_SHARE = 0.5
"""Of the fakes that records in clear need: with fewer, blank fakes are hardly worse or better."""
_ONCE = "a question that is asked once and answered in one message"


def flip_uniform(request: PlanRequest, encoding: Encoding, accountant: Accountant) -> Result:
    """As many fakes as are affordable, up to those that suffice in clear, and the least flips.

    Unless it is requested by name, None also where nothing is to be gained. A point of its curve
    takes milliseconds, so that several messages or collections, composed, would be searched for
    minutes: they are not offered.
    """
    (part, *rest) = encoding.parts
    if part.kind is not Kind.ONE:
        return None
    if rest or request.collections > 1:
        return Infeasible("flip-uniform", _ONCE) if request.protocol is not None else None
    most = request.most_fakes(1, Layout(Form.BITS, part.bins).message_bytes)
    if request.protocol is None and (
        request.mix_fakes or request.local_epsilon is not None or most < 1
    ):
        return None
    if most < 0:
        return lacks("flip-uniform", request, encoding, Layout(Form.BITS, part.bins).message_bytes)
    need = uniform_fakes(accountant, request, encoding, part.bins)
    if request.protocol is None and not _LEAST_SHARE * need <= most < need:
        return None
    return _option(request, encoding, part, min(most, need), accountant)


def _option(
    request: PlanRequest, encoding: Encoding, part: Question, fakes: int, accountant: Accountant
) -> Result:
    """The least flips for ``fakes`` fakes, or fewer where a local epsilon wants more flips."""
    sure = BitFlips(
        bins=part.bins,
        threshold=MOST_THRESHOLD,
        crowd=counted(request),
        fakes=UniformFakes(arriving(fakes, request.sure_fraction)),
    )
    threshold = least_flips(accountant, request, encoding, sure, fakes)
    if threshold is None:
        return Infeasible("flip-uniform", COINS)
    floor = capped(request, 2)
    if floor > threshold:
        threshold = floor
        fakes = fewest_fakes(accountant, request, encoding, sure, floor, fakes)
    built = structs.replace(sure, threshold=threshold, fakes=UniformFakes(fakes))
    return option(request, [(part, built)], accountant)
