"""Attacks on a promise, each in a file of its own: what is promised beside what an attacker proves.

An attack that fails proves nothing. One that succeeds proves the promise false, but for the chance
of a false alarm, which is stated and shared by all attacks of a run.
"""

from collections.abc import Callable
from dataclasses import replace

from mixtally.attacks import (
    averaging,
    collection,
    collusion,
    difference,
    linking,
    n_minus_1,
    poisoning,
    randomizer,
    responses,
    tell_apart,
    tracking,
)
from mixtally.attacks.memoized import MemoizedTarget
from mixtally.attacks.outcome import Lab, Outcome, Verdict
from mixtally.attacks.target import Target
from mixtally.errors import ParameterError

__all__ = [
    "MEMOIZED_ATTACKS",
    "PLAN_ATTACKS",
    "Lab",
    "MemoizedTarget",
    "Outcome",
    "Target",
    "Verdict",
    "assault",
]

PLAN_ATTACKS: dict[str, Callable[[Target, Lab], list[Outcome]]] = {
    one.NAME: one.run
    for one in (
        tell_apart,
        n_minus_1,
        difference,
        collusion,
        averaging,
        poisoning,
        randomizer,
        collection,
    )
}
MEMOIZED_ATTACKS: dict[str, Callable[[MemoizedTarget, Lab], list[Outcome]]] = {
    one.NAME: one.run_memoized for one in (averaging, linking, tracking, responses)
}


def assault(target: Target | MemoizedTarget, lab: Lab, only: str | None = None) -> list[Outcome]:
    """Every attack that fits ``target``, or one of them; they share ``lab.error``.

    Raises ParameterError for the name of an attack that does not fit.
    """
    names = PLAN_ATTACKS if isinstance(target, Target) else MEMOIZED_ATTACKS
    if only is not None and only not in names:
        other = " (it is for the other kind of target)" * (
            only in {**PLAN_ATTACKS, **MEMOIZED_ATTACKS}
        )
        raise ParameterError(
            "attack", wanted="one of " + ", ".join(names), got=repr(only) + other, do="choose one"
        )
    chosen = [only] if only is not None else list(names)
    lab = replace(lab, error=lab.error / len(chosen))
    outcomes: list[Outcome] = []
    for name in chosen:
        if isinstance(target, Target):
            outcomes += PLAN_ATTACKS[name](target, lab)
        else:
            outcomes += MEMOIZED_ATTACKS[name](target, lab)
    return outcomes
