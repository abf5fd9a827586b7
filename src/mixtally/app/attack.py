"""Attacks on a plan, on a contract, or on a claim about a protocol.

The command line and Python both call ``attack``. An attack plays *games*: it draws messages in two
worlds, in which one person holds different records, and tries to distinguish the worlds. The
messages come from the production code. ``lab.attacks`` has the attacks and their derivations.
"""

from dataclasses import dataclass, replace
from typing import Annotated, Any

from mixtally.accounting.accountant import Accountant
from mixtally.accounting.parameters import Parameters
from mixtally.app import options as o
from mixtally.app.matrix import fake_row_of, price_matrix, shuffle_matrix
from mixtally.app.mechanism import PROTOCOLS, ParameterOptions
from mixtally.errors import ParameterError, join_words, not_together
from mixtally.lab.attacks import (
    MEMOIZED_ATTACKS,
    PLAN_ATTACKS,
    AttackLab,
    MemoizedTarget,
    Outcome,
    Target,
    Verdict,
    run_attacks,
)
from mixtally.lab.attacks.claim import build_target
from mixtally.lab.attacks.document import document
from mixtally.lab.attacks.matrix_game import MatrixTarget
from mixtally.lab.attacks.matrix_game import attack_matrix as play_matrix
from mixtally.lab.attacks.outcome import checked_level
from mixtally.lab.attacks.target import target_of_plan
from mixtally.lab.simulation.play import play_parts
from mixtally.lab.simulation.seeded import build_chance
from mixtally.model.certificate import Certificate
from mixtally.model.contract import Contract, Plan
from mixtally.model.matrix import RandomizerMatrix
from mixtally.primitives.progress import Progress, ignore_progress
from mixtally.report.document import Document
from mixtally.report.numbers import at_least, at_most

