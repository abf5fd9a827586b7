"""The least-error offer of all protocols, with the reason."""

from mixtally.errors import InfeasibleError
from mixtally.planner.answer import Answer, Misfit, Offer
from mixtally.planner.offers import OFFERS
from mixtally.planner.wish import Wish
from mixtally.protocols.base import FakeSource


def choose(wish: Wish) -> Answer:
    """The plan of least standard error that keeps the guarantee within the budget.

    Raises InfeasibleError when none does; its message names what would.
    """
    names = [wish.protocol] if wish.protocol else list(OFFERS)
    results = [OFFERS[name](wish) for name in names]
    misfits = tuple(r for r in results if isinstance(r, Misfit))
    offers = sorted(
        (r for r in results if isinstance(r, Offer)), key=lambda offer: offer.standard_error
    )
    if not offers:
        raise InfeasibleError(
            "plan",
            wanted=f"epsilon {wish.guarantee.epsilon:g} and delta {wish.guarantee.delta:g} for "
            f"{wish.users:,} users and {wish.question.bins:,} bins",
            got=f"a budget of {_messages(wish)}"
            + (" and a mix that draws fakes" if wish.mix_fakes else ""),
            do="; ".join(f"{m.protocol} needs {m.needs}" for m in misfits),
        )
    best, *others = offers
    return Answer(best, tuple(others), misfits, _reason(wish, best, others, misfits))


def _reason(wish: Wish, best: Offer, others: list[Offer], misfits: tuple[Misfit, ...]) -> str:
    sentences = [_why(wish, best)]
    sentences += [
        f"{offer.plan.protocol} would err {offer.standard_error / best.standard_error:.3g} times "
        "as much."
        for offer in others
    ]
    if wish.local_epsilon is not None:
        sentences.append(f"The flips also keep a local epsilon of {wish.local_epsilon:g}.")
    sentences += [f"{misfit.protocol} would need {misfit.needs}." for misfit in misfits]
    return " ".join(sentences)


def _why(wish: Wish, best: Offer) -> str:
    name, protocol = best.plan.protocol, best.protocol
    if wish.protocol:
        lead = f"{name} was asked for"
    elif protocol.fake_source is FakeSource.MIX:
        lead = f"{name} errs least, because a mix may draw the fakes"
    else:
        lead = f"{name} errs least within the budget of {_messages(wish)}"
    if protocol.fakes == 0 and wish.count_crowd:
        return (
            f"{lead}: without fakes other people's flips hide a person, with a standard error of "
            f"{best.standard_error:.4g} counts; one fake a user would cut it."
        )
    if protocol.fakes == 0:
        return (
            f"{lead}: without fakes only local randomization is left, with a standard error of "
            f"{best.standard_error:.4g} counts; one fake a user, or --count-crowd, would cut it."
        )
    share = protocol.fakes / wish.users
    return (
        f"{lead}: {protocol.fakes:,} fakes ({share:.3g} a user) leave a standard error of "
        f"{best.standard_error:.4g} counts."
    )


def _messages(wish: Wish) -> str:
    budget = float(wish.messages_per_user)
    return f"{budget:.10g} message{'s' * (budget > 1)} a user"
