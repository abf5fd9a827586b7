"""``mixtally collector``: sign contracts, propose rounds, serve, and analyze tallies again."""

import re
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
from mixtally.cli import role_backup
from mixtally.cli import role_files as r
from mixtally.cli.common import command_group
from mixtally.cli.display import show
from mixtally.cli.engine_options import EngineOptions
from mixtally.cli.labels import read_labels
from mixtally.cli.log_option import LogAs
from mixtally.cli.option_groups import with_option_groups
from mixtally.cli.output import print_lines, show_elapsed_time
from mixtally.cli.plan_files import CONTRACT, read_contract_file
from mixtally.cli.progress import progress_bars
from mixtally.cli.status import status
from mixtally.errors import DataError, ParameterError, not_together
from mixtally.primitives.chance import SecureChance
from mixtally.primitives.files import read_bytes
from mixtally.server.collector.contracts import note_path
from mixtally.server.collector.prefixes import Symbols, spell_prefixes
from mixtally.server.collector.results import format_utc
from mixtally.server.node.calls import call, retry_until_ready
from mixtally.server.node.disk import put
from mixtally.server.node.folder import Folder
from mixtally.server.node.node import Node

_LINK = re.compile(r"(https://|http://(127\.0\.0\.1|localhost|\[::1\])[:/])[!\"$-~]{1,500}")
app = command_group("collector", "Run the collector of a network.")

