"""One offer a protocol and way: its least noise for the wish, or what it lacks."""

import math
from collections.abc import Callable
from dataclasses import replace

from mixtally.errors import EffortError, InfeasibleError, ParameterError
from mixtally.ground.fixed import MOST_THRESHOLD, SCALE
from mixtally.planner.answer import Misfit, Offer
from mixtally.planner.build import offer, telling
from mixtally.planner.ways import Way
from mixtally.planner.wish import MOST_MESSAGES, Wish
from mixtally.privacy import laws
from mixtally.privacy.laws import Ask
from mixtally.protocols.clear_shaped import ClearShaped
from mixtally.protocols.clear_uniform import ClearUniform
from mixtally.protocols.flip_blank import FlipBlank
from mixtally.protocols.flip_vector import FlipVector
from mixtally.protocols.single_bit import SingleBit
from mixtally.records.guarantee import LEAST_USERS, arriving, promised
from mixtally.records.hashing import Hashing
from mixtally.records.layout import Form, Layout
from mixtally.records.mechanism.named import (
    clear_shaped,
    clear_uniform,
    flip_bits,
    flip_blank,
    single_bit,
)
from mixtally.records.question import Kind, Question

Result = Offer | Misfit | None
"""None when the protocol cannot hold such a record at all."""

_IN_CLEAR = "no --local-epsilon: answers travel in clear, so nothing survives broken mixes"
COINS = "more fakes or a larger epsilon: with so many flips nobody could be told from all people"
_FEW = "more people or a larger epsilon: with so many flips nobody could be told from all of them"
_HUGE = 100_000
"""From so many bins on values may share bins: below, flips take at most 12,500 bytes a message."""
_LARGE = 100_000
"""So many sure people hide a bit so well that fakes need not be tried."""
_EXACT = 1e-12
_SEARCHED = 1e-6


