"""Attacks of hostile mixes on running roles (mixes and collector).

``mixtally check attack --network`` calls ``attack_network``. The attacks, and what they prove, are
in ``lab.attacks.network``.
"""

from dataclasses import dataclass

from mixtally.accounting.accountant import Accountant
from mixtally.app.attack import describe_promise
from mixtally.errors import in_range
from mixtally.lab.attacks import AttackLab, Outcome, Target, Verdict
from mixtally.lab.attacks.network.document import network_document
from mixtally.lab.attacks.network.rows import run_rows
from mixtally.lab.attacks.outcome import checked_level
from mixtally.lab.attacks.target import target_of_plan
from mixtally.model.contract import Contract, Plan
from mixtally.model.guarantee import Guarantee
from mixtally.model.question import Question
from mixtally.planning import PlanRequest, choose
from mixtally.primitives.chance import SecureChance
from mixtally.primitives.progress import Progress
from mixtally.report.document import Document


@dataclass(frozen=True, slots=True)
class NetworkAttacked:
    """Results of attacks of hostile mixes on running roles.

    Parameters
    ----------
    target : Target
        The attacked plan, with its guarantee.
    outcomes : tuple of Outcome
        One outcome for each attack by each mix.
    level : float
        Joint confidence of all outcomes.
    """

    target: Target
    outcomes: tuple[Outcome, ...]
    level: float

    @property
    def violations(self) -> list[str]:
        """The rows that refute the guarantee, up to the false-alarm probability."""
        return [one.title for one in self.outcomes if one.verdict is Verdict.VIOLATED]

    def document(self) -> Document:
        """Return the report with a row for each attack by each mix."""
        facts = {
            "target": self.target.title,
            **self.target.facts(),
            "level": self.level,
            "roles": "in this process, without sockets",
            "violated": self.violations,
            "attacks": [one.facts() for one in self.outcomes],
        }
        return network_document(
            self.target.title, describe_promise(self.target), self.outcomes, facts
        )


def attack_network(
    given: Plan | Contract | None,
    *,
    only: str | None,
    level: float,
    trials: int | None,
    seconds: float,
    progress: Progress,
) -> NetworkAttacked:
    """Attack the running code of a plan's roles; for each attack, each mix is hostile in turn.

    The other mixes are honest, except in the attack in which all mixes but one are hostile. The
    collector is always hostile. The result has a row for each attack by each mix.

    Parameters
    ----------
    given : Plan, Contract or None
        The plan to attack, or a contract whose plan is attacked; None for a small plan.
    only : str or None
        The name of the only attack to run; None for all.
    level : float
        Confidence of the whole table.
    trials : int or None
        The number of runs of each row, for each of the two answers that the attacker distinguishes.
        None for as many as the time allows.
    seconds : float
        The time limit for all rows together. It is exceeded if the smallest allowed number of runs
        takes longer.
    progress : Progress
        Called after each row.

    Raises
    ------
    ParameterError
        If an option is out of range, or the plan cannot be played with real roles.
    PlanError
        If the certificate of the plan is false.
    DataError
        If the folders of the roles cannot be written.
    """
    in_range("--seconds", seconds, 1.0, 86_400.0, "30 is enough to notice a broken promise")
    plan = given.plan if isinstance(given, Contract) else given or small_plan()
    accountant = Accountant()
    target = target_of_plan(plan, accountant=accountant)
    lab = AttackLab(
        SecureChance(), 1.0 - checked_level(level), runs=trials, progress=progress,
        accountant=accountant,
    )  # fmt: skip
    return NetworkAttacked(
        target, tuple(run_rows(plan, target, lab, only=only, seconds=seconds)), level
    )


def small_plan() -> Plan:
    """Return a plan whose rounds are small: two mixes draw four fakes for each of 33 bins."""
    request = PlanRequest(
        question=Question(name="an example", bins=33),
        guarantee=Guarantee(epsilon=2.0, delta=0.01),
        users=1000,
        hops=2,
        mix_fakes=True,
        mix_messages=200,
        protocol="clear-shaped",
    )
    return choose(request).plan
