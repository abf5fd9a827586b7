"""``attack``: every known attack on a plan, or on a claim, and what it proves."""

from dataclasses import dataclass
from typing import Any

from mixtally.app.mechanism import PROTOCOLS
from mixtally.app.options import values
from mixtally.app.parameters import ParameterOptions
from mixtally.attacks import Lab, Outcome, Target, Verdict, attacks_on, run_attacks
from mixtally.attacks.claim import ClaimedParameters, claim
from mixtally.attacks.memoized import MemoizedTarget
from mixtally.attacks.outcome import checked_level
from mixtally.attacks.target import of_plan
from mixtally.door import checks
from mixtally.door.planning import Plan
from mixtally.errors import ParameterError
from mixtally.privacy.accountant import Accountant
from mixtally.records.certificate import Certificate
from mixtally.report.numbers import at_least, at_most
from mixtally.simulation.play import play_parts
from mixtally.simulation.seeded import chance_of


@dataclass(frozen=True, slots=True, eq=False)
class Attacked:
    """What attacks proved or measured.

    where
      title         what was attacked
      promised      epsilon and delta that somebody promises; None of memoized answers
      certificate   what is computed of it: observer, status and assumption are in it; None of
                    memoized answers, whose losses are in the outcomes
      outcomes      one attack each
    """

    title: str
    promised: tuple[float, float] | None
    certificate: Certificate | None
    outcomes: tuple[Outcome, ...]

    @property
    def violated(self) -> list[str]:
        """The attacks that prove the promise false, but for the stated chance of an alarm."""
        return [one.attack for one in self.outcomes if one.verdict is Verdict.VIOLATED]

    def __repr__(self) -> str:
        lines = [f"attacks on {self.title}"]
        if self.promised is not None and self.certificate is not None:
            shown = self.certificate
            lines.append(
                f"promised: epsilon {at_most(self.promised[0], 6)}, delta "
                f"{at_most(self.promised[1], 6)}; computed exactly, delta there lies between "
                f"{at_least(shown.lower, 4)} and {at_most(shown.upper, 4)}"
            )
        for one in self.outcomes:
            most = "" if one.promised is None else f" of {one.promised:.4g}"
            lines.append(f"{one.title}: {one.attacked:.4g}{most} {one.unit}, {one.verdict}")
        return "\n".join([*lines, "An attack that fails proves nothing."])


@checks.in_python
@checks.takes(ParameterOptions)
def attack(
    target: Plan | str,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    only: str | None = None,
    runs: int | None = None,
    drawn: int | None = None,
    level: float = 0.9999,
    seed: int | None = None,
    honest_share: float | None = None,
    **given: Any,
) -> Attacked:
    """Every known attack on a plan, or on what somebody claims of a protocol's parameters.

    where
      target           a plan, or the name of a protocol
      epsilon, delta   what is claimed of that protocol with the parameters ``given``
      only             the name of one attack
      runs, drawn      games of each attack, 100 to 10^7 through the code, or with drawn counts
      level            confidence of all outcomes together, 0.5 to 1 - 1e-9
      seed             makes the games repeat
      honest_share  share of the fakes that the claim counts on; all when left out

    Raises ParameterError for arguments that are missing, not taken or out of range, PlanError for a
    plan whose certificate is false.

    >>> mixtally.attack("flip", epsilon=1, delta=1e-6, users=100, bits=1, flip=0.4, only="n-1")
    """
    accountant, seed = Accountant(), checks.maybe_whole("seed", seed)
    fraction = checks.maybe_number("honest share", honest_share)
    claimed = (
        checks.maybe_number("epsilon", epsilon),
        checks.maybe_number("delta", delta),
        None if fraction == 1.0 else fraction,
    )
    attacked = _target(target, claimed, given, accountant)
    lab = Lab(
        chance_of(seed),
        1.0 - checked_level(checks.number("level", level)),
        runs=checks.maybe_whole("runs", runs),
        drawn=checks.maybe_whole("drawn", drawn),
        play=play_parts,
        accountant=accountant,
    )
    chosen = checks.maybe_chosen("only", only, [*attacks_on(attacked)])
    outcomes = tuple(run_attacks(attacked, lab, chosen))
    if isinstance(attacked, MemoizedTarget):
        return Attacked(attacked.title, None, None, outcomes)
    promised = attacked.epsilon, attacked.delta
    return Attacked(attacked.title, promised, attacked.exact, outcomes)


def _target(
    target: object,
    claimed: tuple[float | None, float | None, float | None],
    given: dict[str, object],
    accountant: Accountant,
) -> Target | MemoizedTarget:
    """What is attacked; ParameterError for a plan with a claim beside it, and for neither."""
    if isinstance(target, Plan):
        if claimed != (None, None, None) or given:
            raise ParameterError(
                "attack", wanted="a plan alone", got="a claim beside it", do="leave that out"
            )
        return of_plan(target.record, accountant=accountant)
    name = checks.chosen("protocol", target, PROTOCOLS)
    parameters = values(checks.made(ParameterOptions, given))
    return claim(name, ClaimedParameters(**parameters), *claimed, accountant)
