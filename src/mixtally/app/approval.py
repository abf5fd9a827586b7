"""A collection on one printable page, for those who approve it, such as data protection officers.

What is asked of whom, what is promised in plain words and numbers, who must be trusted for what and
what remains otherwise, what it spends over time, how far counts err, what is kept, how it is
checked.
"""

import math

from mixtally import planner
from mixtally.app.elsewhere import elsewhere, elsewhere_table
from mixtally.records.contract import Contract, Plan
from mixtally.report import contract as told
from mixtally.report.document import Bullets, Document, Part, Section, Text
from mixtally.report.numbers import at_least, at_most, counted, printable
from mixtally.report.promise import half_width, known, of_plan, width_text
from mixtally.report.words import assumes, if_dishonest, likelier, losses, never_promised

_LISTED = 50
"""Labels that are printed, the rest are counted."""
_KEPT = Bullets.of(
    (
        "Mixes keep envelopes they cannot read until their round is over, then delete them and the "
        "round's key; they keep signed numbers of messages.",
        "The collector deletes messages and its key of a round once they are counted. It keeps the "
        "tally (counts with fakes in them), signed numbers of all mixes, and what it published.",
        "A person's device keeps which rounds it answered, and no answer.",
        "The first mix sees network addresses and times of those who send; logs hold neither.",
    )
)


def approval(plan: Plan, fingerprint: str, contract: Contract | None = None) -> Document:
    """The page of ``plan``, or of the ``contract`` that says who runs it; the file's fingerprint.

    Its facts are those of the plan or contract.
    """
    name = printable(plan.question.name if contract is None else contract.name)
    base = (
        told.plan_document(plan)
        if contract is None
        else told.contract_document(contract, fingerprint)
    )
    return Document(
        title=f"Collection for approval: {name}",
        promise=of_plan(plan),
        source=_source(contract),
        key=_key(plan),
        sections=lambda: _sections(plan, fingerprint, contract),
        summary=base.summary,
        facts=base.facts,
        closing=f"fingerprint {fingerprint}",
    )


def _source(contract: Contract | None) -> str:
    if contract is None:
        return "Computed from the integers of the plan. Who runs it is not decided yet."
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


def _sections(plan: Plan, fingerprint: str, contract: Contract | None) -> tuple[Section, ...]:
    suite = 1 if contract is None else contract.suite
    run = () if contract is None else (told.roles(contract), told.rounds(contract))
    return (
        Section("What is asked, and of whom", (*_asked(plan), *run)),
        Section("What is promised", _promised(plan)),
        Section("Who must be trusted, and for what", (told.trusted(plan),)),
        Section("If they are not honest", (Bullets.of(_without(plan)),)),
        Section("What it spends over time", (Bullets.of(_spent(plan)),)),
        Section("How far counts err", _errors(plan)),
        Section("What leaves a device, and what is kept", (told.sent(plan, suite), _KEPT)),
        Section("What is not promised", (Bullets.of(never_promised(plan)),)),
        Section("How to check this page", _checked(fingerprint)),
    )


def _asked(plan: Plan) -> tuple[Text | Bullets, ...]:
    question = plan.question
    parts: list[Text | Bullets] = [Text(told.asked(plan))]
    if question.labels is not None:
        names = [printable(label) for label in question.labels[:_LISTED]]
        more = len(question.labels) - len(names)
        listed = ", ".join(names) + (f", and {more:,} more" if more else "")
        parts.append(Text(f"Possible answers, fixed beforehand: {listed}."))
    crowd = f"At least {counted(plan.minimum_crowd, 'person', 'people')} must take part"
    share = "" if plan.honest_share == 1 else f", {float(plan.honest_share):.3g} of them honest"
    parts.append(Text(f"{crowd}{share}; with fewer nothing leaves the first mix."))
    return tuple(parts)


def _promised(plan: Plan) -> tuple[Text | Bullets, ...]:
    stated = plan.certificate
    grown = math.exp(stated.epsilon)
    right = 100.0 * (grown + stated.upper) / (grown + 1.0)
    return (
        Text(
            "In plain words: whatever anybody concludes from all messages that are collected is "
            f"{likelier(stated.epsilon, stated.upper, 'answer of a person', 'any other')}. Someone "
            "who could only toss a coin between two answers of a person is right in at most "
            f"{at_most(right, 3)} of 100 cases afterwards."
        ),
        Bullets.of(
            (
                f"In numbers: {losses(stated)} ({known(stated)}), for replacing one person's "
                f"answers in {counted(plan.collections, 'collection')}; delta lies between "
                f"{at_least(stated.lower, 3)} and {at_most(stated.upper, 3)}.",
                f"Against: anyone who sees all shuffled messages ({stated.observer}) and may know "
                "the answers of all other people.",
                f"{assumes(stated.assumption)}.",
                f"Proved by: {stated.source}.",
            )
        ),
    )


def _without(plan: Plan) -> list[str]:
    return [
        *if_dishonest(plan),
        "If one mix alone is dishonest it may leave messages out or add its own: counts are then "
        "wrong, and people stay protected as far as the table says.",
        "If the collector is dishonest it may publish what it likes; it learns no more about a "
        "person than is promised here.",
        "If somebody's own device is dishonest, that person alone is unprotected.",
    ]


def _spent(plan: Plan) -> list[str]:
    stated, times = plan.certificate, plan.collections
    often = "once" if times == 1 else f"up to {times:,} times"
    return [
        f"Anyone who answers {often} spends {losses(stated)} in all.",
        "Another collection among the same people spends its own on top: epsilons and deltas add "
        f"up at most, so that two like this come to epsilon <= {at_most(2 * stated.epsilon, 6)}, "
        f"delta <= {at_most(2 * stated.upper, 3)}. A ledger composes them exactly and refuses what "
        "would exceed a budget.",
        "Devices keep a diary and answer no more often than the plan allows.",
    ]


def _errors(plan: Plan) -> tuple[Part, ...]:
    expected = planner.forecast(plan)
    mean = planner.of_mean(plan)
    return (
        Text(
            f"When all {plan.users:,} take part one count errs by at most "
            f"{width_text(expected.half_width)} with 95 % confidence, none of all by more than "
            f"{width_text(expected.largest_error)}; a count of {expected.visible_count:,} is "
            "distinguishable from zero. Every count is published with its interval."
        ),
        *([] if mean is None else [Text(mean.sentence)]),
        elsewhere_table(plan, elsewhere(plan)),
    )


def _checked(fingerprint: str) -> tuple[Text | Bullets, ...]:
    return (
        Text(f"SHA-256 of the file this page describes: {fingerprint}"),
        Bullets.of(
            (
                "Every number here follows from the integers of that file: mixtally contract check "
                "FILE derives all of them again and refuses a file that states less than is true; "
                "with --rigorous a second program of its own arithmetic does.",
                "mixtally check attack FILE plays known attacks against it.",
                "Source code, derivations and tests are public; every claim names its proof.",
            )
        ),
    )
