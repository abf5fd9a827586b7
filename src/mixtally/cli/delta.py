"""``mixtally check delta``: the exact delta of any parameters."""

from mixtally.app import price
from mixtally.app.mechanism import NEEDED, MechanismOptions
from mixtally.cli import options as o
from mixtally.cli.option_groups import with_help_paragraph, with_option_groups
from mixtally.cli.output import print_outcome, show_elapsed_time


@with_option_groups
@with_help_paragraph("Every protocol requires its parameters:", NEEDED)
def delta(epsilon: o.Epsilon, json: o.Json = False, *, options: MechanismOptions) -> None:
    """Compute the exact delta of given parameters.

    If a parameter does not fit the protocol, the error message lists the ones that do.
    """
    with show_elapsed_time("computing delta"):
        found = price.delta(options, epsilon)
    print_outcome(found.promise, found.facts, found.lines, json=json)
