"""``mixtally collector``: signs contracts, proposes rounds, serves, and looks at tallies again."""

from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from time import time
from typing import Annotated

import typer

import mixtally.server.collector as office
from mixtally.app.analysis import Candidates
from mixtally.app.outcome import Outcome
from mixtally.cli import options as o
from mixtally.cli import role_files as r
from mixtally.cli.common import command_group
from mixtally.cli.contract_files import CONTRACT
from mixtally.cli.display import show
from mixtally.cli.engine_options import EngineOptions
from mixtally.cli.labels import read_labels
from mixtally.cli.log_option import LogAs
from mixtally.cli.option_groups import with_option_groups
from mixtally.cli.output import show_elapsed_time
from mixtally.cli.progress import progress_bars
from mixtally.errors import DataError, ParameterError
from mixtally.primitives.chance import SecureChance
from mixtally.primitives.files import read_bytes
from mixtally.server.collector.contracts import note_path
from mixtally.server.collector.prefixes import Symbols, spell_prefixes
from mixtally.server.collector.results import format_utc
from mixtally.server.node.calls import call, retry_until_ready
from mixtally.server.node.folder import Folder
from mixtally.server.node.node import Node

app = command_group("collector", "Run the collector of a network.")

Name = Annotated[
    str | None, o.option("--contract", "Name of the contract, where several were signed.", "NAME")
]
Number = Annotated[int, o.whole_option("--round", "Number of the round.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundOptions:
    """What is expected of a round."""

    opens: Annotated[
        str | None,
        o.option("--opens", "When, as 2026-12-31T18:00:00Z (default: as soon as allowed).", "TIME"),
    ] = None
    expires_after: Annotated[
        int,
        o.whole_option(
            "--expires-after", "Seconds from its close until keys go and what is late is lost."
        ),
    ] = 86_400
    prefixes: Annotated[
        Path | None,
        o.option("--prefixes", "Words by prefixes: what is asked for, one a line.", "FILE"),
    ] = None
    extend: Annotated[
        int | None,
        o.whole_option("--extend", "Words by prefixes: ask what follows those this round found."),
    ] = None
    closing: Annotated[
        bool, o.option("--closing", "Words by prefixes: ask which words end here.")
    ] = False
    new: Annotated[
        bool, o.option("--new", "Give up a number that lacks signatures; it stays used up.")
    ] = False


@app.command()
@with_option_groups
def init(folder: r.Place, role: r.RoleOptions) -> None:
    """Begin a collector: folder, signing key, master key; print what a network file needs."""
    role.begin(folder, "[collector]")


@app.command()
@with_option_groups
def sign(folder: r.Place, contract: r.ContractFile, fingerprint: r.Expected = None) -> None:
    """Derive every number of a contract again, sign it, and gather the signatures of its mixes.

    Call it again when a mix has signed since: what was signed before is signed again.
    """
    role, data = r.open_role(folder), read_bytes(contract, "a contract", CONTRACT)
    with show_elapsed_time("deriving its numbers again"):
        agreed = office.verify_contract(data, role, str(contract))
    r.check_fingerprint(contract, fingerprint, agreed.fingerprint)
    with closing(Node(role, SecureChance())) as node:
        found = office.sign(
            node, agreed, data, retry_until_ready(call, _print_waiting), int(time())
        )
    about = agreed.contract
    path = note_path(role, about)
    if found.strangers:
        raise DataError(
            f"contract {about.name}",
            expected="every mix at its address of the contract",
            got="; ".join(f"of {name}: {who}" for name, who in found.strangers.items()),
            do="a port may be taken: end what uses it and start the mix. Until then no call of "
            "this can succeed",
        )
    if found.missing:
        raise DataError(
            f"contract {about.name}",
            expected="the signatures of all mixes",
            got="none of " + "; ".join(f"{name}: {why}" for name, why in found.missing.items()),
            do=f"let them sign {path}, which has this role's signature, and call this again",
        )
    typer.echo(f"{about.name}, serial {about.serial}, is signed by its collector and all mixes")
    typer.echo(f"fingerprint: {agreed.fingerprint}")
    typer.echo(f"the note: {path}")


@app.command()
@with_option_groups
def propose(folder: r.Place, contract: Name = None, *, round_options: RoundOptions) -> None:
    """Propose the next round: keys of all mixes, one sheet, signed by all; or say who refused.

    Call it again after a failure: the same sheet is asked for until its window is over.
    """
    role = r.open_role(folder)
    agreed = office.load_signed_contract(role, contract)
    proposal = office.Proposal(
        opens=_parse_time(round_options.opens),
        kept=round_options.expires_after,
        prefixes=_read_prefixes(role, agreed, round_options),
        closing=round_options.closing,
        fresh=round_options.new,
    )
    with closing(Node(role, SecureChance())) as node:
        done = office.propose(node, agreed, call, int(time()), proposal)
    sheet, last = done.sheet, agreed.contract.plan.collections
    begun = ", begun by an earlier call," if done.again else ""
    typer.echo(f"round {sheet.round} of {last}{begun} is signed by all")
    typer.echo(f"opens: {format_utc(sheet.opens)}; closes: {format_utc(sheet.closes)}")
    typer.echo(f"what has not come by {format_utc(sheet.expires)} is lost")
    typer.echo(
        f"its sheet: {agreed.contract.hops[0].address}/contracts/{agreed.fingerprint}"
        f"/rounds/{sheet.round}"
    )


@app.command()
@with_option_groups
def withdraw(
    folder: r.Place,
    number: Number,
    contract: Name = None,
) -> None:
    """Withdraw a round that has not opened, by a note of all roles; its number stays used up.

    Its window binds nobody then. Call it again after a failure: missing signatures are asked for.
    """
    role = r.open_role(folder)
    agreed = office.load_signed_contract(role, contract)
    with closing(Node(role, SecureChance())) as node:
        office.withdraw(node, agreed, call, number, int(time()))
    typer.echo(f"round {number} is withdrawn by all; its number stays used up")


@app.command()
@with_option_groups
def serve(
    folder: r.Place,
    engine: EngineOptions,
    overrule: r.Overrule = [],  # noqa: B006
    log: LogAs = "text",
) -> None:
    """Serve the contracts that were signed, and the page of results, until a signal ends it."""
    office.serve(r.open_role(folder), r.make_service(overrule, log), engine.build_engine())


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewOptions:
    """What is expected of a tally."""

    expected: o.AnalysisOptions
    level: o.Level = 0.95
    candidates: Candidates = None
    out: Annotated[Path | None, o.folder_option("Write report.html, .json and .csv here.")] = None
    out_format: o.OutFormat = "csv"
    top: o.Top = 20
    json: o.Json = False


@app.command()
@with_option_groups
def publish(
    folder: r.Place,
    number: Annotated[
        int | None, o.whole_option("--round", "Number of the round (default: the page of all).")
    ] = None,
    contract: Name = None,
    *,
    view: ViewOptions,
) -> None:
    """Look at the tally of a round again, in another way: nothing is asked of anybody, or spent."""
    role = r.open_role(folder)
    analysis = view.expected.analysis(view.level)
    if number is None:
        page = Outcome(document=office.build_page(role))
        show(page, view.out, json=view.json, out_format=view.out_format)
        return
    name = office.load_signed_contract(role, contract).contract.name
    with progress_bars() as progress:
        analysis = replace(analysis, across=o.make_parallel_map(progress))
        again = office.show_round(role, name, number, analysis, view.top, words=view.candidates)
    show(Outcome(document=again), view.out, json=view.json, out_format=view.out_format)


@app.command()
@with_option_groups
def conclude(
    folder: r.Place,
    number: Number,
    contract: Name = None,
    top: o.Top = 20,
    json: o.Json = False,
) -> None:
    """Conclude a round again that was refused: of its stored tally, by what mixes say by now.

    It is released if its numbers add up; a round that was released stays as it is.
    """
    role = r.open_role(folder)
    name = office.load_signed_contract(role, contract).contract.name
    show(Outcome(document=office.conclude_again(role, name, number, top)), None, json=json)


def _print_waiting(address: str) -> None:
    typer.echo(f"{address} does not serve yet: it is asked again for some seconds", err=True)


def _parse_time(text: str | None) -> int | None:
    """Seconds since 1970; a time without a zone is UTC."""
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError as error:
        raise ParameterError(
            "--opens", expected="2026-12-31T18:00:00Z", got=ascii(text)[:80], do="write it so"
        ) from error
    return int((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp())


def _read_prefixes(
    role: Folder, agreed: office.SignedContract, round_options: RoundOptions
) -> Symbols | None:
    asked, path = agreed.contract.plan.prefixes, round_options.prefixes
    if path is None and round_options.extend is None:
        return None
    if asked is None or (path is not None and round_options.extend is not None):
        raise ParameterError(
            "prefixes",
            expected="--prefixes or --extend, for a question for words",
            got="both" if asked is not None else "another question",
            do="leave it out",
        )
    if path is None:
        return office.find_prefixes(role, agreed.contract.name, round_options.extend or 0)
    return spell_prefixes(asked, read_labels(path) or ())
