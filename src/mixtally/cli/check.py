"""``mixtally check`` delta, noise, formula and sufficient: numbers about privacy."""

from typing import Annotated

import typer

from mixtally.app import matrix as use
from mixtally.app import price
from mixtally.app.formulas import SettingOptions, check_formula, list_formulas
from mixtally.app.mechanism import NEEDED, SOUGHT, MechanismOptions
from mixtally.app.sufficient import FlipOptions, describe_ratio
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


@with_option_groups
def audit(
    formula: Annotated[
        str | None, o.option("--formula", "Name of the formula; --list shows all.", "NAME")
    ] = None,
    *,
    promise: o.MaybePromise,
    setting: SettingOptions,
    show: Annotated[bool, o.option("--list", "List all formulas and exit.")] = False,
    json: o.Json = False,
) -> None:
    """Check a published formula against the exact delta.

    Computes the noise that the formula prescribes for a guarantee, and the exact delta of this
    noise. Prints whether the guarantee is satisfied, and the factors by which noise, error or
    privacy differ from what is needed.
    """
    if show:
        view = list_formulas()
    else:
        with show_elapsed_time("pricing"):
            view = check_formula(formula, promise, setting)
    print_outcome(*view, json=json)


@with_option_groups
def sufficient(
    users: Annotated[int, o.whole_option("--users", "People expected to take part, 2 to 10^10.")],
    bits: Annotated[int, o.whole_option("--bits", "Bits of a vector, 1 to 64.")],
    epsilon: o.Epsilon,
    flips: FlipOptions,
    json: o.Json = False,
) -> None:
    """Describe the privacy ratio of shuffled bit vectors.

    Takes one of --flip, --eta and --sigmas. The tail probability eta is not a guarantee, so delta
    is printed as well.
    """
    with show_elapsed_time("pricing"):
        found = describe_ratio(users, bits, epsilon, flips)
    print_outcome(*found, json=json)
