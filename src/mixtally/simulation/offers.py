"""The offer a simulation plays: the planner's best, with the repeats or the pairs asked for."""

import math
from collections.abc import Sequence
from dataclasses import replace

from msgspec import structs

from mixtally.errors import InfeasibleError, ParameterError, PlanError
from mixtally.planner import Choice, Infeasible, Planner, PlanOption, PlanRequest, choose, gains
from mixtally.planner.flip_options import flip
from mixtally.planner.reason import in_counts
from mixtally.privacy.accountant import Accountant, Record
from mixtally.privacy.terms import verify
from mixtally.privacy.composition import compose
from mixtally.records.certificate import Certificate
from mixtally.records.encodings import encodings
from mixtally.records.guarantee import Guarantee, Observer, arriving
from mixtally.records.layout import Form
from mixtally.records.mechanism import BitFlips, NoFakes, UniformFakes
from mixtally.records.plan import Plan
from mixtally.records.question import Kind, Question
from mixtally.simulation.parts import travels_whole


def best(
    wish: PlanRequest,
    planner: Planner | None = None,
    *,
    repeats: int | None = None,
    pairs: bool = False,
) -> tuple[PlanOption, str]:
    """The offer to play and why it was chosen.

    Raises InfeasibleError when nothing fits, ParameterError for repeats of anything but free bits,
    or for pairs where no offer sends several bits in one message.
    """
    if repeats is not None:
        return _repeated(wish, repeats, planner or Planner())
    if pairs and wish.question.kind is Kind.BITS and wish.protocol is None:
        wish = replace(wish, protocol="flip")  # the only one that sends bits together
    planner = planner or Planner()
    answer = choose(wish, planner)
    if not pairs:
        return answer.best, with_gains(wish, answer, planner)
    return _whole(answer)


def with_gains(wish: PlanRequest, answer: Choice, planner: Planner) -> str:
    """Why a plan was chosen, and last what would be better."""
    return " ".join([answer.reason, *(one.sentence for one in gains(wish, answer, planner))])


def _whole(answer: Choice) -> tuple[PlanOption, str]:
    for offer in (answer.best, *answer.others):
        if len(offer.plans) == 1 and offer.plan.mechanism.layout.form is Form.BITS:
            reason = answer.reason
            if offer is not answer.best:
                reason = (
                    f"{offer.name} sends records whole, so that pairs can be counted; "
                    f"{answer.best.name} would err by {in_counts(answer.best.standard_error)} "
                    f"instead of {in_counts(offer.standard_error)} counts."
                )
            return offer, reason
    raise ParameterError(
        "pairs",
        wanted="records of several bits that travel whole",
        got=answer.best.name,
        do="leave --pairs out, or allow more fakes or users",
    )


def _repeated(wish: PlanRequest, repeats: int, planner: Planner) -> tuple[PlanOption, str]:
    """Free vectors sent whole, ``repeats`` times."""
    question = wish.question
    if (
        question.kind is not Kind.BITS
        or question.bins < 2
        or wish.protocol
        not in (
            None,
            "flip",
        )
    ):
        raise ParameterError(
            "repeats",
            wanted="vectors of several bits and --protocol flip",
            got=f"{question.bins:,} bins of kind {question.kind}"
            + f" and --protocol {wish.protocol}" * (wish.protocol is not None),
            do="leave --repeats out",
        )
    if not 1 <= repeats <= wish.messages_per_user:
        raise ParameterError(
            "repeats",
            wanted=f"an integer in [1, {float(wish.messages_per_user):g}], the messages a user",
            got=repeats,
            do="raise --messages-per-user",
        )
    (whole, *_) = encodings(question)
    found = flip(wish, whole, planner.accountant, repeats)
    if not isinstance(found, PlanOption):
        needs = found.needs if isinstance(found, Infeasible) else "a larger budget of bytes"
        raise InfeasibleError(
            "plan",
            wanted=f"a vector of {question.bins} bits sent {repeats} times",
            got=f"{wish.users:,} users",
            do=f"flip needs {needs}",
        )
    return found, (
        f"Every vector is sent {repeats} times, as asked: a standard error of "
        f"{in_counts(found.standard_error)} counts."
    )


def given(
    plans: Sequence[Plan], question: Question, accountant: Accountant | None = None
) -> PlanOption:
    """Plans that were made before, as an offer: one, or those of a record's messages in order.

    Several are certified together at the delta they add up to. Raises PlanError when they are for
    other records, other people or another observer, or promise what is not true.
    """
    travels_whole(question, [plan.question for plan in plans])
    accountant = accountant or Accountant()
    for plan in plans:
        verify(plan, accountant)
    (first, *others) = plans
    if not others:
        return PlanOption((first,), first.guarantee, first.certificate, *_counted(first))
    if any(plan.users != first.users for plan in others):
        raise PlanError(
            "plans",
            wanted=f"{first.users:,} users in each",
            got="different numbers of users",
            do="give the plans that one call of `mixtally plan` wrote",
        )
    delta = min(0.1, math.fsum(plan.guarantee.delta for plan in plans) * (1.0 + 1e-9))
    whole = compose.epsilon_of([(plan, 1) for plan in plans], delta, accountant)
    promised = Guarantee(epsilon=whole.epsilon, delta=delta)
    return PlanOption(tuple(plans), promised, whole, *_counted(first))


def _counted(plan: Plan) -> tuple[int, int, float]:
    """One collection, everybody, and the share of their fakes and flips that is counted on."""
    return 1, plan.users, plan.honest_fraction


def seen_by_sums(offer: PlanOption, accountant: Accountant | None = None) -> Certificate:
    """What is promised against someone who sees only how often each bit was set.

    Sums are made from the messages, so the plan's own certificate always holds; where other
    people's flips hide more of a sum than of a message, a smaller delta is computed.
    """
    own = offer.certificate
    same = structs.replace(
        own,
        lower=0.0,
        observer=Observer.SUMS,
        source=f"sums are made from the messages, against which the plan has: {own.source}",
    )
    if len(offer.plans) > 1 or offer.collections > 1:
        return same
    mechanism = offer.plan.mechanism
    if not isinstance(mechanism, BitFlips) or mechanism.name == "single-bit":
        return structs.replace(
            own,
            observer=Observer.SUMS,
            source=f"sums and shuffled messages of this protocol tell the same; {own.source}",
        )
    summed = Record.of(_summed(mechanism, offer.plan), Observer.SUMS)
    found = (accountant or Accountant()).certificate(summed, own.epsilon)
    if found.upper > own.upper:
        return same
    return structs.replace(found, lower=0.0) if mechanism.fakes_promised else found


def _summed(mechanism: BitFlips, plan: Plan) -> BitFlips:
    """Everybody's flips hide a sum; blank fakes are left out, which never hides more."""
    if mechanism.max_set is None:
        return mechanism
    people = arriving(plan.users, plan.honest_fraction)
    sure = mechanism.surely(plan.honest_fraction)
    fakes = sure.fakes if isinstance(sure.fakes, UniformFakes) else NoFakes()
    return structs.replace(mechanism, crowd=people, fakes=fakes)
