"""What a person is told before they agree: who runs it, what is promised, what leaves.

Said from the numbers of the contract, in words of this program: what others wrote into a contract
stands only where their names are.
"""

import math
from collections.abc import Iterable

from mixtally.device.client.net.entries import DiaryCharge
from mixtally.device.client.net.trust import OpenRound, TrustedContract
from mixtally.device.contract.contract import LAYER_BYTES, Contract
from mixtally.device.contract.plan import ContractPlan

_LABELS = 12


def describe_consent(
    agreed: TrustedContract, given: OpenRound | None = None, spent: Iterable[DiaryCharge] = ()
) -> list[str]:
    """All of it, a line each, for a screen: no character of a line controls one.

    where
      given   the round that is to be answered; None for none yet
      spent   charges of the diary
    """
    contract = agreed.contract
    lines = [
        f"contract: {contract.name}, serial {contract.serial}",
        f"fingerprint: {contract.fingerprint}",
        *_question_lines(contract),
        *_role_lines(contract),
        *_promise_lines(contract),
        *_sending_lines(contract, given),
        *_cost_lines(agreed, spent),
    ]
    return [replace_unprintable(line) for line in lines]


def replace_unprintable(text: str) -> str:
    """``text`` with a mark in place of all that is not printed."""
    return "".join(one if one.isprintable() else "\ufffd" for one in text)


def _question_lines(contract: Contract) -> list[str]:
    plan, question = contract.plan, contract.plan.question
    if plan.edges is not None:
        form = f"a number, known by one of {question.bins:,} ranges"
    elif plan.grid is not None:
        low, high, points = plan.grid
        form = f"a number, rounded at random to one of {points:,} from {low:g} to {high:g}"
    elif plan.prefixes is not None:
        form = "a word, known by one symbol behind some prefixes"
    elif question.seed is not None:
        many = "a text," if question.kind == "one" else f"up to {question.max_set} texts, each"
        form = f"{many} known by one of {question.bins:,} hashes"
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


def _promise_lines(contract: Contract) -> list[str]:
    plan = contract.plan
    rounds = "its one round" if plan.collections == 1 else f"all {plan.collections} rounds"
    times = math.nextafter(math.exp(plan.epsilon), math.inf)
    left = (
        "nothing is left of it: your answer is known"
        if plan.local_epsilon is None
        else f"your own flips still hide you with epsilon {plan.local_epsilon:.6g}"
    )
    return [
        f"promise: epsilon {plan.epsilon:.6g} and delta {plan.delta:.6g} for {rounds} together: "
        "but for a chance of about delta, nothing that comes out is more than "
        f"{times:.4g} times as likely with your answer as with any other",
        f"it holds {_trust_condition(plan)}",
        f"if all mixes collude with the collector, {left}",
        "it does not hide that you take part",
    ]


def _trust_condition(plan: ContractPlan) -> str:
    """Who must be trusted for the promise."""
    if plan.is_self_protecting:
        return "whatever everybody else does: your own flips hide you"
    mix = "the mix" if plan.hops == 1 else f"any one of the {plan.hops} mixes"
    if plan.by_mixes:
        return f"if {mix} is honest, whatever everybody else does"
    first = "the mix is honest, and "
    if plan.hops > 1:
        first = "the first mix is honest, or those before the first honest one pass on all, and "
    return f"if {first}enough of the {plan.minimum_crowd:,} people or more who answer are honest"


def _sending_lines(contract: Contract, given: OpenRound | None) -> list[str]:
    layers = LAYER_BYTES[contract.suite] * (contract.plan.hops + 1)
    size = sum(part.most * (part.layout.message_bytes + layers) for part in contract.plan.parts)
    lines = [
        f"sent: once, {size:,} sealed bytes, to {contract.hops[0].address}; everybody sends as many"
    ]
    if given is not None:
        lines.append(f"round: {given.sheet.round} of at most {contract.plan.collections}")
    return lines


def _cost_lines(agreed: TrustedContract, spent: Iterable[DiaryCharge]) -> list[str]:
    charges, contract = list(spent), agreed.contract
    if any((one.name, one.plan) == (contract.name, agreed.plan) for one in charges):
        return ["cost: nothing more, it was charged with an earlier round"]
    epsilon = math.fsum([*(one.epsilon for one in charges), contract.plan.epsilon])
    delta = math.fsum([*(one.delta for one in charges), contract.plan.delta])
    return [
        f"cost: epsilon {contract.plan.epsilon:.6g}, delta {contract.plan.delta:.6g}; with all "
        f"that this diary knows of, {epsilon:.6g} and {delta:.6g}"
    ]
