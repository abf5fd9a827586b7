"""Why a plan was chosen, in sentences."""

from mixtally.planner.answer import Misfit, Offer
from mixtally.planner.wish import Wish
from mixtally.records.mechanism import BitFlips, FakeSource


def reason(wish: Wish, best: Offer, others: list[Offer], misfits: list[Misfit]) -> str:
    """What was chosen and what it costs, how much worse the others are, what would not fit."""
    sentences = [_why(wish, best)]
    if len(best.plans) > 1:
        sentences.append(
            f"A record travels as {len(best.plans)} messages, each through mixes of its own."
        )
    hashed = best.plan.question.hashed
    if hashed is not None:
        values = "Any values" if hashed.values is None else f"{hashed.values:,} values"
        sentences.append(
            f"{values} share {best.bins:,} bins: values that meet in a bin are counted together, "
            "which the error includes at its worst, everybody else holding one same value."
        )
    sentences += [
        f"{offer.name} would err {offer.standard_error / best.standard_error:.3g} times as much"
        + _cost(best, offer)
        for offer in others
    ]
    if wish.collections > 1:
        sentences.append(f"The guarantee is for all {wish.collections} collections together.")
    if wish.local_epsilon is not None:
        sentences.append(f"The flips also keep a local epsilon of {wish.local_epsilon:g}.")
    needs: dict[str, list[str]] = {}
    for misfit in misfits:
        needs.setdefault(misfit.needs, []).append(misfit.protocol)
    sentences += [f"{' and '.join(names)} would need {need}." for need, names in needs.items()]
    return " ".join(sentences)


def budget(wish: Wish) -> str:
    """The budget in words."""
    messages = float(wish.messages_per_user)
    words = f"{messages:.10g} message{'s' * (messages > 1)} a user"
    if wish.bytes_per_user is not None:
        words += f" and {wish.bytes_per_user:,.10g} bytes"
    return words


def _cost(best: Offer, offer: Offer) -> str:
    """How much less an alternative sends, where that is at least a fifth."""
    if offer.bytes_per_user < 0.8 * best.bytes_per_user:
        return f", with {offer.bytes_per_user / best.bytes_per_user:.2g} of the bytes."
    return "."


def _why(wish: Wish, best: Offer) -> str:
    name, mechanism = best.name, best.mechanism
    if wish.protocol:
        lead = f"{name} was asked for"
    elif mechanism.fake_source is FakeSource.MIX:
        lead = f"{name} errs least, because a mix may draw the fakes"
    else:
        lead = f"{name} errs least within the budget of {budget(wish)}"
    fakes = sum(plan.mechanism.fakes_promised for plan in best.plans)
    error = f"a standard error of {best.standard_error:.4g} counts"
    if fakes:
        return f"{lead}: {fakes:,} fakes ({fakes / wish.users:.3g} a user) leave {error}."
    if isinstance(mechanism, BitFlips) and mechanism.crowd:
        more = _more(wish, best, "one fake a user") * (best.plan.protocol == "flip-blank")
        return f"{lead}: without fakes other people's flips hide a person, with {error}{more}."
    more = _more(wish, best, "one fake a user, or --count-crowd,")
    return f"{lead}: without fakes only local randomization is left, with {error}{more}."


def _more(wish: Wish, best: Offer, what: str) -> str:
    """What fakes would do: where the budget has some they were weighed, but for ``flip``."""
    if wish.local_epsilon is not None:
        return ""
    size = best.bytes_per_user / best.messages_per_user
    if wish.protocol != "flip" and wish.most_fakes(len(best.plans), size) > 0:
        return "; the fakes of the budget would bring more noise than they hide"
    return f"; {what} could cut it"
