"""Attacks on a promise, each in a file of its own: what is promised beside what an attacker proves.

An attack that fails proves nothing. One that succeeds proves the promise false, but for the chance
of a false alarm, which is stated and shared by all attacks of a run.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from mixtally.errors import not_one_of
from mixtally.lab.attacks import (
    averaging,
    collection,
    difference,
    linking,
    outsiders,
    poisoning,
    randomizer,
    responses,
    selection,
    tracking,
)
from mixtally.lab.attacks.memoized import MemoizedTarget
from mixtally.lab.attacks.outcome import AttackLab, Outcome, Verdict
from mixtally.lab.attacks.target import Target

__all__ = [
    "MEMOIZED_ATTACKS",
    "PLAN_ATTACKS",
    "AttackLab",
    "MemoizedTarget",
    "Outcome",
    "Target",
    "Verdict",
    "attacks_on",
    "run_attacks",
]

PLAN_ATTACKS: dict[str, Callable[[Target, AttackLab], list[Outcome]]] = {
    outsiders.TELL_APART: outsiders.tell_apart,
    outsiders.N_MINUS_1: outsiders.n_minus_1,
    difference.NAME: difference.run,
    outsiders.COLLUSION: outsiders.collusion,
    selection.NAME: selection.run,
    averaging.NAME: averaging.run,
    poisoning.NAME: poisoning.run,
    randomizer.NAME: randomizer.run,
    collection.NAME: collection.run,
}
MEMOIZED_ATTACKS: dict[str, Callable[[MemoizedTarget, AttackLab], list[Outcome]]] = {
    one.NAME: one.run_memoized for one in (averaging, linking, tracking, responses)
}


def run_attacks(
    target: Target | MemoizedTarget, lab: AttackLab, only: str | None = None
) -> list[Outcome]:
    """Every attack that fits ``target``, or one of them; they share ``lab.error``.

    Raises ParameterError for the name of an attack that does not fit.
    """
    fitting = attacks_on(target)
    if only is not None and only not in fitting:
        known = only in {**PLAN_ATTACKS, **MEMOIZED_ATTACKS}
        do = "choose one: it is for the other kind of target" if known else ""
        raise not_one_of("attack", only, list(fitting), do)
    chosen = [only] if only is not None else list(fitting)
    lab = replace(lab, error=lab.error / len(chosen))
    return [outcome for name in chosen for outcome in fitting[name](lab)]


def attacks_on(target: Target | MemoizedTarget) -> dict[str, Callable[[AttackLab], list[Outcome]]]:
    """By name, every attack that fits ``target``."""
    if isinstance(target, Target):
        return {
            name: partial(run, target)
            for name, run in PLAN_ATTACKS.items()
            if name != selection.NAME or selection.has_coins(target)
        }
    return {name: partial(run, target) for name, run in MEMOIZED_ATTACKS.items()}
