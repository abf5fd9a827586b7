"""``mixtally check attack``: play the known attacks on a plan or a claim."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from mixtally.app.options import flags, values
from mixtally.app.outcome import Outcome as Shown
from mixtally.app.parameters import ParameterOptions
from mixtally.attacks import Lab, MemoizedTarget, Outcome, Target, Verdict, run_attacks
from mixtally.attacks.cascade import cascade
from mixtally.attacks.claim import ClaimedParameters, claim
from mixtally.attacks.document import document
from mixtally.attacks.outcome import checked_level
from mixtally.attacks.target import of_plan
from mixtally.cli import options as o
from mixtally.cli.contract_files import is_contract, read_contract_file
from mixtally.cli.grouped import grouped
from mixtally.cli.plan_files import read_plan
from mixtally.cli.progress import progress_bars
from mixtally.cli.screen import show
from mixtally.data.progress import Progress
from mixtally.errors import ParameterError
from mixtally.privacy.accountant import Accountant
from mixtally.privacy.certify import certify
from mixtally.report.document import Document
from mixtally.report.numbers import at_least, at_most
from mixtally.simulation.simulate import play


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimOptions:
    """What somebody says a mechanism guarantees."""

    protocol: Annotated[
        str | None,
        o.option(
            "--protocol",
            "Attack a claim: flip-blank, flip-uniform, flip, single-bit, clear-uniform, "
            "clear-shaped or memory.",
            "NAME",
        ),
    ] = None
    epsilon: Annotated[float | None, o.option("--epsilon", "The claimed privacy loss.", "E")] = None
    delta: Annotated[float | None, o.option("--delta", "The claimed chance left over.", "D")] = None
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
            "randomizer, collection; of memoized answers averaging, linking, tracking, collection.",
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
    if plan is not None and is_contract(plan):
        attack_contract(plan, game, flags(claimed), out, json=json)
        return
    target = _target(plan, claimed, accountant, unverified=game.unverified)
    with progress_bars() as progress:
        outcomes = run_attacks(target, _lab(game, progress, accountant), game.only)
    promised = _promise_facts(target, accountant)
    facts = {"target": target.title, **promised, **_played_facts(game, outcomes)}
    linked = isinstance(target, MemoizedTarget)
    _show(document(target.title, _promise(facts), outcomes, facts, linked=linked), out, json=json)


def _show(shown: Document, out: Path | None, *, json: bool) -> None:
    """What attacks come to; exit status 1 where a promise is violated."""
    show(Shown(document=shown), out, json=json)
    if shown.facts()["violated"]:
        raise typer.Exit(1)


def attack_contract(
    path: Path, game: GameOptions, claimed: list[str], out: Path | None, *, json: bool
) -> None:
    """The n-1 attack on a contract with the honest hop in each place; exit status 1 as ``attack``.

    Where people bring the cover the promise does not hold behind a dishonest hop: there it is seen
    violated, as the contract's words say.
    """
    beside = claimed + flags(game, "only", "unverified")
    if beside:
        raise ParameterError(
            "attack", wanted="a contract alone", got=", ".join(beside), do="leave these out"
        )
    contract, fingerprint = read_contract_file(path)
    with progress_bars() as progress:
        outcomes = cascade(contract, _lab(game, progress, Accountant()))
    stated, title = contract.plan.certificate, f"the contract {contract.name}"
    facts = {
        "target": title,
        "fingerprint": fingerprint,
        "cover": str(contract.plan.cover),
        "epsilon": stated.epsilon,
        "delta": stated.upper,
        **stated.terms(),
        **_played_facts(game, outcomes),
        "violated": [one.case for one in outcomes if one.verdict is Verdict.VIOLATED],
    }
    said = (
        f"Stated: epsilon {at_most(stated.epsilon, 6)}, delta {at_most(stated.upper, 6)}. It "
        f"{stated.assumption}."
    )
    _show(document(title, said, outcomes, facts), out, json=json)


def _lab(game: GameOptions, progress: Progress, accountant: Accountant) -> Lab:
    return Lab(
        o.chance(game.seed),
        1.0 - checked_level(game.level),
        runs=game.runs,
        progress=progress,
        drawn=game.drawn,
        play=play,
        accountant=accountant,
    )


def _target(
    plan: Path | None, claimed: ClaimOptions, accountant: Accountant, *, unverified: bool
) -> Target | MemoizedTarget:
    """What a plan file or the options describe; raises InputError for both or neither."""
    given, name = flags(claimed), claimed.protocol
    if plan is not None and not given:
        return of_plan(read_plan(plan), unverified=unverified, accountant=accountant)
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
    return claim(name, parameters, claimed.epsilon, claimed.delta, claimed.honest_share)


def _played_facts(game: GameOptions, outcomes: list[Outcome]) -> dict[str, Any]:
    return {
        "level": game.level,
        "seed": game.seed,
        "violated": [one.attack for one in outcomes if one.verdict is Verdict.VIOLATED],
        "attacks": [one.facts() for one in outcomes],
    }


def _promise_facts(target: Target | MemoizedTarget, accountant: Accountant) -> dict[str, Any]:
    """What is promised, and what is exactly so; nothing of memoized answers."""
    if isinstance(target, MemoizedTarget):
        return {}
    exact = certify(target.mechanism, target.epsilon, target.honest_share, accountant)
    return {
        "protocol": target.mechanism.name,
        "users": target.users,
        **target.mechanism.facts(),
        "fakes": target.mechanism.fakes_promised,
        "epsilon": target.epsilon,
        "delta": target.delta,
        "certified": target.certified,
        "exact_delta": exact.upper,
        "exact_delta_lower": exact.lower,
    }


def _promise(facts: dict[str, Any]) -> str:
    """The promise under attack in a sentence or two."""
    if "epsilon" not in facts:
        return (
            "The losses of memoized answers are computed for every number of reports; delta is 0."
        )
    who = "Certified" if facts["certified"] else "Claimed"
    return (
        f"{who}: epsilon {at_most(facts['epsilon'], 6)}, delta {at_most(facts['delta'], 6)}. "
        f"Computed exactly, delta there lies between {at_least(facts['exact_delta_lower'], 4)} and "
        f"{at_most(facts['exact_delta'], 4)}."
    )
