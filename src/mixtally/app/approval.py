"""Approval page of a collection, for example for a data protection officer.

The page states the purpose and legal basis, the question, the guarantee in words and numbers, who
is trusted with what, the errors of counts, what is stored, and how to verify all of it. Every
statement follows from the plan.
"""

import math

from mixtally import planning as planner
from mixtally.app.approval_details import ApprovalDetails
from mixtally.app.model_comparison import compare_models, comparison_table
from mixtally.errors import pluralize
from mixtally.model.contract import Contract, Cover, Plan
from mixtally.report import contract as contract_texts
from mixtally.report.document import Bullets, Document, Part, Section, Table, Text
from mixtally.report.numbers import at_least, at_most, percent, printable
from mixtally.report.promise import exactness_text, half_width, promise_of_plan, width_text
from mixtally.report.words import (
    assumption_text,
    if_dishonest,
    likelihood_text,
    loss_text,
    never_promised,
    relies_on_people,
)

_LISTED = 50
"""Largest number of labels that are listed. Of further labels only the number is stated."""
_SIGNED = "." * 14
"""Dots on which a person writes by hand in a printed form."""


def approval(
    plan: Plan,
    fingerprint: str,
    contract: Contract | None,
    details: ApprovalDetails | None,
) -> Document:
    """Return the approval page of a plan, or of a contract.

    Parameters
    ----------
    plan : Plan
        The plan, which is the plan of the contract if there is one.
    fingerprint : str
        SHA-256 of the file that the page describes, 64 hexadecimal digits.
    contract : Contract or None
        The contract that names the operators; None if the operators are not decided yet.
    details : ApprovalDetails or None
        Statements of the controller; None if there are none.
    """
    name = printable(plan.question.name if contract is None else contract.name)
    stated = ApprovalDetails() if details is None else details
    base = (
        contract_texts.plan_document(plan)
        if contract is None
        else contract_texts.contract_document(contract, fingerprint)
    )
    return Document(
        title=f"Collection for approval: {name}",
        promise=promise_of_plan(plan),
        source=_source(contract),
        key=_key(plan),
        sections=lambda: _sections(plan, fingerprint, contract, stated),
        summary=base.summary,
        facts=base.facts,
        closing=f"fingerprint {fingerprint}",
    )


def _source(contract: Contract | None) -> str:
    if contract is None:
        return "Computed from the integers of the plan. Its operators are not decided yet."
    return f"Computed from the integers of contract {contract.name}, serial {contract.serial}."


def _key(plan: Plan) -> tuple[tuple[str, str], ...]:
    stated = plan.certificate
    return (
        ("epsilon", at_most(stated.epsilon, 6)),
        ("delta", at_most(stated.upper, 3)),
        ("error of a count, 95 %", width_text(half_width(plan.standard_error, 0.95))),
        ("people expected", f"{plan.users:,}"),
        ("collections", f"{plan.collections:,}"),
    )


def _sections(
    plan: Plan, fingerprint: str, contract: Contract | None, details: ApprovalDetails
) -> tuple[Section, ...]:
    suite = 1 if contract is None else contract.suite
    columns = ("item", "statement")
    statements = Table(columns, details.statements(), words=frozenset({"statement"}))
    run = (
        ()
        if contract is None
        else (contract_texts.roles_table(contract), contract_texts.rounds_text(contract))
    )
    return (
        Section(
            "Purpose and responsibility",
            (statements,),
        ),
        Section("What is asked, and who answers", (*_question_texts(plan), *run)),
        Section("What is promised", _promise_texts(plan)),
        Section("Who must be trusted, and for what", (contract_texts.trust_table(plan),)),
        Section("If they are not honest", (Bullets.of(_failure_lines(plan)),)),
        Section("Privacy spent over time", (Bullets.of(_spending_lines(plan)),)),
        Section("Errors of counts", _errors(plan)),
        Section(
            "What a device sends, and what is stored",
            (contract_texts.sending_table(plan, suite), _storage_bullets(plan)),
        ),
        Section("What is not promised", (Bullets.of(never_promised(plan)),)),
        Section("How to verify this page", _verification_texts(fingerprint)),
        Section("Sign-off", (_sign_off(details),)),
    )


def _sign_off(details: ApprovalDetails) -> Table:
    columns = ("role", "name", "date", "signature")
    rows = [(printable(role), *[_SIGNED] * 3) for role in details.sign_off]
    return Table(columns, rows, words=frozenset(columns))


def _storage_bullets(plan: Plan) -> Bullets:
    """Return the statements about the data that every role stores."""
    by_people = any(part.own is not None for part in plan.parts)
    tally = "the tally, fakes included" if plan.cover is Cover.MIXES or by_people else "the tally"
    return Bullets.of(
        (
            "Mixes store encrypted envelopes, which they cannot read, until the round is over. "
            "Then they delete the envelopes and their key of the round. They keep signed numbers "
            "of messages.",
            "The collector deletes the messages and its key of the round after counting. It keeps "
            f"{tally}, the signed numbers of all mixes, and the published results.",
            "A person's device stores which rounds it answered, but no answer.",
            "The first mix sees the network addresses of devices and when they send. Logs contain "
            "neither.",
        )
    )