def flip_blank(wish: Wish, way: Way) -> Result:
    """All fakes the budget allows, and the least flip probability for those that surely arrive.

    Where no fake is sure and the crowd is counted, the law of ``flip`` has the price.
    """
    if any(part.kind is Kind.BITS for part in way.parts):
        return None
    sizes = [Layout(Form.BITS, part.bins).message_bytes for part in way.parts]
    fakes = wish.most_fakes(len(sizes), sum(sizes) / len(sizes))
    if fakes < 0:
        return lacks(FlipBlank.name, wish, way, sum(sizes))
    most, crowd = max(part.max_set for part in way.parts), counted(wish)
    if most > 1:
        # With k set bits q falls as K^(-1/k), so (n + K) q is least at n / (k - 1) fakes.
        fakes = min(fakes, wish.users // (most - 1))
    sure, several = arriving(fakes, wish.sure_fraction), most if most > 1 else None
    if crowd and not sure:
        name, ask = FlipVector.name, Ask(users=crowd, max_set=several)
    else:
        name, counts = FlipBlank.name, crowd > 0
        ask = Ask(fakes=sure, max_set=several, users=crowd or None, count_crowd=counts)
    threshold = least_threshold(wish, way, name, ask, fakes)
    if threshold is None:
        return Misfit(FlipBlank.name, COINS)
    floor = capped(wish, 2 * most * len(sizes))
    if floor > threshold:  # more noise than the guarantee needs: fakes would only add to it
        threshold, fakes = floor, fewest(wish, way, name, ask, floor, fakes)
    noise = {"fakes": fakes, "threshold": threshold, "crowd": crowd}
    return offer(wish, [
        (part, flip_blank(bins=part.bins, max_set=part.max_set, **noise)) for part in way.parts
    ])  # fmt: skip


def single_bit(wish: Wish, way: Way) -> Result:
    """Bits one by one among fake zeros and everybody's flips."""
    if any(part.kind is not Kind.BITS or part.bins > 1 for part in way.parts):
        return None
    bits = len(way.parts)
    fakes, crowd = wish.most_fakes(bits), wish.sure_crowd
    if fakes < 0:
        return lacks(SingleBit.name, wish, way, bits)
    if crowd < LEAST_USERS:
        return Misfit(SingleBit.name, "more people who are sure to take part")
    results = []
    for count in dict.fromkeys((0, fakes)):  # in a large crowd fakes hide no better than people
        ask = Ask(users=crowd, fakes=arriving(count, wish.sure_fraction))
        threshold = least_threshold(wish, way, "single-bit", ask, count)
        if threshold is not None:
            threshold = max(threshold, capped(wish, bits))
            built = single_bit(fakes=count, threshold=threshold, crowd=crowd)
            results.append(offer(wish, [(part, built) for part in way.parts]))
        if results and crowd * wish.sure_fraction > _LARGE:
            break
    offers = [result for result in results if isinstance(result, Offer)]
    if offers:
        return min(offers, key=lambda one: (round(one.standard_error, 2), one.messages_per_user))
    return results[0] if results else Misfit(SingleBit.name, COINS)


def flip(wish: Wish, way: Way, repeats: int = 1) -> Result:
    """Free vectors whole, hidden by everybody's flips; other records when it is asked for."""
    (question, *rest) = way.parts
    if question.kind is not Kind.BITS:
        return _without_fakes(wish, way) if wish.protocol == FlipVector.name else None
    if rest or question.bins == 1:
        return None
    size = Layout(Form.BITS, question.bins).message_bytes
    if wish.most_fakes(repeats, size) < 0:
        return lacks(FlipVector.name, wish, way, size) if repeats == 1 else None
    crowd = wish.sure_crowd
    if crowd < LEAST_USERS:
        return Misfit(FlipVector.name, "more people who are sure to take part")
    ask = Ask(users=crowd, bits=question.bins, repeats=repeats if repeats > 1 else None)
    threshold = least_threshold(wish, way, "flip", ask, 0)
    if threshold is None:
        return Misfit(FlipVector.name, _FEW)
    threshold = max(threshold, capped(wish, question.bins * repeats))
    built = flip_bits(bins=question.bins, threshold=threshold, crowd=crowd, repeats=repeats)
    return offer(wish, [(question, built)])


def _without_fakes(wish: Wish, way: Way) -> Result:
    """One-valued records and sets among flips alone: flip-blank with the crowd and no fakes."""
    own = replace(
        wish, count_crowd=True, messages_per_user=min(wish.messages_per_user, len(way.parts))
    )
    if not counted(own):
        return Misfit(FlipVector.name, "more people who are sure to take part")
    found = flip_blank(own, way)
    if isinstance(found, Misfit):
        return Misfit(FlipVector.name, _FEW if found.needs == COINS else found.needs)
    return found


def clear_uniform(wish: Wish, way: Way) -> Result:
    """As many fakes as the bins need: more would only add noise."""
    clear = way.in_clear()
    if clear is None:
        return None
    if wish.local_epsilon is not None:
        return Misfit(ClearUniform.name, _IN_CLEAR)
    needs = [uniform_fakes(wish, way, part.bins) for part in clear.parts]
    sizes = [Layout(Form.INDEX, part.bins).message_bytes for part in clear.parts]
    total, sent = (
        sum(needs),
        [(wish.users + k) * size for k, size in zip(needs, sizes, strict=True)],
    )
    few_bytes = sum(sent) > (wish.bytes_per_user or math.inf) * wish.users
    if total <= len(needs) * replace(wish, bytes_per_user=None).most_fakes(len(needs)):
        if few_bytes:
            most = math.ceil(1000 * sum(sent) / wish.users) / 1000
            return Misfit(ClearUniform.name, f"{total:,} fakes: --bytes-per-user {most:.10g}")
        pairs = zip(clear.parts, needs, strict=True)
        return offer(wish, [(part, clear_uniform(bins=part.bins, fakes=k)) for part, k in pairs])
    need = f"{total:,} fakes, {total / sum(part.bins for part in clear.parts):.4g} a bin"
    thousandths = 1000 * len(needs) + -(-1000 * total // wish.users)
    if thousandths <= 1000 * MOST_MESSAGES:
        return Misfit(ClearUniform.name, f"{need}: --messages-per-user {thousandths / 1000:.10g}")
    users = -(-total // (round(MOST_MESSAGES) - len(needs)))
    return Misfit(
        ClearUniform.name,
        f"{need}: at least {users:,} users who send {MOST_MESSAGES:g} messages each",
    )


def clear_hashed(wish: Wish, way: Way) -> Result:
    """Values hashed into as many bins as the fakes can cover."""
    (question, *rest) = way.parts
    in_clear = question.kind is Kind.ONE and wish.local_epsilon is None
    if rest or not in_clear or wish.hash_seed is None:
        return None
    if question.hashed is not None or question.bins < _HUGE:
        return None
    bins = 0
    for size in (1, 2, 3) if wish.bytes_per_user else (3,):  # bytes of a bin's number
        fakes = wish.most_fakes(1, size)
        bins = max(bins, _most_bins(wish, way, min(question.bins, 256**size, fakes), fakes))
    if not 2 <= bins < question.bins:
        return None
    shared = Hashing(seed=wish.hash_seed, values=question.bins)
    hashed = Question(name=question.name, bins=bins, hashed=shared)
    return offer(wish, [(hashed, clear_uniform(bins=bins, fakes=uniform_fakes(wish, way, bins)))])


def clear_shaped(wish: Wish, way: Way) -> Result:
    """The law of least spread, drawn by mixes: the users send nothing but their reports."""
    clear = way.in_clear()
    if clear is None:
        return None
    if wish.local_epsilon is not None:
        return Misfit(ClearShaped.name, _IN_CLEAR)
    if not wish.mix_fakes:
        return Misfit(ClearShaped.name, "a mix that is trusted to draw the fakes: --mix-fakes")
    size = sum(Layout(Form.INDEX, part.bins).message_bytes for part in clear.parts)
    if wish.most_fakes(len(clear.parts), size / len(clear.parts)) < 0:
        return lacks(ClearShaped.name, wish, way, size)
    together = len(clear.parts) * wish.collections
    wished = wish.guarantee
    try:
        found = laws.calibrate(
            "clear-shaped", Ask(), wished.epsilon, wished.delta, collections=together
        )
    except ParameterError:
        return Misfit(ClearShaped.name, "a larger epsilon or delta: its fakes would be too many")
    shape = (found.ratio or 0, found.shift or 0, wish.mixes)
    return offer(wish, [(part, clear_shaped(bins=part.bins, *shape)) for part in clear.parts])


OFFERS: dict[str, Callable[[Wish, Way], Result]] = {
    ClearShaped.name: clear_shaped,
    ClearUniform.name: clear_uniform,
    FlipBlank.name: flip_blank,
    SingleBit.name: single_bit,
    FlipVector.name: flip,
}
"""What every protocol has to offer; in this order where errors are equal."""


def counted(wish: Wish) -> int:
    """People whose own flips are counted on as fakes, 0 unless that was wished for."""
    crowd = wish.sure_crowd if wish.count_crowd else 0
    return crowd if crowd >= LEAST_USERS else 0


def least_threshold(wish: Wish, way: Way, name: str, ask: Ask, fakes: int) -> int | None:
    """The least flip probability times 2^64 with ``fakes`` promised, None when nothing is told."""
    wished, together = wish.guarantee, len(way.parts) * wish.collections
    one = together == 1 and not ask.count_crowd and ask.max_set is None
    exact = one and name == "flip-blank"  # cheap and smooth: others have bounds that are neither
    try:
        return laws.calibrate(
            name, ask, wished.epsilon, wished.delta,
            collections=together, tolerance=_EXACT if exact else _SEARCHED,
            most=telling(wish, fakes, ask.repeats or 1),
        ).threshold  # fmt: skip
    except EffortError:
        raise
    except ParameterError:
        return None


def capped(wish: Wish, touched: int) -> int:
    """The least flip probability times 2^64 that keeps the local epsilon wished for, 0 without one.

    In every collection at most ``touched`` bits differ between two records, each telling ln(p/q) to
    whoever can trace messages to their senders.
    """
    if wish.local_epsilon is None:
        return 0
    # touched ln(p/q) <= cap, rounded to the safe side
    least = SCALE / (1.0 + math.exp(wish.local_epsilon / (touched * wish.collections)))
    return min(MOST_THRESHOLD - 1, math.ceil(least * (1.0 + 1e-15)) + 1)


def fewest(wish: Wish, way: Way, name: str, ask: Ask, threshold: int, most: int) -> int:
    """The fewest fakes, up to ``most``, with which ``threshold`` keeps the guarantee."""
    wished, together = wish.guarantee, len(way.parts) * wish.collections
    try:
        found = laws.calibrate(
            name, replace(ask, fakes=None, threshold=threshold), wished.epsilon, wished.delta,
            collections=together,
        ).fakes  # fmt: skip
    except ParameterError:
        return most
    return min(most, promised(found, wish.sure_fraction)) if found is not None else most


def _most_bins(wish: Wish, way: Way, most: int, fakes: int) -> int:
    """The most bins up to ``most`` that ``fakes`` cover, 0 for none.

    The fakes that are needed rise nearly as the bins: each guess is scaled by what the last missed.
    """
    over, fit, guess = most + 1, 0, most
    while over - fit > 1 and guess >= 2:
        need = uniform_fakes(wish, way, guess)
        if need <= fakes:
            fit, guess = guess, guess + max(1, (fakes - need) * guess // need)
        else:
            over, guess = guess, guess * fakes // need
        guess = max(fit + 1, min(guess, over - 1))
    return fit if fit >= 2 else 0


def uniform_fakes(wish: Wish, way: Way, bins: int) -> int:
    """Fakes that must be promised so that enough of them surely arrive."""
    wished, together = wish.guarantee, len(way.parts) * wish.collections
    sure = laws.calibrate(
        "clear-uniform", Ask(bins=bins), wished.epsilon, wished.delta, collections=together
    ).fakes
    if sure is None:
        raise InfeasibleError("bins", wanted="enough fakes", got=bins, do="raise epsilon")
    return promised(sure, wish.sure_fraction)


def lacks(name: str, wish: Wish, way: Way, size: int) -> Misfit:
    """The budget does not even hold a person's own messages."""
    if wish.bytes_per_user is not None and wish.bytes_per_user < size:
        return Misfit(name, f"{size:,} bytes of a person's own messages: --bytes-per-user {size}")
    return Misfit(name, f"{len(way.parts)} messages a record: --messages-per-user {len(way.parts)}")
