"""Offers of mechanisms that flip: their least noise for the wish, or what they lack."""

from dataclasses import replace

from msgspec import structs

from mixtally.ground.fixed import MOST_THRESHOLD
from mixtally.planner.answer import Misfit, Offer
from mixtally.planner.build import offer
from mixtally.planner.noise import capped, counted, fewest_fakes, least_flips
from mixtally.planner.ways import Way
from mixtally.planner.wish import Wish
from mixtally.privacy.accountant import Accountant
from mixtally.records.guarantee import LEAST_USERS, arriving
from mixtally.records.layout import Form, Layout
from mixtally.records.mechanism import BitFlips, BlankFakes, NoFakes
from mixtally.records.question import MOST_BINS, Kind

Result = Offer | Misfit | None
"""None when the protocol cannot hold such a record at all."""

COINS = "more fakes or a larger epsilon: with so many flips nobody could be told from all people"
_FEW = "more people or a larger epsilon: with so many flips nobody could be told from all of them"
_SURE = "more people who are sure to take part"
_LARGE = 100_000
"""So many sure people hide a bit so well that fakes need not be tried."""


def flip_blank(wish: Wish, way: Way, accountant: Accountant) -> Result:
    """All fakes the budget allows, and the least flip probability for those that surely arrive.

    Where no fake is sure and the crowd is counted, other people's flips alone hide.
    """
    if any(part.kind is Kind.BITS for part in way.parts):
        return None
    sizes = [Layout(Form.BITS, part.bins).message_bytes for part in way.parts]
    fakes = wish.most_fakes(len(sizes), sum(sizes) / len(sizes))
    if fakes < 0:
        return lacks("flip-blank", wish, way, sum(sizes))
    most, crowd = max(part.max_set for part in way.parts), counted(wish)
    if most > 1:
        # With k set bits q falls as K^(-1/k), so (n + K) q is least at n / (k - 1) fakes.
        fakes = min(fakes, wish.users // (most - 1))
    arrive = arriving(fakes, wish.sure_fraction)
    sure = BitFlips(
        bins=MOST_BINS, threshold=MOST_THRESHOLD, max_set=most,
        fakes=BlankFakes(arrive), crowd=crowd,
    )  # fmt: skip
    threshold = least_flips(accountant, wish, way, sure, fakes)
    if threshold is None:
        return Misfit("flip-blank", COINS)
    floor = capped(wish, 2 * most * len(sizes))
    if floor > threshold:  # more noise than the guarantee needs: fakes would only add to it
        threshold = floor
        fakes = fewest_fakes(accountant, wish, way, sure, floor, fakes)
    hiding = BlankFakes(fakes) if fakes or not crowd else NoFakes()
    made = structs.replace(sure, threshold=threshold, fakes=hiding)
    return offer(wish, [
        (part, structs.replace(made, bins=part.bins, max_set=part.max_set)) for part in way.parts
    ], accountant)  # fmt: skip


def single_bit(wish: Wish, way: Way, accountant: Accountant) -> Result:
    """Bits one by one among fake zeros and everybody's flips."""
    if any(part.kind is not Kind.BITS or part.bins > 1 for part in way.parts):
        return None
    bits = len(way.parts)
    fakes, crowd = wish.most_fakes(bits), wish.sure_crowd
    if fakes < 0:
        return lacks("single-bit", wish, way, bits)
    if crowd < LEAST_USERS:
        return Misfit("single-bit", _SURE)
    results = []
    for count in dict.fromkeys((0, fakes)):  # in a large crowd fakes hide no better than people
        sure = BitFlips(
            bins=1, threshold=MOST_THRESHOLD, max_set=None, crowd=crowd,
            fakes=BlankFakes(arriving(count, wish.sure_fraction)),
        )  # fmt: skip
        threshold = least_flips(accountant, wish, way, sure, count)
        if threshold is not None:
            hiding = BlankFakes(count) if count else NoFakes()
            threshold = max(threshold, capped(wish, bits))
            built = structs.replace(sure, threshold=threshold, fakes=hiding)
            results.append(offer(wish, [(part, built) for part in way.parts], accountant))
        if results and crowd * wish.sure_fraction > _LARGE:
            break
    offers = [result for result in results if isinstance(result, Offer)]
    if offers:
        return min(offers, key=lambda one: (round(one.standard_error, 2), one.messages_per_user))
    return results[0] if results else Misfit("single-bit", COINS)


def flip(wish: Wish, way: Way, accountant: Accountant, repeats: int = 1) -> Result:
    """Free vectors whole, hidden by everybody's flips; other records when it is asked for."""
    (question, *rest) = way.parts
    if question.kind is not Kind.BITS:
        return _without_fakes(wish, way, accountant) if wish.protocol == "flip" else None
    if rest or question.bins == 1:
        return None
    size = Layout(Form.BITS, question.bins).message_bytes
    if wish.most_fakes(repeats, size) < 0:
        return lacks("flip", wish, way, size) if repeats == 1 else None
    crowd = wish.sure_crowd
    if crowd < LEAST_USERS:
        return Misfit("flip", _SURE)
    sure = BitFlips(
        bins=question.bins, threshold=MOST_THRESHOLD, max_set=None, fakes=NoFakes(), crowd=crowd,
        repeats=repeats,
    )  # fmt: skip
    threshold = least_flips(accountant, wish, way, sure, 0)
    if threshold is None:
        return Misfit("flip", _FEW)
    threshold = max(threshold, capped(wish, question.bins * repeats))
    return offer(wish, [(question, structs.replace(sure, threshold=threshold))], accountant)


def _without_fakes(wish: Wish, way: Way, accountant: Accountant) -> Result:
    """One-valued records and sets among other people's flips alone."""
    own = replace(
        wish, count_crowd=True, messages_per_user=min(wish.messages_per_user, len(way.parts))
    )
    if not counted(own):
        return Misfit("flip", _SURE)
    found = flip_blank(own, way, accountant)
    if isinstance(found, Misfit):
        return Misfit("flip", _FEW if found.needs == COINS else found.needs)
    return found


def lacks(name: str, wish: Wish, way: Way, size: int) -> Misfit:
    """The budget does not even hold a person's own messages."""
    if wish.bytes_per_user is not None and wish.bytes_per_user < size:
        return Misfit(name, f"{size:,} bytes of a person's own messages: --bytes-per-user {size}")
    return Misfit(name, f"{len(way.parts)} messages a record: --messages-per-user {len(way.parts)}")
