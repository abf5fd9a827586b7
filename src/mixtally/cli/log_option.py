"""``--log``: how what happens is told on standard error. No key can be read from here."""

from typing import Annotated

import typer

from mixtally.errors import ParameterError
from mixtally.server.node.events import Log, print_line

LogAs = Annotated[
    str,
    typer.Option("--log", help="How events are told on standard error: text, json.", metavar="HOW"),
]


def log_of(how: str) -> Log:
    """What tells events; raises ParameterError for another way."""
    if how not in ("text", "json"):
        raise ParameterError("--log", expected="text or json", got=how, do="choose one of them")
    return Log(print_line, as_json=how == "json")
