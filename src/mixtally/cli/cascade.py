"""``mixtally plan --hops``: terms for mixes in a row, of which contracts are made."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.console import Console
from rich.table import Table

from mixtally.cli import options as o
from mixtally.cli.grouped import flags
from mixtally.cli.output import print_result, publish, sign_of_life
from mixtally.cli.question import QuestionOptions, question_of
from mixtally.cli.reading import scale_of
from mixtally.cli.screen import say
from mixtally.encode.spelling import LETTERS
from mixtally.errors import ParameterError
from mixtally.planner import PlanRequest
from mixtally.planner.cascade import CascadeChoice, CascadeOption, CascadeRequest, cascade
from mixtally.records.contract import Prefixes, write_terms
from mixtally.records.question import Question
from mixtally.report.contract import promised
from mixtally.report.promise import of_terms
from mixtally.report.words import at_most, error_text, number


@dataclass(frozen=True, slots=True, kw_only=True)
class CascadeOptions:
    """Mixes in a row, run by different people."""

    hops: Annotated[
        int | None,
        o.whole_option("--hops", "Mixes in a row, 1 to 5: plan the terms of a contract for them."),
    ] = None
    mix_messages: Annotated[
        int | None,
        o.whole_option("--mix-messages", "Most messages a mix adds (default: as many as users)."),
    ] = None
    number: Annotated[
        str | None,
        o.option("--number", "Numbers, moved into this range and cut into --bins.", "LOW,HIGH"),
    ] = None
    prefixes: Annotated[
        int | None,
        o.whole_option("--prefixes", "Words, asked by what follows up to so many prefixes."),
    ] = None
    longest: Annotated[
        int | None,
        o.whole_option("--longest", "Symbols of a word that are looked at (default 10)."),
    ] = None


_LONGEST = 10


How = tuple[tuple[float, ...] | None, Prefixes | None]
"""The edges of a number, or the prefixes of words; neither for other questions."""


def asked_in_cascade(
    wanted: CascadeOptions, asked: QuestionOptions, seed: str
) -> tuple[Question, How]:
    """The question, and how a number or a word becomes one of its bins.

    Raises ParameterError for several ways at once, or for what needs --hops without it.
    """
    ways = flags(wanted, "number", "prefixes", "longest", "mix_messages")
    if wanted.hops is None and ways:
        raise ParameterError(
            ways[0], wanted="--hops beside it", got="none", do="say how many mixes stand in a row"
        )
    if wanted.number is None and wanted.prefixes is None:
        return question_of(asked, seed), (None, None)
    others = flags(asked, "labels", "max_set", "attributes", "bits", "hashing")
    if wanted.prefixes is not None:  # which have as many bins as they have letters
        others += flags(asked, "bins") + flags(wanted, "number")
    if others:
        raise ParameterError(
            "question", wanted="one way to ask", got=" and ".join(others), do="ask one at a time"
        )
    if wanted.number is not None:
        scale = scale_of(wanted.number, asked.bins)
        edges = tuple(float(edge) for edge in scale.edges)
        return Question(name=asked.name, bins=scale.bins, labels=scale.labels), (edges, None)
    longest = _LONGEST if wanted.longest is None else wanted.longest
    prefixes = Prefixes(alphabet=LETTERS, most=wanted.prefixes or 0, longest=longest)
    return Question(name=asked.name, bins=prefixes.bins), (None, prefixes)


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
    console = Console()
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
