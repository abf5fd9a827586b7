"""The guarantee of a plan in sentences, and what it does not promise.

Documents of plans, contracts and results contain these sentences. A *cover* is what hides an
answer: fakes (dummy messages) and flips. Either every mix, also called a hop, or people draw the
cover.
"""

import math
from typing import Any

from mixtally.errors import pluralize
from mixtally.model.certificate import Certificate
from mixtally.model.contract import Cover, Plan
from mixtally.model.guarantee import LEAST_USERS
from mixtally.report.numbers import at_least, at_most, error_text

# The beginnings of assumptions in certificates, which ``assumption_text`` turns into sentences.
_NOBODY, _ANYHOW, _IF = "none: ", "holds whatever everybody else does: ", "holds if "
TOOK_PART = "That someone took part is not hidden, only what they answered."
"""The sentence on participation, which no plan hides."""


def format_fact(name: str, value: Any) -> str:
    """Return one fact of a plan as text; privacy numbers are rounded in the safe direction."""
    if value is None:
        return "unbounded"
    if isinstance(value, float):
        if name in ("delta", "local_epsilon", "epsilon", "flip_probability", "replace_probability"):
            return at_most(value, 6)
        if name in ("standard_error", "standard_error_at"):
            return error_text(value)
        return at_least(value, 6) if name == "delta_lower" else f"{value:.6g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def promise_paragraphs(plan: Plan, all_rounds: Certificate | None = None) -> list[str]:
    """Return the certificate in paragraphs.

    Parameters
    ----------
    plan : Plan
        The plan, whose certificate is described.
    all_rounds : Certificate or None
        The certificate of all rounds together; None for a plan with one round.
    """
    shown = plan.certificate if all_rounds is None else all_rounds
    return [
        "What an observer who sees every shuffled message, and knows all other answers, concludes "
        f"about a person is {likelihood_text(shown.epsilon, shown.upper, 'answer')}.",
        f"This is differential privacy for replacing one person's record: {loss_text(shown)}, "
        f"observer: {shown.observer}.",
        f"Status: {shown.status}; delta lies between {at_least(shown.lower, 6)} and "
        f"{at_most(shown.upper, 6)}. Source: {shown.source}.",
        f"{assumption_text(shown.assumption)}.",
    ]


def likelihood_text(
    epsilon: float, delta: float, answer: str, alternative: str = "the other", digits: int = 3
) -> str:
    """Explain epsilon and delta by how much likelier an outcome can be with one answer.

    Parameters
    ----------
    epsilon : float
        The privacy loss in nats.
    delta : float
        The delta of the guarantee, in [0, 1].
    answer : str
        The noun for an answer, such as "vote".
    alternative : str
        The word for another such answer.
    digits : int
        The number of significant digits of e^epsilon.
    """
    return (
        f"at most {at_most(math.exp(epsilon), digits)} times as likely under one {answer} as under "
        f"{alternative}, plus a probability of {at_most(delta)}"
    )


def assumption_text(assumption: str) -> str:
    """Return the assumption of a certificate as a sentence."""
    for words in (_NOBODY, _ANYHOW):
        if assumption.startswith(words):
            return f"Assumes nothing of others: {assumption.removeprefix(words)}"
    return f"Assumes: {assumption.removeprefix(_IF)}"


def loss_text(certificate: Certificate) -> str:
    """Return epsilon and delta in the notation of the field."""
    return f"epsilon = {at_most(certificate.epsilon, 6)}, delta <= {at_most(certificate.upper, 6)}"


def describe_sums_observer(plan: Certificate, sums: Certificate) -> list[str]:
    """Compare the guarantee against an observer of sums with that of the plan, in sentences.

    Parameters
    ----------
    plan : Certificate
        The certificate against an observer of all messages.
    sums : Certificate
        The certificate against an observer of sums only.
    """
    return [
        f"Someone who sees only the sums: {loss_text(sums)}, where the plan promises "
        f"{at_most(plan.upper, 6)} against someone who sees every message.",
        f"Source: {sums.source}. {assumption_text(sums.assumption)}.",
    ]


def not_promised(plan: Plan) -> list[str]:
    """Return sentences on what the guarantee does not include."""
    return [*if_dishonest(plan), *never_promised(plan)]


def never_promised(plan: Plan) -> list[str]:
    """List the risks that remain even if everybody follows the protocol."""
    clear = all(part.threshold is None for part in plan.parts)
    # One more set bit changes the estimate of a bin by the inverse of the gain.
    reach = max(1.0 / part.mechanism(fakes=1, crowd=LEAST_USERS).gain for part in plan.parts)
    often = "once" if plan.collections == 1 else f"{plan.collections:,} times"
    return [
        _wrong_counts(plan),
        TOOK_PART,
        "Facts about the whole crowd are published on purpose, also those that let others guess "
        "about its members.",
        f"Privacy losses add up: a person who answers more than {often}, or elsewhere too, loses "
        "more.",
        f"Nothing here stops a person from lying: each dishonest message can move "
        f"{'any one' if clear else 'every'} bin by {reach:.3g} counts.",
        "The errors are those of the noise. If the crowd is a sample of a larger population, the "
        "sampling error comes on top.",
    ]


def _wrong_counts(plan: Plan) -> str:
    """Return how a dishonest mix can make counts wrong without being detected."""
    sentence = "Counts are right only if every mix is honest: a dishonest one can replace messages"
    if plan.cover is Cover.MIXES:
        sentence += " and put the fakes that it draws into any bin"
    if any(part.own is not None and part.own.coin for part in plan.parts):
        sentence += (
            ". It can also leave some out: how many fakes people send is random, so nobody else "
            "knows how many messages must arrive"
        )
    return f"{sentence}."


def if_dishonest(plan: Plan) -> list[str]:
    """Describe the remaining guarantee if the trusted participants break the protocol."""
    return [without_mixes(plan.local_epsilon), *_without_cover(plan)]


def without_mixes(local: float | None) -> str:
    """Describe the guarantee if all mixes collude.

    ``local`` is the epsilon of this guarantee. There is none if it is None or infinite.
    """
    if local is None or not math.isfinite(local):
        return "If every mix colludes with the collector, each answer is exposed."
    return f"If every mix colludes with the collector, a local epsilon of {at_most(local)} is left."


def relies_on_people(plan: Plan) -> bool:
    """Return whether the guarantee relies on other people's fakes, flips or replaced values."""
    return plan.cover is Cover.PEOPLE and (plan.count_flips or plan.fakes_counted > 0)


def _without_cover(plan: Plan) -> list[str]:
    """Describe the guarantee if the participants who draw the cover omit or reveal it."""
    if plan.cover is Cover.MIXES:
        who = "the mix" if plan.hops == 1 else "every mix"
        remainder = "nothing protects an answer from someone who knows all others"
        if plan.local_epsilon is not None and math.isfinite(plan.local_epsilon):
            remainder = "only the local epsilon is left"
        return [f"If {who} tells the collector which fakes it drew, {remainder}."]
    if not relies_on_people(plan):
        return []
    many = pluralize(plan.honest_people, "person who follows", "people who follow")
    found = [f"If fewer than {many} the protocol take part, delta is larger than stated."]
    if plan.hops > 1:
        found.append(
            "If a mix before the first honest one leaves out other people's messages, delta is "
            "larger than stated."
        )
    return found