_FALSE = "The guarantee is false, because the exact delta is above the stated delta."


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimOptions:
    """The guarantee that someone claims for a mechanism."""

    protocol: Annotated[
        str | None,
        o.option(
            "--protocol",
            f"Attack a claim: {', '.join(PROTOCOLS[:-1])} or {PROTOCOLS[-1]}.",
            "NAME",
        ),
    ] = None
    epsilon: Annotated[float | None, o.option("--epsilon", "The claimed epsilon.", "E")] = None
    delta: Annotated[float | None, o.option("--delta", "The claimed delta.", "D")] = None
    parameters: ParameterOptions
    honest_share: Annotated[
        float | None,
        o.option("--honest-share", "Share of the fakes that the claim relies on (default 1).", "H"),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GameOptions:
    """The attacks to run, and the number of games."""

    only: Annotated[
        str | None,
        o.option(
            "--only",
            f"Run one attack: {', '.join(PLAN_ATTACKS)}; for memoized answers "
            f"{', '.join(MEMOIZED_ATTACKS)}.",
            "NAME",
        ),
    ] = None
    runs: Annotated[
        int | None, o.whole_option("--runs", "Games per attack (default: as many as take seconds).")
    ] = None
    drawn: Annotated[
        int | None,
        o.whole_option(
            "--drawn", "Games with counts drawn directly (default: as many as take seconds)."
        ),
    ] = None
    level: Annotated[
        float, o.option("--level", "Confidence of the whole table, 0.5 to 1 - 1e-9.", "L")
    ] = 0.9999
    unverified: Annotated[
        bool, o.option("--unverified", "Attack a plan even if its certificate is false.")
    ] = False
    seed: o.Seed = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Attacked:
    """Results of attacks on one target.

    Parameters
    ----------
    target : Target, MemoizedTarget or MatrixTarget
        The attacked plan, contract or claim, with its guarantee.
    outcomes : tuple of Outcome
        One outcome for each attack.
    level : float
        Joint confidence of all outcomes.
    seed : int or None
        The seed of the games; None for secure randomness.

    Examples
    --------
    >>> import mixtally
    >>> found = mixtally.attack(
    ...     "flip", epsilon=1, delta=1e-6, users=100, flip=0.4, bits=1, only="n-1", runs=100, seed=1
    ... )
    >>> found.promise
    (1.0, 1e-06)
    >>> len(found.outcomes)
    3
    """

    target: Target | MemoizedTarget | MatrixTarget
    outcomes: tuple[Outcome, ...]
    level: float
    seed: int | None

    @property
    def title(self) -> str:
        """The name of the target."""
        return self.target.title

    @property
    def promise(self) -> tuple[float, float] | None:
        """The guaranteed epsilon and delta; None for memoized answers."""
        target = self.target
        return None if isinstance(target, MemoizedTarget) else (target.epsilon, target.delta)

    @property
    def certificate(self) -> Certificate | None:
        """The exact privacy of the target; None for memoized answers."""
        return None if isinstance(self.target, MemoizedTarget) else self.target.exact

    @property
    def violations(self) -> list[str]:
        """Names of the attacks that refute the guarantee, up to the false-alarm probability."""
        return [one.attack for one in self.outcomes if one.verdict is Verdict.VIOLATED]

    def facts(self) -> dict[str, Any]:
        """Return the target, its promise and every outcome, with the fields of the JSON output.

        Returns
        -------
        dict
            The fields of the JSON output.
        """
        own = {} if isinstance(self.target, MemoizedTarget) else self.target.facts()
        return {
            "target": self.title,
            **own,
            "level": self.level,
            "seed": self.seed,
            "violated": self.violations,
            "attacks": [one.facts() for one in self.outcomes],
        }

    def document(self) -> Document:
        """Return the report with a table of all attacks and a section for each.

        Returns
        -------
        Document
            The report, which can be rendered as text or as a page.
        """
        linked = isinstance(self.target, MemoizedTarget)
        return document(
            self.title, describe_promise(self.target), self.outcomes, self.facts(), linked=linked
        )

    def __repr__(self) -> str:
        lines = [f"attacks on {self.title}"]
        if self.promise is not None and self.certificate is not None:
            shown = self.certificate
            lines.append(
                f"guarantee: epsilon {at_most(self.promise[0], 6)}, delta "
                f"{at_most(self.promise[1], 6)}; the exact delta at this epsilon is between "
                f"{at_least(shown.lower, 4)} and {at_most(shown.upper, 4)}"
            )
            if shown.lower > self.promise[1]:
                lines.append(_FALSE)
        for one in self.outcomes:
            most = "" if one.promised is None else f" of {one.promised:.4g}"
            lines.append(f"{one.title}: {one.attacked:.4g}{most} {one.unit}, {one.verdict}")
        return "\n".join([*lines, "An attack that fails proves nothing."])


def attack(
    given: Plan | Contract | None,
    claimed: ClaimOptions,
    game: GameOptions,
    progress: Progress = ignore_progress,
) -> Attacked:
    """Run every applicable attack on a plan, a contract or a claim.

    Parameters
    ----------
    given : Plan, Contract or None
        The target; None for a claim.
    claimed : ClaimOptions
        The claim, if there is no plan.
    game : GameOptions
        The attacks to run, and the number of games.
    progress : Progress
        Called while games are played.

    Returns
    -------
    Attacked
        The target and the outcome of each attack.

    Raises
    ------
    ParameterError
        If both or neither of a plan and a claim are given, or if parameters are missing, unknown or
        out of range.
    PlanError
        If the certificate of the plan is false, unless ``game.unverified``.
    """
    accountant = Accountant()
    target = _find_target(given, claimed, accountant, unverified=game.unverified)
    lab = AttackLab(
        build_chance(game.seed),
        # The false-alarm probability of the whole table.
        1.0 - checked_level(game.level),
        runs=game.runs,
        progress=progress,
        drawn=game.drawn,
        play=play_parts,
        accountant=accountant,
    )
    return Attacked(target, tuple(run_attacks(target, lab, game.only)), game.level, game.seed)


def _find_target(
    given: Plan | Contract | None,
    claimed: ClaimOptions,
    accountant: Accountant,
    *,
    unverified: bool,
) -> Target | MemoizedTarget:
    """Return the target of an attack, from a plan, from a contract or from a claim.

    Raises InputError unless there is either a plan or contract, or a claim.
    """
    options, name = o.list_used_flags(claimed), claimed.protocol
    if given is not None and not options:
        plan = given.plan if isinstance(given, Contract) else given
        target = target_of_plan(plan, unverified=unverified, accountant=accountant)
        if plan is given:
            return target
        return replace(target, title=f"the contract {given.name}: {target.title}")
    if given is not None:
        raise not_together(
            "attack", "a plan", options, f"leave out the plan, or {join_words(options)}"
        )
    if name is None:
        raise ParameterError(
            "attack",
            expected="a plan file, or --protocol with parameters and a claim",
            got=", ".join(options) or "neither",
            do="name a plan file or a protocol",
        )
    if unverified:
        raise ParameterError(
            "--unverified", expected="a plan file with it", got="a claim", do="leave it out"
        )
    parameters = Parameters(**o.option_values(claimed.parameters))
    promise = claimed.epsilon, claimed.delta, claimed.honest_share
    return build_target(name, parameters, *promise, accountant)


def attack_matrix(
    matrix: RandomizerMatrix,
    claimed: ClaimOptions,
    game: GameOptions,
    fake_row: str | None = None,
) -> Attacked:
    """Attack a claim about a randomizer that is a matrix of probabilities.

    In the attack, all other people hold the values from which the accountant computes its lower
    bound of delta.

    Parameters
    ----------
    matrix : RandomizerMatrix
        The probabilities of the randomizer's messages for each value.
    claimed : ClaimOptions
        The claimed epsilon and delta, the number of users, and the number of fakes (dummy
        messages) if there are any.
    game : GameOptions
        The number of games.
    fake_row : str, optional
        The label of the row from which fakes are drawn, or "uniform".

    Raises
    ------
    ParameterError
        If parameters are missing, unknown or out of range.
    """
    if claimed.epsilon is None or claimed.delta is None or claimed.protocol is not None:
        raise ParameterError(
            "attack",
            expected="a matrix with the claim, --epsilon and --delta, and no protocol",
            got=", ".join(o.list_used_flags(claimed)) or "none",
            do="add --epsilon 1 --delta 1e-6, for example",
        )
    law = fake_row_of(matrix, fake_row)
    share = 1.0 if claimed.honest_share is None else claimed.honest_share
    shuffled = shuffle_matrix(matrix, claimed.parameters.given, share, law)
    found, randomizer = price_matrix(shuffled, claimed.epsilon), shuffled.randomizer
    worst = randomizer.lower(claimed.epsilon)
    target = MatrixTarget(
        matrix, randomizer.users, randomizer.fakes, law, (worst.one, worst.other), worst.crowd,
        claimed.epsilon, claimed.delta, found.certificate,
    )  # fmt: skip
    error = 1.0 - checked_level(game.level)
    lab = AttackLab(build_chance(game.seed), error, runs=game.runs, drawn=game.drawn)
    return Attacked(target, (play_matrix(target, lab),), game.level, game.seed)


def describe_promise(target: Target | MemoizedTarget | MatrixTarget) -> str:
    """Return the guarantee under attack as a sentence or two."""
    if isinstance(target, MemoizedTarget):
        return "The loss of memoized answers is computed for every number of reports; delta is 0."
    who, exact = "Certified" if target.verified else "Claimed", target.exact
    rests = f" It {exact.assumption}." if target.verified else ""
    if exact.lower > target.delta:
        rests += f" {_FALSE}"
    return (
        f"{who}: epsilon {at_most(target.epsilon, 6)}, delta {at_most(target.delta, 6)}. "
        f"The exact delta at this epsilon is between {at_least(exact.lower, 4)} and "
        f"{at_most(exact.upper, 4)}.{rests}"
    )
