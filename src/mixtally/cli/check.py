"""``mixtally check delta`` and ``mixtally check noise``: delta of parameters, and least noise."""

from typing import Annotated

import typer

from mixtally.app import matrix as use
from mixtally.app import price
from mixtally.app.mechanism import NEEDED, SOUGHT, MechanismOptions
from mixtally.cli import options as o
from mixtally.cli.option_groups import with_help_paragraph, with_option_groups
from mixtally.cli.output import print_outcome, show_elapsed_time
from mixtally.errors import ParameterError
from mixtally.report.numbers import at_most


@with_option_groups
@with_help_paragraph("Every protocol requires its parameters:", NEEDED)
def delta(
    epsilon: o.Epsilon,
    curve: Annotated[
        bool, typer.Option("--curve", help="Also print epsilon for every power of ten of delta.")
    ] = False,
    json: o.Json = False,
    *,
    options: use.DeltaOptions,
) -> None:
    """Compute the exact delta of given parameters.

    If a parameter does not fit the protocol, the error message lists the ones that do. With
    --matrix, both ends of delta of the randomizer in a file are computed. A matrix needs --users,
    and --fakes with --fake-row if fakes hide its messages.
    """
    if options.matrix is None:
        if curve:
            raise ParameterError(
                "--curve",
                expected="--matrix with it",
                got="none",
                do="call mixtally.curve in Python",
            )
        with show_elapsed_time("computing delta"):
            found = price.delta(options.mechanism(), epsilon)
        print_outcome(found.promise, found.facts, found.lines, json=json)
        return
    matrix = use.read_matrix(options.matrix, normalize=options.reading.normalize)
    shuffled = options.shuffle(matrix)
    with show_elapsed_time("computing delta"):
        priced = use.price_matrix(shuffled, epsilon)
        traced = use.trace_matrix(shuffled) if curve else None
    facts, lines = priced.facts, priced.lines
    if traced is not None:
        facts["curve"] = [{"epsilon": one, "delta": two} for one, two in traced.profile()]
        lines += [
            f"epsilon {at_most(one, 6)} at delta {two:.0e}" for one, two in use.curve_rows(traced)
        ]
    print_outcome(priced.promise, facts, lines, json=json)


@with_option_groups
@with_help_paragraph("What can be left out:", SOUGHT)
def calibrate(promise: o.Promise, json: o.Json = False, *, options: MechanismOptions) -> None:
    """Find the smallest noise for a guarantee.

    Takes all parameters of `mixtally check delta` except one, and finds the omitted one. Errors are
    for --users people. Without --users they are for as many people as there are fakes.
    """
    guarantee = promise.guarantee()
    with show_elapsed_time("calibrating"):
        found = price.noise(options, guarantee)
    print_outcome(found.promise, found.facts, found.lines, json=json)
