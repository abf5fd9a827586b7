"""``mixtally check attack``: run the known attacks on a plan or a claim."""

from pathlib import Path
from typing import Annotated, NoReturn

import typer

from mixtally.app import attack as use
from mixtally.app.contracts import read_plan_or_contract
from mixtally.app.matrix import read_matrix
from mixtally.app.options import list_used_flags
from mixtally.app.outcome import Outcome
from mixtally.cli import options as o
from mixtally.cli.display import show
from mixtally.cli.option_groups import with_option_groups
from mixtally.cli.progress import progress_bars
from mixtally.errors import ParameterError, join_words, not_together
from mixtally.model.contract import Contract, Plan
from mixtally.primitives.files import read_bytes


@with_option_groups
def attack(
    plan: Annotated[
        Path | None,
        typer.Argument(help="A plan from `mixtally plan --out`, or a contract.", metavar="[PLAN]"),
    ] = None,
    *,
    matrix: Annotated[
        Path | None,
        typer.Option(
            "--matrix", help="Attack a claim about the randomizer in this CSV.", show_default=False
        ),
    ] = None,
    fake_row: Annotated[
        str | None,
        typer.Option("--fake-row", help="Row of the matrix that fakes send.", metavar="ROW"),
    ] = None,
    network: Annotated[
        bool,
        typer.Option(
            "--network", help="Let each mix of the plan attack real roles, one mix after another."
        ),
    ] = False,
    seconds: Annotated[
        float | None,
        typer.Option(
            "--seconds",
            help="Time of all attacks with --network (default 30).",
            metavar="S",
            show_default=False,
        ),
    ] = None,
    game: use.GameOptions,
    out: Annotated[Path | None, o.folder_option("Write report.html and result.json here.")] = None,
    json: o.Json = False,
    claimed: use.ClaimOptions,
) -> None:
    """Attack a plan or a claim.

    Runs every known attack on the production randomizer. Prints the guarantee, the privacy loss
    that the attack proves at the given confidence, and the difference. The exit status is 1 if a
    guarantee is violated. An attack that fails proves nothing.
    """
    if network:
        _attack_network(plan, seconds, game, claimed, matrix, out, json=json)
    if seconds is not None:
        raise ParameterError(
            "--seconds", expected="--network with it", got="none", do="leave --seconds out"
        )
    if matrix is not None and plan is not None:
        raise not_together("attack", "a plan", ["--matrix"], "leave one out")
    if matrix is None and fake_row is not None:
        raise ParameterError(
            "--fake-row", expected="--matrix with it", got="none", do="leave --fake-row out"
        )
    if matrix is not None:
        found = use.attack_matrix(read_matrix(matrix), claimed, game, fake_row)
        show(Outcome(document=found.document()), out, json=json)
        raise typer.Exit(1 if found.violations else 0)
    given = _read_target(plan)
    with progress_bars() as progress:
        found = use.attack(given, claimed, game, progress)
    show(Outcome(document=found.document()), out, json=json)
    if found.violations:
        raise typer.Exit(1)


def _read_target(plan: Path | None) -> Plan | Contract | None:
    if plan is None:
        return None
    return read_plan_or_contract(read_bytes(plan, "a plan or a contract"), str(plan))


def _attack_network(
    plan: Path | None,
    seconds: float | None,
    game: use.GameOptions,
    claimed: use.ClaimOptions,
    matrix: Path | None,
    out: Path | None,
    *,
    json: bool,
) -> NoReturn:
    """Attack running roles (mixes and collector), print the report, and exit."""
    # Only this attack needs the packages of the extra [serve].
    from mixtally.app.attack_network import attack_network

    other = [*list_used_flags(claimed), *(["--matrix"] if matrix is not None else [])]
    other += [flag for flag in list_used_flags(game) if flag not in ("--only", "--runs", "--level")]
    if other:
        raise not_together(
            "attack", "--network", other, f"leave out {join_words(other)}: roles draw secretly"
        )
    with progress_bars() as progress:
        found = attack_network(
            _read_target(plan),
            only=game.only,
            level=game.level,
            trials=game.runs,
            seconds=30.0 if seconds is None else seconds,
            progress=progress,
        )
    show(Outcome(document=found.document()), out, json=json)
    raise typer.Exit(1 if found.violations else 0)
