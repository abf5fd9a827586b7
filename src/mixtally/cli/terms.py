"""The terms that ``mixtally plan --hops`` finds: planned, printed, written."""

from pathlib import Path

import msgspec
import typer
from rich.table import Table

from mixtally.cli.cascade import CascadeOptions, How
from mixtally.cli.output import print_result, publish, sign_of_life
from mixtally.cli.screen import console_of, say
from mixtally.errors import ParameterError
from mixtally.planner import PlanRequest
from mixtally.planner.cascade import CascadeChoice, CascadeOption, CascadeRequest, cascade
from mixtally.records.contract import write_terms
from mixtally.report.contract import promised
from mixtally.report.numbers import at_most, error_text, number
from mixtally.report.promise import of_terms


def plan_cascade(
    request: PlanRequest,
    wanted: CascadeOptions,
    how: How,
    out: Path | None,
    *,
    json: bool,
) -> None:
    """Plan, print, and write the terms into ``out``."""
    trusted = request.mix_fakes or request.mixes > 1
    if trusted:
        raise ParameterError(
            "--hops",
            wanted="no --mix-fakes and no --mixes beside it",
            got="one of them",
            do="leave them out: every mix in a row draws fakes where that can be had",
        )
    edges, prefixes = how
    with sign_of_life("planning"):
        answer = cascade(
            CascadeRequest(
                request=request,
                hops=wanted.hops or 1,
                mix_messages=wanted.mix_messages,
                edges=edges,
                prefixes=prefixes,
            )
        )
    written = []
    if out is not None:
        written = publish(out.parent, {out.name: write_terms(answer.best.terms)})
    if json:
        facts = {**answer.facts(), "terms": msgspec.to_builtins(answer.best.terms)}
        print_result(of_terms(answer.best.terms), facts)
        return
    _print(answer)
    for path in written:
        typer.echo(f"terms written to {path}: `mixtally contract new` makes a contract of them")


def _print(answer: CascadeChoice) -> None:
    console = console_of()
    say(console, of_terms(answer.best.terms))
    console.print(_options(answer))
    for need in answer.infeasible:
        console.print(f"{need.protocol} needs {need.needs}", markup=False, highlight=False)
    for text in (answer.reason, *promised(answer.best.terms)):
        console.print(text, markup=False, highlight=False)
    for other in answer.others:
        if other.terms.cover is not answer.best.terms.cover:
            said = f"{other.name}: it {other.terms.certificate.assumption}."
            console.print(f"Beside it, {said}", markup=False, highlight=False)
            break


def _options(answer: CascadeChoice) -> Table:
    table = Table(
        title="What can be had; the first is taken",
        caption="error: standard error of an empty bin; messages, bytes: of a user on average; "
        "left: the epsilon that is left if all mixes collude",
        header_style="bold",
    )
    table.add_column("protocol, cover", no_wrap=True)
    for name in ("error", "delta", "messages", "bytes", "a mix adds", "left"):
        table.add_column(name, justify="right", overflow="fold")
    for option in (answer.best, *answer.others):
        table.add_row(option.name.replace(", by", ",\nby"), *_costs(option))
    return table


def _costs(option: CascadeOption) -> list[str]:
    left = option.terms.local_epsilon
    return [
        error_text(option.standard_error),
        at_most(option.terms.certificate.upper, 4),
        number(option.messages_per_user, 4),
        number(option.bytes_per_user, 4),
        number(option.messages_per_mix, 4),
        "nothing" if left is None else at_most(left),
    ]
