"""What flip-uniform has to offer: fakes that cover the bins nearly as they would in clear.

With x = q d, a record that shows its own bit is hidden by about K q / (1 - e^-x) messages. Where
bins are many, x is large: uniform fakes hide like blank ones, and their variance of K / d is for
nothing. Where K / d is nearly what records in clear need, few flips are left to add. From about
half of those fakes on that errs less than blank fakes do (docs/accounting.md has the numbers); with
all of them records in clear err as little, in shorter messages.
"""

from msgspec import structs

from mixtally.ground.fixed import MOST_THRESHOLD
from mixtally.planner.answer import Misfit
from mixtally.planner.build import offer
from mixtally.planner.noise import capped, counted, fewest_fakes, least_flips, uniform_fakes
from mixtally.planner.offers import COINS, Result, lacks
from mixtally.planner.ways import Way
from mixtally.planner.wish import Wish
from mixtally.privacy.accountant import Accountant
from mixtally.records.guarantee import arriving
from mixtally.records.layout import Form, Layout
from mixtally.records.mechanism import BitFlips, UniformFakes
from mixtally.records.question import Kind, Question

_LEAST_SHARE = 0.5
"""Of the fakes that records in clear need: with fewer, blank fakes err less or hardly more."""
_ONCE = "a question that is asked once and answered in one message"


def flip_uniform(wish: Wish, way: Way, accountant: Accountant) -> Result:
    """As many fakes as are affordable, up to those that suffice in clear, and the least flips.

    Unless it is asked for by name, None also where nothing is to be gained. A point of its curve
    takes milliseconds, so that several messages or collections, composed, would be searched for
    minutes: they are not offered.
    """
    (part, *rest) = way.parts
    if part.kind is not Kind.ONE:
        return None
    if rest or wish.collections > 1:
        return Misfit("flip-uniform", _ONCE) if wish.protocol is not None else None
    most = wish.most_fakes(1, Layout(Form.BITS, part.bins).message_bytes)
    if wish.protocol is None and (wish.mix_fakes or wish.local_epsilon is not None or most < 1):
        return None
    if most < 0:
        return lacks("flip-uniform", wish, way, Layout(Form.BITS, part.bins).message_bytes)
    need = uniform_fakes(accountant, wish, way, part.bins)
    if wish.protocol is None and not _LEAST_SHARE * need <= most < need:
        return None
    return _offer(wish, way, part, min(most, need), accountant)


def _offer(wish: Wish, way: Way, part: Question, fakes: int, accountant: Accountant) -> Result:
    """The least flips for ``fakes`` fakes, or fewer where a local epsilon wants more flips."""
    sure = BitFlips(
        bins=part.bins, threshold=MOST_THRESHOLD, crowd=counted(wish),
        fakes=UniformFakes(arriving(fakes, wish.sure_fraction)),
    )  # fmt: skip
    threshold = least_flips(accountant, wish, way, sure, fakes)
    if threshold is None:
        return Misfit("flip-uniform", COINS)
    floor = capped(wish, 2)
    if floor > threshold:
        threshold = floor
        fakes = fewest_fakes(accountant, wish, way, sure, floor, fakes)
    built = structs.replace(sure, threshold=threshold, fakes=UniformFakes(fakes))
    return offer(wish, [(part, built)], accountant)
