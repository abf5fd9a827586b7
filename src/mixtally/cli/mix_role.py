"""``mixtally mix init``, ``sign`` and ``serve``: create a mix, sign contracts, and serve them."""

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
    """Create a mix: folder, signing key, master key; print its entry for a network file."""
    role.begin(folder, "[[hops]]")


@app.command()
@with_option_groups
def sign(folder: r.Place, contract: r.ContractFile, fingerprint: r.Expected = None) -> None:
    """Derive every number of a contract again, and sign the contract as one of its hops."""
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
            got="a different one from the contract that this mix has signed",
            do="give the new contract a larger serial number",
        ) from refused
    promised = read.plan.guarantee
    typer.echo(f"signed {read.name}, serial {read.serial}, as hop {place} of {len(read.hops)}")
    typer.echo(f"fingerprint: {found}")
    typer.echo(
        f"guarantee: delta at most {at_most(true.upper, 6)} at epsilon {promised.epsilon:g}, over "
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
    """Serve the signed contracts until a signal ends the process."""
    serve_mix(r.open_role(folder), r.make_service(overrule, log), engine.build_engine())


def _find_hop(role: Folder, contract: Contract, subject: str) -> int:
    """Return the position of this role among the hops; raise PlanError if no name and key match."""
    for place, hop in enumerate(contract.hops, 1):
        if hop.key == role.signer.verifier and hop.name == role.role.name:
            return place
    raise PlanError(
        subject,
        expected=f"a hop {role.role.name} with the key {role.signer.verifier}",
        got="other hops",
        do="send the output of init to the author of the contract",
    )
