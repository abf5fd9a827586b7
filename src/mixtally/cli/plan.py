"""``mixtally plan``: the plan with the smallest error for a request."""

from pathlib import Path
from typing import Annotated

import typer

from mixtally import planning as planner
from mixtally.app import plan as use
from mixtally.app.contracts import contract_of, read_network
from mixtally.app.model_comparison import comparison_table
from mixtally.app.plan import Planned, PlanOptions
from mixtally.app.plans import contract_file, details_of, is_page, plan_file
from mixtally.cli import options as o
from mixtally.cli.display import console_of, print_sentences, warn
from mixtally.cli.option_groups import with_option_groups
from mixtally.cli.output import print_result, publish, show_elapsed_time
from mixtally.cli.plan_tables import (
    alternatives_table,
    explanation_table,
    front_table,
    nearest_table,
)
from mixtally.errors import InfeasibleError, ParameterError
from mixtally.planning import Candidate
from mixtally.report.promise import width_text
from mixtally.report.terminal import render_table
from mixtally.report.words import promise_paragraphs

NO_MINIMUM = (
    "no minimum crowd is set, so a round with one person is counted; with --minimum-crowd N "
    "smaller rounds are destroyed"
)


@with_option_groups
def plan(
    options: PlanOptions,
    explain: Annotated[bool, o.option("--explain", "Print the source of every number.")] = False,
    out: Annotated[
        Path | None,
        o.option(
            "--out", "Write the plan to this file; an approval page if it ends in .html or .md."
        ),
    ] = None,
    network: Annotated[
        Path | None,
        o.option("--network", "Operators as TOML: write a contract instead of the plan.", "FILE"),
    ] = None,
    approval: o.Approval = None,
    json: o.Json = False,
) -> None:
    """Find the plan with the smallest error.

    Takes a question, a guarantee, a crowd and a budget. Prints the plan, the alternatives with
    fewer messages or bytes, and the reason of the choice. If no plan meets the budget, the closest
    feasible requests are shown. With --hops, the plan is for several mixes in a row with different
    operators; `mixtally contract new` names them.
    """
    details = details_of(approval, out)
    if network is not None and out is None:
        raise ParameterError(
            "--network", expected="--out with it", got="none", do="add --out contract.json"
        )
    run = None if network is None else read_network(network)
    request = use.make_request(options)
    try:
        with show_elapsed_time("planning"):
            found = use.plan(request)
    except InfeasibleError as error:
        _print_nearest(error, json=json)
        raise
    written = []
    if out is not None:
        if run is None:
            data = plan_file(found.plan, out, details)
        else:
            data = contract_file(contract_of(found.plan, run, str(network)), out, details)
        written = publish(out.parent, {out.name: data})
    with show_elapsed_time("comparing smaller budgets"):
        facts = found.facts(explain=explain) if json else {}
        had, better = ([], []) if json else (found.front(), found.gains())
    if found.plan.minimum_crowd == 1:
        warn(NO_MINIMUM)
    if json:
        print_result(found.promise(), facts)
        return
    _print_plan(found, had, explain=explain)
    for gain in better:
        typer.echo(gain.sentence)
    for path in written:
        kind = "page" if is_page(path) else "plan" if run is None else "contract"
        typer.echo(f"{kind} written to {path}")


def _print_plan(found: Planned, had: list[Candidate], *, explain: bool) -> None:
    console, best, expected = console_of(), found.plan, found.forecast
    print_sentences(console, found.promise())
    console.print(front_table(had))
    console.print(render_table(comparison_table(best, found.elsewhere())))
    empty = "empty " * best.varies_by_count
    mean = planner.forecast_mean(best)
    sentences = [
        found.choice.reason,
        *([] if mean is None else [mean.sentence]),
        f"With {100 * expected.level:g} % confidence one {empty}bin errs by at most "
        f"{width_text(expected.half_width)} counts, none of all {empty}bins by more than "
        f"{width_text(expected.largest_error)}; a count of {expected.visible_count:,} is "
        "distinguishable from zero.",
    ]
    if explain:
        console.print(alternatives_table(found.choice))
        sentences += promise_paragraphs(best)
    print_sentences(console, sentences)
    if explain:
        console.print(explanation_table(planner.explain(best)))


def _print_nearest(error: InfeasibleError, *, json: bool) -> None:
    """Print the closest feasible requests, and add them to the error."""
    with show_elapsed_time("no plan fits: searching for the closest feasible requests"):
        found = error.nearest
    if found is None:
        return
    # main prints these facts with --json.
    error.details["nearest"] = [near.facts() for near in found.found]
    error.details["unfinished"] = found.unfinished
    if found.found and not json:
        console_of(stderr=True).print(nearest_table(found.found))
    if found.unfinished and not json:
        warn(
            f"these searches were stopped because they take too long: {', '.join(found.unfinished)}"
        )
