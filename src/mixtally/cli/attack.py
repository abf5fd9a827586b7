"""``mixtally check attack``: run the known attacks on a plan or a claim."""

from pathlib import Path
from typing import Annotated

import typer

from mixtally.app import attack as use
from mixtally.app.contracts import read_plan_or_contract
from mixtally.app.matrix import read_matrix
from mixtally.app.outcome import Outcome
from mixtally.cli import options as o
from mixtally.cli.display import show
from mixtally.cli.option_groups import with_option_groups
from mixtally.cli.progress import progress_bars
from mixtally.errors import ParameterError, not_together
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
        str | None, typer.Option("--fake-row", help="Row that its fakes send.", metavar="ROW")
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
    given = (
        None
        if plan is None
        else read_plan_or_contract(read_bytes(plan, "a plan or a contract"), str(plan))
    )
    with progress_bars() as progress:
        found = use.attack(given, claimed, game, progress)
    show(Outcome(document=found.document()), out, json=json)
    if found.violations:
        raise typer.Exit(1)
