"""``mixtally check delta``: the exact delta of any parameters."""

from mixtally.app import price
from mixtally.app.mechanism import NEEDED, MechanismOptions
from mixtally.cli import options as o
from mixtally.cli.grouped import described, grouped
from mixtally.cli.output import print_told, sign_of_life


@grouped
@described("Every protocol requires its parameters:", NEEDED)
def delta(epsilon: o.Epsilon, json: o.Json = False, *, options: MechanismOptions) -> None:
    """Compute the exact delta of given parameters.

    What else a protocol may take is said when it refuses a parameter.
    """
    with sign_of_life("computing delta"):
        found = price.delta(options, epsilon)
    print_told(found.promise, found.facts, found.lines, json=json)
