"""``--log``: the format of events on standard error.

The process that accepts people's bundles imports this module, and must not be able to read a
private key. So this module must not import code that can.
"""

from typing import Annotated

import typer

from mixtally.errors import ParameterError
from mixtally.server.node.events import Log, print_line

LogAs = Annotated[
    str,
    typer.Option("--log", help="Format of events on standard error: text, json.", metavar="HOW"),
]


def log_of(how: str) -> Log:
    """Return a log that prints events in the format ``how``; raise ParameterError if unknown."""
    if how not in ("text", "json"):
        raise ParameterError("--log", expected="text or json", got=how, do="choose one of them")
    return Log(print_line, as_json=how == "json")