def _question_texts(plan: Plan) -> tuple[Text | Bullets, ...]:
    question = plan.question
    parts: list[Text | Bullets] = [Text(contract_texts.question_text(plan))]
    if question.labels is not None:
        names = [printable(label) for label in question.labels[:_LISTED]]
        more = len(question.labels) - len(names)
        listed = ", ".join(names) + (f", and {more:,} more" if more else "")
        parts.append(Text(f"Possible answers, fixed beforehand: {listed}."))
    parts.append(contract_texts.minimum_crowd_text(plan))
    if relies_on_people(plan) and plan.honest_share < 1:
        parts.append(
            Text(
                f"The guarantee assumes that {percent(plan.honest_share)} of the minimum crowd "
                "follow the protocol."
            )
        )
    return tuple(parts)


def _promise_texts(plan: Plan) -> tuple[Text | Bullets, ...]:
    stated = plan.certificate
    grown = math.exp(stated.epsilon)
    # If two answers are equally likely, (epsilon, delta)-differential privacy limits the
    # probability of guessing the right one to (e^epsilon + delta) / (e^epsilon + 1).
    right = 100.0 * (grown + stated.upper) / (grown + 1.0)
    return (
        Text(
            "In plain words: any conclusion from all collected messages is "
            f"{likelihood_text(stated.epsilon, stated.upper, 'answer of a person', 'any other')}. "
            "Someone for whom two answers of a person were equally likely guesses the right one in "
            f"at most {at_most(right, 3)} of 100 cases afterwards."
        ),
        Bullets.of(
            (
                f"In numbers: {loss_text(stated)} ({exactness_text(stated)}), for replacing one "
                f"person's "
                f"answers in {pluralize(plan.collections, 'collection')}; delta lies between "
                f"{at_least(stated.lower, 3)} and {at_most(stated.upper, 3)}.",
                f"Against: anyone who sees all shuffled messages ({stated.observer}) and may know "
                "the answers of all other people.",
                f"{assumption_text(stated.assumption)}.",
                f"Proved by: {stated.source}.",
            )
        ),
    )


def _failure_lines(plan: Plan) -> list[str]:
    """Describe the remaining guarantee if mixes, the collector or devices are dishonest."""
    people = f"at least {plan.honest_people:,} people who follow the protocol take part"
    wrong = "If the mix is dishonest, counts can be wrong as well."
    if plan.hops > 1:
        wrong = "If one mix alone is dishonest, counts can be wrong."
        wrong += " Answers stay protected as promised"
        if relies_on_people(plan):
            wrong += (
                " if the first honest mix receives the messages of at least "
                f"{plan.honest_people:,} people who follow the protocol"
            )
        wrong += "."
    others = f" The guarantee holds for all others if {people}." * relies_on_people(plan)
    return [
        *if_dishonest(plan),
        wrong,
        "If the collector is dishonest, it can publish wrong counts. It learns no more about a "
        "person than is promised here.",
        f"If the device of a person is dishonest, that person is not protected.{others}",
    ]


def _spending_lines(plan: Plan) -> list[str]:
    stated, times = plan.certificate, plan.collections
    often = "once" if times == 1 else f"up to {times:,} times"
    return [
        f"A person who answers {often} spends {loss_text(stated)} in total.",
        "Another collection from the same people adds at most its own epsilon and delta: two such "
        f"collections have epsilon <= {at_most(2 * stated.epsilon, 6)} and "
        f"delta <= {at_most(2 * stated.upper, 3)}. A ledger composes collections exactly, and "
        "refuses a charge that would exceed its budget.",
        "Devices keep a diary and answer no more often than the plan allows.",
    ]


def _errors(plan: Plan) -> tuple[Part, ...]:
    expected = planner.forecast(plan)
    mean = planner.forecast_mean(plan)
    return (
        Text(
            f"If all {plan.users:,} take part, the error of one count is at most "
            f"{width_text(expected.half_width)} with 95 % confidence. The largest error of all "
            f"counts is at most {width_text(expected.largest_error)}, with the same confidence. "
            f"A count of {expected.visible_count:,} is "
            "distinguishable from zero. Every count is published with its interval."
        ),
        *([] if mean is None else [Text(mean.sentence)]),
        comparison_table(plan, compare_models(plan)),
    )


def _verification_texts(fingerprint: str) -> tuple[Text | Bullets, ...]:
    return (
        Text(f"SHA-256 of the file that this page describes: {fingerprint}"),
        Bullets.of(
            (
                "Every number here follows from the integers of that file. The command "
                "mixtally contract check FILE derives all of them again, and refuses a file that "
                "understates a number. With --rigorous (needs mixtally[rigorous]) a second program "
                "repeats the derivation with interval arithmetic.",
                "The command mixtally check attack FILE runs known attacks on the plan.",
                "Source code, derivations and tests are public; every claim names its proof.",
            )
        ),
    )
