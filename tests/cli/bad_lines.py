"""Thousands of command lines with one bad value each: every option of every command in turn.

A line begins with a call that works, or that is refused at once for want of a role's folder; then
one option gets a value that no person means.
"""

import shlex
from collections.abc import Iterator
from typing import Any

import typer

from mixtally.cli.app import COMMANDS, app

VALUES = ("", "nan", "-1", "x\x01\udce9", ".", "9" * 400)
"""Nothing, no number, too little, a control character and no UTF-8, a folder, too much.

No argument of a process holds a NUL.
"""

PROMISE = "--epsilon 1 --delta 1e-6"
READ = f"survey.csv --column color {PROMISE}"
BOX = "--box 40,44,-76,-70 --resolution 3"
CALLS = {
    "plan": f"{PROMISE} --users 1000 --bins 5",
    "contract new": "plan.json --network network.toml --out contract.json",
    "contract show": "contract.json",
    "contract check": "contract.json",
    "mix init": "nowhere/mix --name mix-1 --address http://127.0.0.1:1",
    "mix sign": "nowhere contract.json",
    "mix codes": "nowhere codes.note",
    "mix rotate": "nowhere",
    "mix backup": "nowhere nowhere.backup",
    "mix restore": "nowhere.backup nowhere",
    "mix end": "nowhere --round 1 --why accident",
    "mix status": "nowhere",
    "mix serve": "nowhere",
    "mix intake": "nowhere --number 1 --port 1",
    "mix release-intake": "nowhere --number 1",
    "collector init": "nowhere/collector --name collector --address http://127.0.0.1:1",
    "collector rotate": "nowhere",
    "collector backup": "nowhere nowhere.backup",
    "collector restore": "nowhere.backup nowhere",
    "collector status": "nowhere",
    "collector sign": "nowhere contract.json",
    "collector codes": "nowhere contract.json --number 5 --out codes.txt",
    "collector propose": "nowhere",
    "collector serve": "nowhere",
    "collector publish": "nowhere",
    "collector conclude": "nowhere --round 1",
    "collector withdraw": "nowhere --round 1",
    "collector export": "nowhere --round 1",
    "client show": "contract.json",
    "client send": "contract.json red --diary nowhere/diary",
    "client watch": "contract.json",
    "client log": "nowhere",
    "page build": "contract.json --out nowhere",
    "page check": "http://127.0.0.1:9",
    "check delta": "--protocol clear-uniform --epsilon 1 --fakes 4261 --bins 100",
    "check noise": f"--protocol clear-uniform {PROMISE} --bins 100",
    "check formula": f"--formula notes-5.10 {PROMISE} --bins 100",
    "check attack": "plan.json --only n-1 --runs 20 --drawn 50 --seed 1",
    "check round": "nowhere",
    "check sufficient": "--users 500 --bits 5 --epsilon 2 --flip 0.15",
    "simulate": READ,
    "batch randomize": "survey.csv --column color --plan plan.json --out raw",
    "batch mix": "raw --plan plan.json --out mixed",
    "batch tally": "raw --plan plan.json",
    "simulate places": f"people.csv --latitude lat --longitude lon {BOX} {PROMISE}",
    "simulate baskets": f"survey.csv --column color --person-column who --several set {PROMISE}",
    "simulate words": f"{READ} --longest 2",
    "simulate epochs": "survey.csv --column color --epoch-column week --person-column who "
    f"{PROMISE}",
    "simulate memoized": "survey.csv --column color --reports 2",
    "batch doctor": "--envelopes 1e6",
    "demo": "--epsilon 99 --delta 1e-6",
    "budget open": f"new.ledger {PROMISE}",
    "budget charge": "me.ledger plan.json",
    "budget show": "me.ledger",
}
PREPARED = (
    f"plan {PROMISE} --users 60 --bins 5 --out plan.json",
    "budget open me.ledger --epsilon 3 --delta 1e-5",
)
PLACES = "lat,lon\n" + "41,-73\n42,-72\n" * 15
SURVEY = "who,week,color\n" + "".join(
    f"{i},{week},{('red', 'green', 'blue')[i % 3]}\n" for i in range(30) for week in (1, 2)
)


def options(name: str) -> list[str]:
    """Every option of a command that takes a value."""
    group: Any = typer.main.get_command(app)
    first, *rest = (name,) if name in COMMANDS else name.split()
    command = group.get_command(None, first)
    for word in rest:
        command = command.get_command(None, word)
    return [
        one.opts[0]
        for one in command.params
        if one.opts[0].startswith("-") and not getattr(one, "is_flag", False)
    ]


def names() -> Iterator[str]:
    """Every command, and every command of a command."""
    group: Any = typer.main.get_command(app)
    for first in COMMANDS:
        command = group.get_command(None, first)
        if hasattr(command, "list_commands"):
            yield from (f"{first} {word}" for word in command.list_commands(None))
        else:
            yield first


def lines(name: str) -> Iterator[list[str]]:
    """The calls of a command with one bad value each."""
    words = shlex.split(CALLS[name])
    for option in options(name):
        call = list(words)
        if option in call:
            at = call.index(option)
            del call[at : at + 2]
        yield from ([*name.split(), *call, option, value] for value in VALUES)
