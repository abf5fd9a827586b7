"""``mixtally check noise``: the least noise that keeps a guarantee."""

from mixtally.app import price
from mixtally.app.mechanism import SOUGHT, MechanismOptions
from mixtally.cli import options as o
from mixtally.cli.option_groups import with_help_paragraph, with_option_groups
from mixtally.cli.output import print_outcome, show_elapsed_time


@with_option_groups
@with_help_paragraph("What can be left out:", SOUGHT)
def calibrate(promise: o.Promise, json: o.Json = False, *, options: MechanismOptions) -> None:
    """Find the least noise for a guarantee.

    Takes the parameters of `mixtally check delta` but for one, and finds the one that was left out.
    Errors are for --users people, or for as many as there are fakes when it is left out.
    """
    guarantee = promise.guarantee()
    with show_elapsed_time("calibrating"):
        found = price.noise(options, guarantee)
    print_outcome(found.promise, found.facts, found.lines, json=json)
