"""The promise in plain words, and what is not promised."""

import math
from collections.abc import Sequence
from typing import Any

from mixtally.records.certificate import Certificate
from mixtally.records.contract import Terms
from mixtally.records.mechanism import FakeSource
from mixtally.records.plan import Plan
from mixtally.report.numbers import at_least, at_most, error_text

TOOK_PART = "That someone took part is not hidden, only what they answered."


def fact(name: str, value: Any) -> str:
    """One of a plan's facts for people; privacy numbers are rounded to their own side."""
    if value is None:
        return "unbounded"
    if isinstance(value, float):
        if name in ("delta", "local_epsilon", "epsilon", "flip_probability"):
            return at_most(value, 6)
        if name in ("standard_error", "collision_error"):
            return error_text(value)
        return at_least(value, 6) if name == "delta_lower" else f"{value:.6g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def promise(plan: Plan | Terms, whole: Certificate | None = None) -> list[str]:
    """The certificate, a sentence or two a paragraph; that of several plans when it is given."""
    shown = plan.certificate if whole is None else whole
    return [
        "Take any person and any two answers they could have given. Whatever is seen by someone "
        "who receives every shuffled message, and who may know everybody else's answer, is "
        f"{likelier(shown.epsilon, shown.upper, 'answer')}.",
        f"In the field's terms: {losses(shown)}, one person's record substituted, "
        f"observer: {shown.observer}.",
        f"Status: {shown.status}. Counting on no more than is named below, delta lies between "
        f"{at_least(shown.lower, 6)} and {at_most(shown.upper, 6)}. Source: {shown.source}.",
        f"It rests on this: {shown.assumption}.",
    ]


def likelier(
    epsilon: float, delta: float, one: str, other: str = "the other", digits: int = 3
) -> str:
    """What epsilon and delta mean to people: what is seen under ``one`` answer and ``other``."""
    return (
        f"at most {at_most(math.exp(epsilon), digits)} times as likely under one {one} as under "
        f"{other}, give or take a probability of {at_most(delta)}"
    )


def losses(shown: Certificate) -> str:
    """Epsilon and delta as the field writes them."""
    return f"epsilon = {at_most(shown.epsilon, 6)}, delta <= {at_most(shown.upper, 6)}"


def seen_by_sums(plan: Certificate, sums: Certificate) -> list[str]:
    """What is promised against someone who sees only sums, beside what the plan promises."""
    return [
        f"Someone who sees only the sums: {losses(sums)}, where the plan promises "
        f"{at_most(plan.upper, 6)} against someone who sees every message.",
        f"Source: {sums.source}. It rests on this: {sums.assumption}.",
    ]


def not_promised(plans: Sequence[Plan]) -> list[str]:
    """What a careful reader must not take for granted; ``plans`` of all messages of a record."""
    mechanism = plans[0].mechanism
    reach = 1.0 / mechanism.gain
    every_bin = "every bin" if mechanism.flip_threshold is not None else "any one bin"
    return [
        without_mixes(sum(plan.mechanism.local_epsilon for plan in plans)),
        _without_fakes(plans[0]),
        TOOK_PART,
        "Facts about the whole crowd are published on purpose, also those that let others guess "
        "about its members.",
        "Promises add up: a person who answers again, here or elsewhere, spends epsilon and delta "
        "again.",
        f"Nothing here stops a person from lying: each dishonest message can move {every_bin} by "
        f"{reach:.3g} counts.",
        "The errors are those of the noise. If the crowd is a sample of a larger population, the "
        "sampling error comes on top.",
    ]


def without_mixes(local: float | None) -> str:
    """What is left when all mixes collude: a local epsilon; None or infinite for nothing."""
    if local is None or not math.isfinite(local):
        return "If every mix colludes with the collector, each answer is seen in clear."
    return f"If every mix colludes with the collector, a local epsilon of {at_most(local)} is left."


def _without_fakes(plan: Plan) -> str:
    if plan.mechanism.fake_source is FakeSource.MIX:
        return (
            "If the mix that draws the fakes tells their numbers to the collector nothing is left."
        )
    sure = plan.mechanism.surely(plan.honest_fraction).fakes_promised
    return f"If fewer than {sure:,} honest fakes arrive delta is larger than stated."
