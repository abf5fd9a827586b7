"""n-1 on a contract: one hop is honest, everybody else works together against one person.

Hops before the honest one leave out what others sent; those behind it, the collector and the other
people tell what they sent, which is subtracted. What is left is the person's messages among what
the honest hop draws or, where people bring the cover, among what reaches it: where it is the first,
the messages of as many honest people as the plan count on; behind a dishonest hop, nothing but the
person's own fakes.

So a contract whose cover every mix draws keeps its promise wherever the honest hop stands. One
whose cover people bring keeps it behind an honest first hop, and is seen to break it behind
another: its assumption says so.
"""

import math
from collections import Counter
from dataclasses import replace

import numpy as np

from mixtally.attacks.against import outcomes
from mixtally.attacks.cascade_checks import drawn_checks
from mixtally.attacks.checks import audit
from mixtally.attacks.game import ComposedGame
from mixtally.attacks.games import game_among
from mixtally.attacks.outcome import Hypothesis, Lab, Outcome
from mixtally.attacks.refute import clopper_pearson_lower, clopper_pearson_upper
from mixtally.attacks.senders import HopSenders
from mixtally.records.contract import Contract, Cover, Plan
from mixtally.records.guarantee import LEAST_DELTA

NAME = "n-1 in a cascade"
TEST = (
    "likelihood ratio of all messages that are left; optimal but for bits of a crowd beside fakes"
)


def cascade(contract: Contract, lab: Lab) -> list[Outcome]:
    """The game with the honest hop in each place, and an audit of what devices and hops draw.

    They share ``lab.error``. Each outcome of a game tells, as ``delta_seen``, the largest delta at
    the contract's epsilon that its runs prove, wrong with at most its false-alarm rate. Raises
    ParameterError for more messages than can be played where no distribution is drawn from.
    """
    plan = contract.plan
    lab = replace(lab, error=lab.error / (plan.hops + 1))
    found = [one for place in range(1, plan.hops + 1) for one in _behind(plan, place, lab)]
    checks, messages = drawn_checks(plan, lab)
    played = f"{messages:,} messages that devices and hops add, in every bin"
    return [*found, audit(NAME, checks, lab, messages, played)]


def _behind(plan: Plan, place: int, lab: Lab) -> list[Outcome]:
    """Of the one honest hop in that ``place``, counted from 1."""
    stated, case = plan.certificate, f"only hop {place} of {plan.hops} is honest"
    if _bare(plan, place):
        case += ", others' messages were left out before it"
    promise = Hypothesis(NAME, case, stated.epsilon, max(LEAST_DELTA, stated.upper), TEST)
    game = ComposedGame(
        tuple(
            (game_among(who, plan.guarantee.epsilon), times)
            for who, times in senders_behind(plan, place).items()
        )
    )
    return [_with_delta(one) for one in outcomes(promise, game, lab)]


def senders_behind(plan: Plan, place: int) -> dict[HopSenders, int]:
    """Who sends behind the one honest hop in that ``place``, and how often a person does so."""
    alone = _bare(plan, place) or plan.cover is Cover.MIXES
    honest = 1 if alone else plan.sure_people
    others = honest - 1 if plan.count_flips else 0
    return {
        HopSenders.of(part, honest, others): plan.collections * times
        for part, times in Counter(plan.parts).items()
    }


def _bare(plan: Plan, place: int) -> bool:
    """Whether nobody else's cover reaches the honest hop."""
    return plan.cover is Cover.PEOPLE and place > 1


def _with_delta(outcome: Outcome) -> Outcome:
    """The outcome with the delta that its event proves at the promised epsilon."""
    numbers, grow = outcome.numbers, math.exp(outcome.promised or 0.0)
    hits, alarms, runs = (numbers[name] for name in ("hits", "alarms", "tested_runs"))
    each = numbers["false_alarm_rate"] / 2.0
    low = float(clopper_pearson_lower(np.array(hits), runs, each))
    high = float(clopper_pearson_upper(np.array(alarms), runs, each))
    return replace(outcome, numbers={**numbers, "delta_seen": max(0.0, low - grow * high)})
