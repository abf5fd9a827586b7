"""``mixtally plan``: the least-error plan for a wish."""

from pathlib import Path
from typing import Annotated

import typer

from mixtally import planning as planner
from mixtally.app import plan as use
from mixtally.app.approval_details import details_of
from mixtally.app.elsewhere import elsewhere_table
from mixtally.app.plan import Planned, PlanOptions
from mixtally.app.plans import check_details, is_page, plan_file
from mixtally.cli import options as o
from mixtally.cli.grouped import grouped
from mixtally.cli.output import print_result, publish, sign_of_life
from mixtally.cli.plan_tables import alternatives, explained, front_table, nearest_table
from mixtally.cli.screen import console_of, say, warn
from mixtally.errors import InfeasibleError
from mixtally.planning import Candidate
from mixtally.report.promise import width_text
from mixtally.report.terminal import framed
from mixtally.report.words import promise

NO_MINIMUM = (
    "no minimum crowd is set: a round with one person is counted as well; --minimum-crowd N "
    "destroys smaller rounds"
)


@grouped
def plan(
    options: PlanOptions,
    explain: Annotated[bool, o.option("--explain", "Say where every number comes from.")] = False,
    out: Annotated[
        Path | None,
        o.option(
            "--out", "Write the plan to this file; a page for approval if it ends in .html or .md."
        ),
    ] = None,
    approval: o.Approval = None,
    json: o.Json = False,
) -> None:
    """Find the plan of least error.

    A question, a guarantee, a crowd and a budget go in; out comes the plan, what else can be had
    for fewer messages or bytes, and the reason. When nothing fits, the nearest wishes that
    something does are shown. With --hops it is planned for mixes in a row that different people
    run: `mixtally contract new` says who.
    """
    details = None if approval is None else details_of(approval)
    if details is not None:
        check_details(out)
    request = use.expected(options)
    try:
        with sign_of_life("planning"):
            found = use.plan(request)
    except InfeasibleError as error:
        _print_nearest(error, json=json)
        raise
    written = []
    if out is not None:
        written = publish(out.parent, {out.name: plan_file(found.plan, out, details)})
    with sign_of_life("looking at smaller budgets"):
        facts = found.facts(explain=explain) if json else {}
        had, better = ([], []) if json else (found.front(), found.gains())
    if found.plan.minimum_crowd == 1:
        warn(NO_MINIMUM)
    if json:
        print_result(found.promise(), facts)
        return
    _print(found, had, explain=explain)
    for gain in better:
        typer.echo(gain.sentence)
    for path in written:
        typer.echo(f"{'page' if is_page(path) else 'plan'} written to {path}")


def _print(found: Planned, had: list[Candidate], *, explain: bool) -> None:
    console, best, expected = console_of(), found.plan, found.forecast
    say(console, found.promise())
    console.print(front_table(had))
    console.print(framed(elsewhere_table(best, found.elsewhere())))
    empty = "empty " * (best.parts[0].replaced is not None)
    mean = planner.of_mean(best)
    sentences = [
        found.choice.reason,
        *([] if mean is None else [mean.sentence]),
        f"With {100 * expected.level:g} % confidence one {empty}bin errs by at most "
        f"{width_text(expected.half_width)} counts, none of all {empty}bins by more than "
        f"{width_text(expected.largest_error)}; a count of {expected.visible_count:,} is "
        "distinguishable from zero.",
    ]
    if explain:
        console.print(alternatives(found.choice))
        sentences += promise(best)
    say(console, sentences)
    if explain:
        console.print(explained(planner.explain(best)))


def _print_nearest(error: InfeasibleError, *, json: bool) -> None:
    """Add the nearest requests that can be met to ``error``, and print them."""
    with sign_of_life("nothing fits: looking for the nearest plans"):
        found = error.nearest
    if found is None:
        return
    error.beside["nearest"] = [near.facts() for near in found.found]
    error.beside["unfinished"] = found.unfinished
    if found.found and not json:
        console_of(stderr=True).print(nearest_table(found.found))
    if found.unfinished and not json:
        warn(f"not searched to the end, as it takes too long: {', '.join(found.unfinished)}")
