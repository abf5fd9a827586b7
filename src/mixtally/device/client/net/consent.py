"""The text that a person reads before they agree: operators, guarantee, and what is sent.

The sentences are composed by this program from the numbers of the contract. Text that others wrote
appears only as names of the contract, the question, its answers and the roles.
"""

import math
from collections.abc import Iterable
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction

from mixtally.device.client.net.entries import DiaryCharge
from mixtally.device.client.net.trust import OpenRound, TrustedContract
from mixtally.device.contract.contract import LAYER_BYTES, Contract
from mixtally.device.contract.plan import ContractPlan
from mixtally.device.contract.roles import format_verifier_key
from mixtally.device.wire.rotation import Rotation

# Answers that are listed by name.
_LABELS = 12


def describe_consent(
    agreed: TrustedContract, given: OpenRound | None = None, spent: Iterable[DiaryCharge] = ()
) -> list[str]:
    """Return the lines of the consent text, with a replacement for unprintable characters.

    Parameters
    ----------
    agreed : TrustedContract
        The verified contract.
    given : OpenRound, optional
        The round to be answered, whose number the text then states.
    spent : iterable of DiaryCharge
        The charges in the diary, to which the text adds the cost of the contract.
    """
    contract = agreed.contract
    lines = [
        f"contract: {contract.name}, serial {contract.serial}",
        f"fingerprint: {contract.fingerprint}",
        *_question_lines(contract),
        *_role_lines(contract),
        *(_rotation_line(one) for one in agreed.rotations),
        *_promise_lines(contract),
        *_sending_lines(contract, given),
        *_cost_lines(agreed, spent),
    ]
    return ["".join(one if one.isprintable() else "\ufffd" for one in line) for line in lines]


def _question_lines(contract: Contract) -> list[str]:
    plan, question = contract.plan, contract.plan.question
    if plan.edges is not None:
        form = f"a number, sent as one of {question.bins:,} ranges"
    elif plan.grid is not None:
        low, high, points = plan.grid
        form = f"a number, rounded at random to one of {points:,} from {low:g} to {high:g}"
    elif plan.prefixes is not None:
        form = "a word, sent as the symbol that follows a given prefix"
    elif question.seed is not None:
        many = "a text," if question.kind == "one" else f"up to {question.max_set} texts, each"
        form = f"{many} sent as one of {question.bins:,} hashes"
    elif question.kind == "bits":
        each = f" to each of {question.bins} questions" if question.bins > 1 else ""
        form = f"yes or no{each}"
    elif question.attributes is not None:
        form = f"{len(question.attributes)} values"
    elif question.kind == "set":
        form = f"up to {question.max_set} of {question.bins:,}"
    else:
        form = f"one of {question.bins:,}"
    lines = [f"question: {question.name}", f"an answer is {form}"]
    if question.labels is not None:
        more = "" if question.bins <= _LABELS else f", and {question.bins - _LABELS:,} more"
        lines.append(f"answers: {', '.join(question.labels[:_LABELS])}{more}")
    return lines


def _role_lines(contract: Contract) -> list[str]:
    roles = [(f"mix {place}", role) for place, role in enumerate(contract.hops, 1)]
    return [
        f"{place}: {role.name}, run by {role.operator}, {role.address}"
        for place, role in (*roles, ("collector", contract.collector))
    ]


def _rotation_line(rotation: Rotation) -> str:
    new = format_verifier_key(rotation.role, rotation.new)
    return f"{rotation.role} has a new key, signed by the old one that you trusted: {new}"


def _promise_lines(contract: Contract) -> list[str]:
    plan = contract.plan
    several = f"all {plan.collections} rounds together"
    rounds = "its one round" if plan.collections == 1 else several
    times = math.nextafter(math.exp(plan.epsilon), math.inf)  # the error of exp is below this
    without_mixes = (
        "no privacy is left: your answer is exposed"
        if plan.local_epsilon is None
        else f"your own flips still protect you with epsilon {_at_most(plan.local_epsilon)}"
    )
    return [
        f"promise: epsilon {_at_most(plan.epsilon)} and delta {_at_most(plan.delta)} for {rounds}: "
        f"any outcome is at most {_at_most(times, digits=4)} times as likely with your "
        "answer as with another, "
        "except with probability delta",
        f"it holds {_trust_condition(plan)}",
        f"if all mixes collude with the collector, {without_mixes}",
        "the promise does not hide that you take part",
    ]


def _trust_condition(plan: ContractPlan) -> str:
    """Return who must be trusted for the guarantee."""
    if plan.is_self_protecting:
        return "whatever everybody else does: your own flips protect you"
    mix = "the mix" if plan.hops == 1 else f"any one of the {plan.hops} mixes"
    if plan.by_mixes:
        return f"if {mix} is honest, whatever everybody else does"
    first = "the mix is honest, and "
    if plan.hops > 1:
        first = "the first mix is honest, or mixes before the first honest one drop nothing, and "
    return f"if {first}enough of the at least {plan.minimum_crowd:,} people who answer are honest"


def _sending_lines(contract: Contract, given: OpenRound | None) -> list[str]:
    layers = LAYER_BYTES[contract.suite] * (contract.plan.hops + 1)
    size = sum(part.most * (part.layout.message_bytes + layers) for part in contract.plan.parts)
    lines = [
        f"sent: once, {size:,} encrypted bytes, equal for all people, to {contract.hops[0].address}"
    ]
    if contract.admission == "codes":
        lines.append(
            "admission: one answer a round for each code; the first mix sees which code came, and "
            "nobody sees what it said; who handed out the codes may know who has which"
        )
    if given is not None:
        lines.append(f"round: {given.sheet.round} of at most {contract.plan.collections}")
    return lines


def _cost_lines(agreed: TrustedContract, spent: Iterable[DiaryCharge]) -> list[str]:
    charges, contract = list(spent), agreed.contract
    if any((one.name, one.plan) == (contract.name, agreed.plan) for one in charges):
        return ["cost: nothing more, because an earlier round was charged for all rounds"]
    plan = contract.plan
    epsilon = _at_most(plan.epsilon, *(one.epsilon for one in charges))
    delta = _at_most(plan.delta, *(one.delta for one in charges))
    return [
        f"cost: epsilon {_at_most(plan.epsilon)}, delta {_at_most(plan.delta)}; in total "
        f"with the charges in this diary, {epsilon} and {delta}"
    ]


def _at_most(*values: float, digits: int = 6) -> str:
    """Return the sum of privacy numbers as text, rounded up to ``digits`` significant digits.

    Each number stands for its shortest decimal form, and these are added exactly.
    """
    total = sum(Fraction(repr(value)) for value in values)
    context = Context(prec=digits, rounding=ROUND_CEILING)
    rounded = context.divide(Decimal(total.numerator), Decimal(total.denominator))
    return f"{float(rounded):.{digits}g}"