Name = Annotated[
    str | None, o.option("--contract", "Name of the contract, if several were signed.", "NAME")
]
Number = Annotated[int, o.whole_option("--round", "Number of the round.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundOptions:
    """Times and prefixes of a proposed round."""

    opens: Annotated[
        str | None,
        o.option("--opens", "Opening time, as 2026-12-31T18:00:00Z (default: earliest).", "TIME"),
    ] = None
    expires_after: Annotated[
        int,
        o.whole_option(
            "--expires-after", "Seconds after closing until keys and late messages are deleted."
        ),
    ] = 86_400
    prefixes: Annotated[
        Path | None,
        o.option("--prefixes", "Search for words: the prefixes to ask for, one per line.", "FILE"),
    ] = None
    extend: Annotated[
        int | None,
        o.whole_option("--extend", "Search for words: extend the prefixes that this round found."),
    ] = None
    closing: Annotated[
        bool, o.option("--closing", "Search for words: ask which words end at these prefixes.")
    ] = False
    new: Annotated[
        bool,
        o.option("--new", "Abandon a round number without all signatures; it is not used again."),
    ] = False


@app.command()
@with_option_groups
def init(folder: r.Place, role: r.RoleOptions) -> None:
    """Create a collector: folder, signing key, master key; print its entry for a network file."""
    role.begin(folder, "[collector]")


@app.command()
def rotate(folder: r.Place) -> None:
    """Replace the signing key of a stopped collector, and print its new entry for a network file.

    The old and the new key sign a note, with which peers and devices accept the new key.
    """
    r.rotate_role(folder, "[collector]")


@app.command()
@with_option_groups
def sign(folder: r.Place, contract: r.ContractFile, fingerprint: r.Expected = None) -> None:
    """Derive every number of a contract again, sign it, and collect the signatures of its mixes.

    Run the command again after a missing mix has signed; the same contract is signed again.
    """
    _sign(r.open_role(folder), contract, fingerprint)


def _sign(role: Folder, contract: Path, fingerprint: str | None) -> None:
    """Sign a contract, collect the signatures of its mixes, and print what is missing."""
    data = read_bytes(contract, "a contract", CONTRACT)
    with show_elapsed_time("deriving its numbers again"):
        agreed = office.verify_contract(data, role, str(contract))
    r.check_fingerprint(contract, fingerprint, agreed.fingerprint)
    with closing(Node(role, SecureChance())) as node:
        waiting = "is not ready yet; trying again for some seconds"
        patient_call = retry_until_ready(call, lambda at: typer.echo(f"{at} {waiting}", err=True))
        found = office.sign(node, agreed, data, patient_call, int(time()))
    about = agreed.contract
    path = note_path(role, about)
    # This is reported first: as long as another program answers, repeating the command is useless.
    if found.strangers:
        raise DataError(
            f"contract {about.name}",
            expected="every mix at its address of the contract",
            got="; ".join(f"of {name}: {who}" for name, who in found.strangers.items()),
            do="another program may use the port: end it and start the mix, then repeat this call",
        )
    if found.missing:
        raise DataError(
            f"contract {about.name}",
            expected="the signatures of all mixes",
            got="none of " + "; ".join(f"{name}: {why}" for name, why in found.missing.items()),
            do=f"let them serve and sign {path}, which this role has signed, and repeat this call",
        )
    typer.echo(f"{about.name}, serial {about.serial}, is signed by its collector and all mixes")
    typer.echo(f"fingerprint: {agreed.fingerprint}")
    typer.echo(f"the note: {path}")


@app.command()
@with_option_groups
def codes(
    folder: r.Place,
    contract: r.ContractFile,
    number: Annotated[int, o.whole_option("--number", "How many codes, one for each person.")],
    link: Annotated[
        str | None,
        o.option("--link", "Write links to this page, which end in the code.", "URL"),
    ] = None,
    out: Annotated[
        Path | None,
        o.option("--out", "Write the codes to this new file, for its owner only.", "FILE"),
    ] = None,
    hashes: Annotated[
        Path,
        o.option("--hashes", "Write the signed hashes to this new file, for mix 1.", "FILE"),
    ] = Path("codes.note"),
) -> None:
    """Make one-time codes for a contract that asks for them; they are stored nowhere else.

    Give one to each person, and the file of hashes to the operator of the first mix.
    """
    for path in (hashes, *(() if out is None else (out,))):
        if path.exists():
            raise DataError(
                str(path), expected="a new file", got="a file that exists", do="choose another name"
            )
    if link is not None and not _LINK.fullmatch(link):
        raise ParameterError(
            "--link",
            expected="the address of a page, https://..., without # and spaces",
            got=ascii(link)[:80],
            do="give the address as people open it",
        )
    read, found = read_contract_file(contract)
    made, note = office.make_codes(r.open_role(folder), read, found, number, SecureChance())
    shown = made if link is None else [f"{link}#{found}.{code}" for code in made]
    put(hashes, note, "the hashes of codes")
    try:
        if out is None:
            print_lines(shown)
        else:
            put(out, "".join(f"{one}\n" for one in shown).encode(), "codes")
    except BaseException:  # the codes reached nobody, so their hashes must not remain
        hashes.unlink(missing_ok=True)
        raise
    typer.echo(f"hashes of {number:,} codes for mix 1 written to {hashes}", err=True)


@app.command()
@with_option_groups
def propose(
    folder: r.Place,
    contract: Name = None,
    sign: r.SignFirst = None,
    *,
    round_options: RoundOptions,
) -> None:
    """Propose the next round: create its sheet, and collect the keys and signatures of all roles.

    The sheet contains the keys and times of the round. If a role refuses, its reason is printed.
    Run the command again after a failure. It uses the same sheet until the window of the sheet is
    over.
    """
    role = r.open_role(folder)
    if sign is not None and not r.is_signed(role, sign, by_all=True):
        _sign(role, sign, None)
    agreed = office.load_signed_contract(role, contract)
    proposal = office.Proposal(
        opens=_parse_time(round_options.opens),
        expiry_delay=round_options.expires_after,
        prefixes=_read_prefixes(role, agreed, round_options),
        closing=round_options.closing,
        fresh=round_options.new,
    )
    with closing(Node(role, SecureChance())) as node:
        done = office.propose(node, agreed, call, int(time()), proposal)
    sheet, last = done.sheet, agreed.contract.plan.collections
    begun = ", begun by an earlier call," if done.is_resumed else ""
    typer.echo(f"round {sheet.round} of {last}{begun} is signed by all")
    typer.echo(f"opens: {format_utc(sheet.opens)}; closes: {format_utc(sheet.closes)}")
    typer.echo(f"messages that have not arrived by {format_utc(sheet.expires)} are lost")
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
    """Withdraw a round that has not opened, with the signatures of all roles.

    The number of the round is not used again. Run the command again after a failure. It then
    requests only the missing signatures.
    """
    role = r.open_role(folder)
    agreed = office.load_signed_contract(role, contract)
    with closing(Node(role, SecureChance())) as node:
        office.withdraw(node, agreed, call, number, int(time()))
    typer.echo(f"round {number} is withdrawn by all roles; its number is not used again")


@app.command()
@with_option_groups
def serve(
    folder: r.Place,
    engine: EngineOptions,
    overrule: r.Overrule = [],  # noqa: B006
    log: LogAs = "text",
    metrics_port: r.MetricsPort = None,
    schedule: Annotated[
        bool, o.option("--schedule", "Propose every round, as often as the contract says.")
    ] = False,
    notify: Annotated[
        str | None,
        o.option("--notify", "Run this when a round has ended, with the event as JSON.", "COMMAND"),
    ] = None,
    keep_messages: Annotated[
        bool,
        o.option(
            "--keep-messages",
            "Keep the opened messages and the pieces of each round, for `collector export`.",
        ),
    ] = False,
) -> None:
    """Serve the signed contracts and the page of results until a signal ends the process."""
    service = r.make_service(overrule, log, metrics_port)
    automation = office.Automation(schedule, notify, keep_messages)
    office.serve(r.open_role(folder), service, engine.build_engine(), automation)


app.command()(status)


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewOptions:
    """How a stored tally is analyzed and shown."""

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
    """Analyze the tally of a round again, in another way.

    Nobody is asked again, and no privacy is spent.
    """
    role = r.open_role(folder)
    analysis = view.expected.analysis(view.level)
    every = number is None and contract is None
    name = None if every else office.load_signed_contract(role, contract).contract.name
    if number is None or name is None:
        page = Outcome(document=office.build_page(role, name))
        show(page, view.out, json=view.json, out_format=view.out_format)
        return
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
    """Repeat the conclusion of a refused round from its stored tally and the manifests of mixes.

    The round is released if its numbers are now consistent. A released round stays unchanged.
    """
    role = r.open_role(folder)
    name = office.load_signed_contract(role, contract).contract.name
    show(Outcome(document=office.conclude_again(role, name, number, top)), None, json=json)


@app.command()
@with_option_groups
def export(
    folder: r.Place,
    number: Number,
    contract: Name = None,
    out: Annotated[
        Path | None,
        o.folder_option("New folder for the files (default: one that this collector serves)."),
    ] = None,
) -> None:
    """Write all files with which anyone can check a counted round, and its release receipt.

    Counts can be checked as well if `serve --keep-messages` kept the messages. The messages are
    public from then on.
    """
    role = r.open_role(folder)
    name = office.load_signed_contract(role, contract).contract.name
    with show_elapsed_time("deriving its numbers again"):
        done = office.export_round(role, name, number, out)
    kept = "with" if done.has_messages else "without, as none were kept,"
    typer.echo(f"round {number} of {name}: {done.files} files, {kept} the opened messages")
    typer.echo(f"written to {done.folder}")
    if done.served_at is not None:
        typer.echo(f"check it: mixtally check round {done.served_at}")


def _parse_time(text: str | None) -> int | None:
    """Return a time as seconds since 1970, or None if ``text`` is None.

    A time without a zone is UTC. Raises ParameterError for a text that is not a time.
    """
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError as error:
        raise ParameterError(
            "--opens",
            expected="2026-12-31T18:00:00Z",
            got=ascii(text)[:80],
            do="write the time in this form",
        ) from error
    return int((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp())


def _read_prefixes(
    role: Folder, agreed: office.SignedContract, round_options: RoundOptions
) -> Symbols | None:
    asked, path = agreed.contract.plan.prefixes, round_options.prefixes
    if path is None and round_options.extend is None:
        return None
    if asked is None:
        raise ParameterError(
            "prefixes",
            expected="a question for words with --prefixes or --extend",
            got="another question",
            do="leave the option out",
        )
    if path is not None and round_options.extend is not None:
        raise not_together("prefixes", "--prefixes", ["--extend"], "leave one out")
    if path is None:
        return office.find_prefixes(role, agreed.contract.name, round_options.extend or 0)
    return spell_prefixes(asked, read_labels(path) or ())


for command in (role_backup.backup, role_backup.restore):
    app.command()(command)
