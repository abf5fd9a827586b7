"""``mixtally mix init|sign|serve``: a mix is begun, signs what it has checked, and serves."""

from contextlib import closing

import typer

from mixtally.accounting.accountant import Accountant
from mixtally.accounting.plans.terms import verify
from mixtally.cli import role_files as r
from mixtally.cli.contract_files import CONTRACT, read_contract_file
from mixtally.cli.engine_options import EngineOptions
from mixtally.cli.log_option import LogAs
from mixtally.cli.option_groups import with_option_groups
from mixtally.cli.output import show_elapsed_time
from mixtally.errors import PlanError
from mixtally.model.contract import Contract
from mixtally.model.contract.job import job_of
from mixtally.primitives.chance import SecureChance
from mixtally.primitives.files import read_bytes
from mixtally.report.numbers import at_most
from mixtally.server.mix.jobs import take_job
from mixtally.server.mix.serve import serve as serve_mix
from mixtally.server.node.folder import Folder
from mixtally.server.node.node import Node
from mixtally.server.node.refusal import ProblemError

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
@with_option_groups
def init(folder: r.Place, role: r.RoleOptions) -> None:
    """Begin a mix: its folder, its signing key, its master key; print what a network file needs."""
    role.begin(folder, "[[hops]]")


@app.command()
@with_option_groups
def sign(folder: r.Place, contract: r.ContractFile, fingerprint: r.Expected = None) -> None:
    """Derive every number of a contract again, and sign it as one of its hops."""
    role = r.open_role(folder)
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
            got="another than this mix has signed",
            do="give the new one a larger serial",
        ) from refused
    promised = read.plan.guarantee
    typer.echo(f"signed {read.name}, serial {read.serial}, as hop {place} of {len(read.hops)}")
    typer.echo(f"fingerprint: {found}")
    typer.echo(
        f"promised: delta at most {at_most(true.upper, 6)} at epsilon {promised.epsilon:g}, over "
        f"all of its {read.plan.collections} rounds; it {true.assumption}."
    )
    note = role.subfolder("contracts") / f"{read.name}-{read.serial}.note"
    typer.echo(f"the note: {note}")


@app.command()
@with_option_groups
def serve(
    folder: r.Place,
    engine: EngineOptions,
    overrule: r.Overrule = [],  # noqa: B006
    log: LogAs = "text",
) -> None:
    """Serve the contracts that were signed, until a signal ends it."""
    serve_mix(r.open_role(folder), r.make_service(overrule, log), engine.build_engine())


def _find_hop(role: Folder, contract: Contract, subject: str) -> int:
    """Which hop this role is; raises PlanError for one of another name or key, and for none."""
    for place, hop in enumerate(contract.hops, 1):
        if hop.key == role.signer.verifier and hop.name == role.role.name:
            return place
    raise PlanError(
        subject,
        expected=f"a hop {role.role.name} with the key {role.signer.verifier}",
        got="others",
        do="give the contract's maker what init printed",
    )
