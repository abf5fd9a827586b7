"""Commands of a mix that need its keys: to create it, sign contracts, serve, and end rounds."""

from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from mixtally.accounting.accountant import Accountant
from mixtally.accounting.plans.terms import verify
from mixtally.cli import role_backup
from mixtally.cli import role_files as r
from mixtally.cli.engine_options import EngineOptions
from mixtally.cli.log_option import LogAs
from mixtally.cli.option_groups import with_option_groups
from mixtally.cli.output import show_elapsed_time
from mixtally.cli.plan_files import CONTRACT, read_contract_file
from mixtally.cli.status import status
from mixtally.errors import PlanError, RefusedError
from mixtally.model.contract import Contract
from mixtally.model.contract.job import job_of
from mixtally.primitives.chance import SecureChance
from mixtally.primitives.files import read_bytes
from mixtally.report.numbers import at_most
from mixtally.server.mix.codes import accept_codes
from mixtally.server.mix.jobs import take_job
from mixtally.server.mix.serve import serve as serve_mix
from mixtally.server.node.folder import Folder
from mixtally.server.node.node import Node
from mixtally.server.node.refusal import ProblemError

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
@with_option_groups
def init(folder: r.Place, role: r.RoleOptions) -> None:
    """Create a mix: folder, signing key, master key; print its entry for a network file."""
    role.begin(folder, "[[hops]]")


@app.command()
@with_option_groups
def sign(folder: r.Place, contract: r.ContractFile, fingerprint: r.Expected = None) -> None:
    """Derive every number of a contract again, and sign the contract as one of its hops."""
    _sign(r.open_role(folder), contract, fingerprint)


@app.command()
@with_option_groups
def serve(
    folder: r.Place,
    engine: EngineOptions,
    sign: r.SignFirst = None,
    overrule: r.Overrule = [],  # noqa: B006
    log: LogAs = "text",
    metrics_port: r.MetricsPort = None,
) -> None:
    """Serve the signed contracts until a signal ends the process."""
    role = r.open_role(folder)
    if sign is not None and not r.is_signed(role, sign):
        _sign(role, sign, None)
    serve_mix(role, r.make_service(overrule, log, metrics_port), engine.build_engine())


def _sign(role: Folder, contract: Path, fingerprint: str | None) -> None:
    """Verify every number of a contract, sign the contract, and print the guarantee."""
    read, found = read_contract_file(contract)
    r.check_fingerprint(contract, fingerprint, found)
    place = _find_hop(role, read, str(contract))
    with show_elapsed_time("deriving its numbers again"):
        true = verify(read.plan, Accountant())
    try:
        with closing(Node(role, SecureChance())) as node:
            take_job(node, job_of(read, found, place), read_bytes(contract, "a contract", CONTRACT))
    except ProblemError as refused:
        raise PlanError(
            str(contract),
            expected=f"the one contract of name {read.name} and serial {read.serial}",
            got="a different one from the contract that this mix has signed",
            do="give the new contract a larger serial number",
        ) from refused
    promised, last = read.plan.guarantee, read.plan.collections
    rounds = "its one round" if last == 1 else f"all of its {last} rounds"
    typer.echo(f"signed {read.name}, serial {read.serial}, as hop {place} of {len(read.hops)}")
    typer.echo(f"fingerprint: {found}")
    typer.echo(
        f"guarantee: delta at most {at_most(true.upper, 6)} at epsilon "
        f"{at_most(promised.epsilon, 6)}, over {rounds}; it {true.assumption}."
    )
    note = role.subfolder("contracts") / f"{read.name}-{read.serial}.note"
    typer.echo(f"the note: {note}")


@app.command()
def codes(
    folder: r.Place,
    file: Annotated[Path, typer.Argument(help="The list of codes.", metavar="LIST")],
) -> None:
    """Accept the one-time codes of a contract, whose hashes its collector has signed.

    Before this, rounds of such a contract accept no bundles. A contract has one list of codes.
    """
    data = read_bytes(file, "a list of codes", "create it with `mixtally collector codes`")
    try:
        with closing(Node(r.open_role(folder), SecureChance())) as node:
            job, number = accept_codes(node, data, str(file))
    except RefusedError as refused:
        raise PlanError(
            str(file),
            expected="a list of codes that the collector of a contract has signed",
            got=f"something else ({refused.reason})",
            do="ask the collector for the file that `mixtally collector codes` wrote",
        ) from refused
    typer.echo(
        f"{job.name}, serial {job.serial}, takes one bundle a round for each of {number:,} codes"
    )


@app.command()
def rotate(folder: r.Place) -> None:
    """Replace the signing key of a stopped mix, and print its new entry for a network file.

    The old and the new key sign a note, with which peers and devices accept the new key.
    """
    r.rotate_role(folder, "[[hops]]")


app.command()(status)


def _find_hop(role: Folder, contract: Contract, subject: str) -> int:
    """Return the position, from 1, of the hop with the name and the key of this role.

    Raises PlanError if there is none.
    """
    own = {signer.verifier for signer in role.signers}
    for place, hop in enumerate(contract.hops, 1):
        if hop.name == role.role.name and hop.key in own:
            return place
    raise PlanError(
        subject,
        expected=f"a hop {role.role.name} with the key {role.signer.verifier}",
        got="other hops",
        do="send the output of init to the author of the contract",
    )


for command in (role_backup.backup, role_backup.restore, role_backup.end):
    app.command()(command)
