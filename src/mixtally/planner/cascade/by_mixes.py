"""Cover that every mix draws: priced with the fakes of one, the honest one."""

from mixtally.ground.fixed import MOST_THRESHOLD
from mixtally.planner.cascade.desk import FOR_CAPS, Desk, Result
from mixtally.planner.cascade.parts import flipped, in_clear, rarely
from mixtally.planner.flip_options import COINS
from mixtally.planner.options import Infeasible
from mixtally.privacy.accountant import Record
from mixtally.privacy.divergence.in_clear import usual_ratio
from mixtally.privacy.terms import Stake
from mixtally.records.contract import BlanksRecipe, Cover, ShapedRecipe
from mixtally.records.encodings import Encoding
from mixtally.records.mechanism import BitFlips, BlankFakes, InClear, Parameter, ShapedFakes
from mixtally.records.question import MOST_BINS, Kind

_MORE_SHIFTS = 4


def shaped(desk: Desk, encoding: Encoding) -> Result:
    """Records in clear among shaped fakes."""
    request, clear = desk.wanted.request, encoding.in_clear()
    if clear is None:
        return None
    if request.local_epsilon is not None:
        return Infeasible("clear-shaped", "no --local-epsilon: answers travel in clear")
    parts = len(clear.parts)
    ratio = usual_ratio(request.guarantee.epsilon, parts * request.collections)
    one = Record.of(InClear(bins=2, fakes=ShapedFakes(ratio, 1)))
    found = desk.least_noise(one, Parameter.SHIFT, parts)
    if found is None or (fakes := found.message.mechanism.shaped) is None:
        return Infeasible("clear-shaped", "a larger epsilon or delta: its fakes would be too many")
    drawn = fakes.shift * sum(part.bins for part in clear.parts)
    if drawn > desk.wanted.drawn:
        return Infeasible("clear-shaped", f"--mix-messages {drawn}: {fakes.shift} a bin")
    for shift in range(fakes.shift, fakes.shift + _MORE_SHIFTS):
        recipe = ShapedRecipe(ratio, shift)
        stake = desk.stake(Cover.MIXES, [in_clear(p.bins, None, recipe) for p in clear.parts])
        if (option := desk.kept(stake)) is not None:
            return option
    return Infeasible("clear-shaped", "a larger epsilon or delta")


def blanks(desk: Desk, encoding: Encoding) -> Result:
    """Flipped values or sets among blanks that every mix flips as well."""
    if any(part.kind is Kind.BITS for part in encoding.parts):
        return None
    wanted, most = desk.wanted, max(part.max_set for part in encoding.parts)
    each = wanted.drawn // len(encoding.parts)
    if most > 1:
        # With k set bits q falls as K^(-1/k), so (n + h K) q is least at n / (h (k - 1)) a mix.
        each = min(each, wanted.request.users // (wanted.hops * (most - 1)))
    return _among_blanks(desk, encoding, "flip-blank", most, each)


def bits(desk: Desk, encoding: Encoding) -> Result:
    """Bits one by one among zeros that every mix flips as well."""
    if any(part.kind is not Kind.BITS or part.bins > 1 for part in encoding.parts):
        return None
    each = desk.wanted.drawn // len(encoding.parts)
    return _among_blanks(desk, encoding, "single-bit", None, each)


def _among_blanks(desk: Desk, encoding: Encoding, name: str, most: int | None, each: int) -> Result:
    wanted, request = desk.wanted, desk.wanted.request
    if each < 1:
        return Infeasible(name, f"--mix-messages {len(encoding.parts)}: a blank for each part")
    sure = BitFlips(
        bins=MOST_BINS if most else 1,
        threshold=MOST_THRESHOLD,
        max_set=most,
        fakes=BlankFakes(each),
    )
    least = desk.least_flips(encoding, sure, each * wanted.hops)
    if least is None:
        return Infeasible(name, COINS)
    guarantee = request.guarantee
    messages = (each + 1) * len(encoding.parts) * request.collections
    rare = rarely(FOR_CAPS * guarantee.delta, guarantee.epsilon, messages)

    def made(threshold: int) -> Stake:
        recipe = BlanksRecipe(each, threshold)
        parts = [flipped(q, threshold, recipe=recipe, rare=rare) for q in encoding.parts]
        return desk.stake(Cover.MIXES, parts)

    return desk.first_kept(made, least, Infeasible(name, COINS))
