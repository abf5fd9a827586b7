"""Plan options of mechanisms that flip: their least noise for the request, or what they lack."""

from dataclasses import replace

from msgspec import structs

from mixtally.ground.fixed import MOST_THRESHOLD
from mixtally.planner.build import option, tells_nothing
from mixtally.planner.noise import capped, counted, fewest_fakes, least_flips
from mixtally.planner.options import Infeasible, Likely, PlanOption
from mixtally.planner.request import PlanRequest
from mixtally.privacy.accountant import Accountant
from mixtally.records.encodings import Encoding, encodings
from mixtally.records.guarantee import LEAST_USERS, arriving
from mixtally.records.layout import Form, Layout
from mixtally.records.mechanism import BitFlips, BlankFakes, NoFakes, Parameter
from mixtally.records.question import Kind

Result = PlanOption | Likely | Infeasible | None
"""None when the protocol cannot hold such a record at all."""

COINS = "more fakes or a larger epsilon: with so many flips nobody could be told from all people"
_FEW = "more people or a larger epsilon: with so many flips nobody could be told from all of them"
_SURE = "more people who are sure to take part"
_LARGE = 100_000
"""So many sure people hide a bit so well that fakes need not be tried."""


def flip_blank(request: PlanRequest, encoding: Encoding, accountant: Accountant) -> Result:
    """All fakes the budget allows, and the least flip probability for those that surely arrive.

    Where no fake is sure and the crowd is counted, other people's flips alone hide.
    """
    if any(part.kind is Kind.BITS for part in encoding.parts):
        return None
    sizes = [Layout(Form.BITS, part.bins).message_bytes for part in encoding.parts]
    fakes = request.most_fakes(len(sizes), sum(sizes) / len(sizes))
    if fakes < 0:
        return lacks("flip-blank", request, encoding, sum(sizes))
    most, crowd = max(part.max_set for part in encoding.parts), counted(request)
    if most > 1:
        # With k set bits q falls as K^(-1/k), so (n + K) q is least at n / (k - 1) fakes.
        fakes = min(fakes, request.users // (most - 1))
    arrive = arriving(fakes, request.sure_fraction)
    if crowd and not arrive:
        fakes = 0
    sure = BitFlips(
        bins=max(part.bins for part in encoding.parts),
        threshold=MOST_THRESHOLD,
        max_set=most,
        fakes=_blanks(crowd, arrive),
        crowd=crowd,
    )
    floor = capped(request, 2 * most * len(sizes))
    useless = _by_floor(request, structs.replace(sure, fakes=_blanks(crowd, 0)), floor)
    if useless is not None:
        return useless
    threshold = least_flips(accountant, request, encoding, sure, fakes)
    if threshold is None:
        return Infeasible("flip-blank", COINS)
    if floor > threshold:  # more noise than the guarantee needs: fakes would only add to it
        threshold = floor
        if fakes:
            fakes = fewest_fakes(accountant, request, encoding, sure, floor, fakes)
    made = structs.replace(sure, threshold=threshold, fakes=_blanks(crowd, fakes))
    return option(
        request,
        [
            (part, structs.replace(made, bins=part.bins, max_set=part.max_set))
            for part in encoding.parts
        ],
        accountant,
    )


def single_bit(request: PlanRequest, encoding: Encoding, accountant: Accountant) -> Result:
    """Bits one by one among fake zeros and everybody's flips."""
    if any(part.kind is not Kind.BITS or part.bins > 1 for part in encoding.parts):
        return None
    bits = len(encoding.parts)
    fakes, crowd = request.most_fakes(bits), request.sure_crowd
    if fakes < 0:
        return lacks("single-bit", request, encoding, bits)
    if crowd < LEAST_USERS:
        return Infeasible("single-bit", _SURE)
    results, floor = list[PlanOption | Likely | Infeasible](), capped(request, bits)
    for count in dict.fromkeys((0, fakes)):  # in a large crowd fakes hide no better than people
        sure = BitFlips(
            bins=1,
            threshold=MOST_THRESHOLD,
            max_set=None,
            crowd=crowd,
            fakes=_blanks(crowd, arriving(count, request.sure_fraction)),
        )
        sent = structs.replace(sure, fakes=_blanks(crowd, count))
        useless = _by_floor(request, sent, floor)
        if useless is not None:
            results.append(useless)
            continue
        threshold = least_flips(accountant, request, encoding, sure, count)
        if threshold is not None:
            built = sent.having(Parameter.FLIP, max(threshold, floor))
            found = option(request, [(part, built) for part in encoding.parts], accountant)
            if isinstance(found, Likely) and request.likely:
                return found
            results.append(found)
        if results and crowd * request.sure_fraction > _LARGE:
            break
    likely = [result for result in results if isinstance(result, Likely)]
    if likely:
        return min(likely, key=lambda one: one.standard_error)
    options = [result for result in results if isinstance(result, PlanOption)]
    if options:
        return min(options, key=lambda one: (round(one.standard_error, 2), one.messages_per_user))
    return results[0] if results else Infeasible("single-bit", COINS)


def flip(
    request: PlanRequest, encoding: Encoding, accountant: Accountant, repeats: int = 1
) -> Result:
    """Free vectors whole, hidden by everybody's flips; other records when requested by name."""
    (question, *rest) = encoding.parts
    if question.kind is not Kind.BITS:
        return _without_fakes(request, encoding, accountant) if request.protocol == "flip" else None
    if rest or question.bins == 1:
        return None
    size = Layout(Form.BITS, question.bins).message_bytes
    if request.most_fakes(repeats, size) < 0:
        return lacks("flip", request, encoding, size) if repeats == 1 else None
    crowd = request.sure_crowd
    if crowd < LEAST_USERS:
        return Infeasible("flip", _SURE)
    sure = BitFlips(
        bins=question.bins,
        threshold=MOST_THRESHOLD,
        max_set=None,
        fakes=NoFakes(),
        crowd=crowd,
        repeats=repeats,
    )
    floor = capped(request, question.bins * repeats)
    useless = _by_floor(request, sure, floor)
    if useless is not None:
        return useless
    if request.likely:  # bit by bit they err less, and are told apart sooner
        split, bit = encodings(question)[-1], structs.replace(sure, bins=1, repeats=1)
        if least_flips(accountant, request, split, bit, 0) is None:
            return Infeasible("flip", _FEW)
    threshold = least_flips(accountant, request, encoding, sure, 0)
    if threshold is None:
        return Infeasible("flip", _FEW)
    threshold = max(threshold, floor)
    return option(request, [(question, structs.replace(sure, threshold=threshold))], accountant)


def _blanks(crowd: int, count: int) -> BlankFakes | NoFakes:
    """No fakes and none that arrive are the same to a crowd: one search is enough for both."""
    return BlankFakes(count) if count or not crowd else NoFakes()


def _by_floor(request: PlanRequest, sent: BitFlips, floor: int) -> Infeasible | None:
    """Why nothing is learned with the flips that a local epsilon wants, before any are searched."""
    if not floor:
        return None
    error = sent.having(Parameter.FLIP, floor).standard_error(request.users)
    return tells_nothing(request, sent.name, error)


def _without_fakes(request: PlanRequest, encoding: Encoding, accountant: Accountant) -> Result:
    """One-valued records and sets among other people's flips alone."""
    own = replace(
        request,
        count_crowd=True,
        messages_per_user=min(request.messages_per_user, len(encoding.parts)),
    )
    if not counted(own):
        return Infeasible("flip", _SURE)
    found = flip_blank(own, encoding, accountant)
    if isinstance(found, Infeasible):
        return Infeasible("flip", _FEW if found.needs == COINS else found.needs)
    return found


def lacks(name: str, request: PlanRequest, encoding: Encoding, size: int) -> Infeasible:
    """The budget does not even hold a person's own messages."""
    if request.bytes_per_user is not None and request.bytes_per_user < size:
        return Infeasible(
            name, f"{size:,} bytes of a person's own messages: --bytes-per-user {size}"
        )
    return Infeasible(
        name, f"{len(encoding.parts)} messages a record: --messages-per-user {len(encoding.parts)}"
    )
