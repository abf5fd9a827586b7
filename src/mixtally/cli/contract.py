"""``mixtally contract``: create, show and check contracts."""

from json import loads
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from mixtally.accounting.accountant import Accountant
from mixtally.accounting.plans.terms import verify
from mixtally.app.approval import approval as approval_page
from mixtally.app.contracts import (
    contract_of,
    read_client_files,
    read_network,
    read_plan_or_contract,
)
from mixtally.app.page_files import PROGRAM, check_page_contract
from mixtally.app.plans import contract_file, details_of, is_page, page_file
from mixtally.cli import options as o
from mixtally.cli.common import command_group
from mixtally.cli.display import console_of
from mixtally.cli.option_groups import with_option_groups
from mixtally.cli.output import print_json, print_lines, publish, show_elapsed_time
from mixtally.cli.plan_files import CONTRACT, read_plan
from mixtally.errors import PlanError
from mixtally.model.contract import Contract, Plan, fingerprint_of, write_contract, write_plan
from mixtally.primitives.files import read_bytes
from mixtally.report.contract import contract_document, plan_document
from mixtally.report.document import Document
from mixtally.report.folding import FoldingTable
from mixtally.report.numbers import at_least, at_most
from mixtally.report.promise import promise_of_plan
from mixtally.report.terminal import opening_lines, render_summary
from mixtally.report.texts import whole_facts

if TYPE_CHECKING:
    from mixtally.accounting.verification import VerificationResult

app = command_group("contract", "Write, show and check contracts between operators.")

PlanFile = Annotated[
    Path, typer.Argument(help="A plan from `mixtally plan --out`.", metavar="PLAN")
]
EitherFile = Annotated[Path, typer.Argument(help="A contract, or a plan.", metavar="FILE")]
Network = Annotated[
    Path,
    o.option("--network", "Operators as TOML: name, hops, collector, rounds.", "FILE"),
]
Out = Annotated[
    Path,
    o.option(
        "--out",
        "Write the contract to this file; an approval page if it ends in .html or .md.",
        "FILE",
    ),
]
ClientFiles = Annotated[
    Path | None,
    o.option(
        "--client-files",
        "State the SHA-256 of the files of this folder, a page by which people answer.",
        "FOLDER",
    ),
]
Rigorous = Annotated[
    bool,
    o.option(
        "--rigorous",
        "Verify each part with a second program, in ball arithmetic (python-flint).",
    ),
]
Expected = Annotated[
    str | None,
    o.option("--fingerprint", "Refuse a file with another fingerprint.", "HEX"),
]


@app.command()
@with_option_groups
def new(
    plan: PlanFile,
    network: Network,
    out: Out,
    client_files: ClientFiles = None,
    approval: o.Approval = None,
    json: o.Json = False,
) -> None:
    """Create a contract from a plan and its operators; the plan's numbers are derived again."""
    details = details_of(approval, out)
    read = read_plan(plan)
    files = () if client_files is None else read_client_files(client_files)
    contract = contract_of(read, read_network(network), str(network), files)
    with show_elapsed_time("deriving its numbers again"):
        verify(read, Accountant())
    data = write_contract(contract)
    if any(one.path == PROGRAM for one in files):
        check_page_contract(contract, data, str(client_files))
    (path,) = publish(out.parent, {out.name: contract_file(contract, out, details)})
    if json:
        print_json(whole_facts(contract_document(contract, fingerprint_of(data))))
        return
    print_lines(promise_of_plan(read))
    typer.echo(f"{'page' if is_page(path) else 'contract'} written to {path}")
    typer.echo(f"fingerprint: {fingerprint_of(data)}")


@app.command()
@with_option_groups
def show(
    file: EitherFile,
    out: Annotated[
        Path | None,
        o.option("--out", "Write an approval page to this file, .html or .md.", "FILE"),
    ] = None,
    approval: o.Approval = None,
    json: o.Json = False,
) -> None:
    """Show the guarantee, who is trusted for what, and the remaining risks.

    The numbers are derived again first, so that an approval page does not depend on numbers of the
    file.
    """
    details = details_of(approval, out)
    found = _open_file(file)
    with show_elapsed_time("deriving its numbers again"):
        verify(found.plan, Accountant())
    document, written = found.document, []
    if out is not None:
        shown = approval_page(found.plan, found.fingerprint, found.contract, details)
        written = publish(out.parent, {out.name: page_file(shown, out)})
    if json:
        print_json(whole_facts(document))
        return
    print_lines(opening_lines(document))
    console_of().print(render_summary(document))
    for path in written:
        typer.echo(f"page written to {path}")


@app.command()
@with_option_groups
def check(
    file: EitherFile,
    fingerprint: Expected = None,
    rigorous: Rigorous = False,
    json: o.Json = False,
) -> None:
    """Derive every number again, and refuse a plan or contract that understates one."""
    found = _open_file(file, fingerprint)
    document, plan = found.document, found.plan
    with show_elapsed_time("deriving its numbers again"):
        true = verify(plan, Accountant())
        second = _second_proof(plan) if rigorous else None
    if json:
        facts = {**whole_facts(document), "checked": True, "delta_derived": true.upper}
        print_json(facts if second is None else {**facts, "rigorous": second.facts()})
        return
    print_lines(opening_lines(document))
    typer.echo(
        f"{file}: every number was derived again and is correct: delta is between "
        f"{at_least(true.lower, 6)} and {at_most(true.upper, 6)} at epsilon "
        f"{at_most(true.epsilon, 6)}; the file states {at_most(plan.certificate.upper, 6)}."
    )
    typer.echo(f"It {true.assumption}.")
    if second is not None:
        console_of().print(_proof_table(second))
        typer.echo(f"Second program: {second.summary}.")


def _second_proof(plan: Plan) -> "VerificationResult":
    # This needs python-flint, an optional package.
    from mixtally.accounting.verification import verify_certificate

    return verify_certificate(loads(write_plan(plan)))


def _proof_table(second: "VerificationResult") -> FoldingTable:
    from mixtally.accounting.verification import COLUMNS

    table = FoldingTable(*COLUMNS, title="Second derivation, for one message of one round")
    for row in second.rows():
        table.add_row(*row)
    return table


class _OpenedFile(NamedTuple):
    """A plan, the contract that contains it if there is one, and the fingerprint of the file."""

    plan: Plan
    contract: Contract | None
    fingerprint: str

    @property
    def document(self) -> Document:
        if self.contract is None:
            return plan_document(self.plan)
        return contract_document(self.contract, self.fingerprint)


def _open_file(file: Path, expected: str | None = None) -> _OpenedFile:
    data = read_bytes(file, "a plan or a contract", CONTRACT)
    found = fingerprint_of(data)
    if expected is not None and expected != found:
        raise PlanError(
            str(file),
            expected=f"the file with fingerprint {expected}",
            got=found,
            do="ask the sender of the fingerprint for the file: this file is a different one",
        )
    read = read_plan_or_contract(data, str(file))
    if isinstance(read, Contract):
        return _OpenedFile(read.plan, read, found)
    return _OpenedFile(read, None, found)
