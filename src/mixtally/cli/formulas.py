"""``mixtally check formula`` and ``check sufficient``: published formulas and the exact delta."""

from typing import Annotated

from mixtally.app.formulas import SettingOptions, check_formula, list_formulas
from mixtally.app.sufficient import FlipOptions, describe_ratio
from mixtally.cli import options as o
from mixtally.cli.option_groups import with_option_groups
from mixtally.cli.output import print_outcome, show_elapsed_time


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
