"""Attacks on a guarantee: the claimed privacy loss compared with a measured lower bound.

``mixtally check attack`` and the Python interface call ``run_attacks``. Each attack has a file of
its own. A failed attack proves nothing. A successful attack proves that the guarantee is false,
except with the stated false-alarm probability. This probability is divided equally among the
attacks of one call.

Terms that are used in all files of the package:

- A *world* is one of two neighboring datasets: the person holds record u, or record v.
- A *game* draws the messages of the person and of everyone who hides the person, in both worlds.
  One such draw is a *run*. The attacker reduces a run to one number, the *statistic*.
- An *event* is a statistic beyond a cut. A *hit* is the event in the world that it favors, and an
  *alarm* is the event in the other world.
- A *fake* is a dummy message without an answer, drawn by a device or by a *hop*, that is, one mix
  of the chain. It is *blank* (no bit set, then flipped), *uniform* (a random bin), or *shaped* (a
  random number of fakes for every bin). A device may toss a *coin* for one more fake.
- A *part* of a plan is a stream of messages, to which every device contributes the same piece of
  its record. A record is *in clear* if its message is not randomized. A *cap* is the largest number
  of set bits of a message. *Pads* are bins that stand for the missing members of a set.
- A *plane* is a set of possible values. Instead of a value, a message can name a plane that
  contains the true value. Values are points of a finite geometry. The planes of one *direction* are
  parallel, so that each value is in exactly one of them.
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
    """Run every attack that fits the target, or only one of them, and return all outcomes.

    All attacks together report the violation of a true guarantee with probability at most
    ``lab.error``.

    Parameters
    ----------
    target : Target or MemoizedTarget
        The plan, or the memoized answers, under attack.
    lab : AttackLab
        The randomness, the number of runs and the allowed false-alarm probability.
    only : str, optional
        The name of the only attack to run.

    Raises
    ------
    ParameterError
        If ``only`` is not the name of an attack that fits the target.
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
    """Return a function for each attack that fits the target, by the attack's name."""
    if isinstance(target, Target):
        return {
            name: partial(run, target)
            for name, run in PLAN_ATTACKS.items()
            if name != selection.NAME or selection.has_coins(target)
        }
    return {name: partial(run, target) for name, run in MEMOIZED_ATTACKS.items()}
