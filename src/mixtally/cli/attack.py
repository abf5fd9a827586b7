"""``mixtally check attack``: play the known attacks on a plan or a claim."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from mixtally.app.options import flags, values
from mixtally.app.outcome import Outcome as Shown
from mixtally.app.parameters import ParameterOptions
from mixtally.attacks import Lab, MemoizedTarget, Outcome, Target, Verdict, run_attacks
from mixtally.attacks.claim import ClaimedParameters, claim
from mixtally.attacks.document import document
from mixtally.attacks.outcome import checked_level
from mixtally.attacks.target import of_plan
from mixtally.cli import options as o
from mixtally.cli.contract_files import read_any
from mixtally.cli.grouped import grouped
from mixtally.cli.progress import progress_bars
from mixtally.cli.screen import show
from mixtally.data.progress import Progress
from mixtally.errors import ParameterError
from mixtally.privacy.accountant import Accountant
from mixtally.records.contract import Contract
from mixtally.report.numbers import at_least, at_most
from mixtally.simulation.play import play_parts
from mixtally.store.files import read_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimOptions:
    """What somebody says a mechanism guarantees."""

    protocol: Annotated[
        str | None,
        o.option(
            "--protocol",
            "Attack a claim: flip-blank, flip-uniform, flip, single-bit, clear-uniform, "
            "kary-response, clear-shaped or memory.",
            "NAME",
        ),
    ] = None
    epsilon: Annotated[float | None, o.option("--epsilon", "The claimed privacy loss.", "E")] = None
    delta: Annotated[float | None, o.option("--delta", "The claimed delta.", "D")] = None
    parameters: ParameterOptions
    honest_share: Annotated[
        float | None,
        o.option("--honest-share", "Share of the fakes that the claim counts on (default 1).", "H"),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GameOptions:
    """Which attacks are played, and how often."""

    only: Annotated[
        str | None,
        o.option(
            "--only",
            "One attack: tell-apart, n-1, difference, collusion, averaging, poisoning, "
            "randomizer, collection; of coins selection; of memoized answers averaging, linking, "
            "tracking, collection.",
            "NAME",
        ),
    ] = None
    runs: Annotated[
        int | None, o.whole_option("--runs", "Games of an attack (default: what is quick).")
    ] = None
    drawn: Annotated[
        int | None,
        o.whole_option(
            "--drawn", "Games with counts from their distribution (default: what is quick)."
        ),
    ] = None
    level: Annotated[
        float, o.option("--level", "Confidence of the whole table, 0.5 to 1 - 1e-9.", "L")
    ] = 0.9999
    unverified: Annotated[
        bool, o.option("--unverified", "Attack a plan whose certificate is false.")
    ] = False
    seed: o.Seed = None


@grouped
def attack(
    plan: Annotated[
        Path | None,
        typer.Argument(help="A plan from `mixtally plan --out`, or a contract.", metavar="[PLAN]"),
    ] = None,
    *,
    game: GameOptions,
    out: Annotated[Path | None, o.folder_option("Write report.html and result.json here.")] = None,
    json: o.Json = False,
    claimed: ClaimOptions,
) -> None:
    """Attack a plan, or a claim.

    Plays every known attack through the production randomizer, and prints what is promised, what
    the attack proves at the given confidence, and the margin. Exit status 1 when a promise is
    violated. An attack that fails proves nothing.
    """
    accountant = Accountant()
    target = _target(plan, claimed, accountant, unverified=game.unverified)
    with progress_bars() as progress:
        outcomes = run_attacks(target, _lab(game, progress, accountant), game.only)
    facts = {"target": target.title, **_promise_facts(target), **_played_facts(game, outcomes)}
    linked = isinstance(target, MemoizedTarget)
    shown = document(target.title, _promise(target), outcomes, facts, linked=linked)
    show(Shown(document=shown), out, json=json)
    if facts["violated"]:
        raise typer.Exit(1)


def _lab(game: GameOptions, progress: Progress, accountant: Accountant) -> Lab:
    return Lab(
        o.chance(game.seed),
        1.0 - checked_level(game.level),
        runs=game.runs,
        progress=progress,
        drawn=game.drawn,
        play=play_parts,
        accountant=accountant,
    )


def _target(
    plan: Path | None, claimed: ClaimOptions, accountant: Accountant, *, unverified: bool
) -> Target | MemoizedTarget:
    """What a plan file or the options describe; raises InputError for both or neither."""
    given, name = flags(claimed), claimed.protocol
    if plan is not None and not given:
        read = read_any(read_bytes(plan, "a plan or a contract"), str(plan))
        if isinstance(read, Contract):
            target = of_plan(read.plan, unverified=unverified, accountant=accountant)
            return replace(target, title=f"the contract {read.name}: {target.title}")
        return of_plan(read, unverified=unverified, accountant=accountant)
    if plan is not None or name is None:
        raise ParameterError(
            "attack",
            wanted="a plan file, or --protocol with parameters and a claim",
            got="a plan and " * (plan is not None) + ", ".join(given) or "neither",
            do="give one of them",
        )
    if unverified:
        raise ParameterError(
            "--unverified", wanted="a plan file beside it", got="a claim", do="leave it out"
        )
    parameters = ClaimedParameters(**values(claimed.parameters))
    promise = claimed.epsilon, claimed.delta, claimed.honest_share
    return claim(name, parameters, *promise, accountant)


def _played_facts(game: GameOptions, outcomes: list[Outcome]) -> dict[str, Any]:
    return {
        "level": game.level,
        "seed": game.seed,
        "violated": [one.attack for one in outcomes if one.verdict is Verdict.VIOLATED],
        "attacks": [one.facts() for one in outcomes],
    }


def _promise_facts(target: Target | MemoizedTarget) -> dict[str, Any]:
    """What is promised, and what is exactly so; nothing of memoized answers."""
    return {} if isinstance(target, MemoizedTarget) else target.facts()


def _promise(target: Target | MemoizedTarget) -> str:
    """The promise under attack in a sentence or two."""
    if isinstance(target, MemoizedTarget):
        return (
            "The losses of memoized answers are computed for every number of reports; delta is 0."
        )
    who, exact = "Certified" if target.verified else "Claimed", target.exact
    rests = f" It {exact.assumption}." if target.verified else ""
    return (
        f"{who}: epsilon {at_most(target.epsilon, 6)}, delta {at_most(target.delta, 6)}. "
        f"Computed exactly, delta there lies between {at_least(exact.lower, 4)} and "
        f"{at_most(exact.upper, 4)}.{rests}"
    )
