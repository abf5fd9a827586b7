"""``mixtally check noise``: the smallest noise that satisfies a guarantee."""

from mixtally.app import price
from mixtally.app.mechanism import SOUGHT, MechanismOptions
from mixtally.cli import options as o
from mixtally.cli.option_groups import with_help_paragraph, with_option_groups
from mixtally.cli.output import print_outcome, show_elapsed_time


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
