"""``mixtally client``: take part in a round from this device, and list what it sent.

An answer is read from the terminal or from standard input, never from the command line, because
other programs and the history of the shell can read the command line. A one-time code can be read
from a file or from standard input for the same reason.
"""

import sys
from collections.abc import Callable
from json import loads
from pathlib import Path
from time import sleep, time
from typing import Annotated

import typer

from mixtally.cli import options as o
from mixtally.cli.client_log import entry_facts, entry_line, log_facts, log_lines, utc
from mixtally.cli.client_watch import watch
from mixtally.cli.common import command_group
from mixtally.cli.device_options import ContractPlace, DeviceOptions, read_note
from mixtally.cli.option_groups import with_option_groups
from mixtally.cli.output import print_json, print_lines
from mixtally.device.client.encode import Value
from mixtally.device.client.net import (
    BundleState,
    Diary,
    DiaryCharge,
    Entry,
    OpenRound,
    TrustedContract,
    deliver,
    deliver_until_answered,
    describe_consent,
    open_round,
    prepare,
)
from mixtally.device.contract.fields import reject_constant
from mixtally.device.contract.plan import ContractPlan
from mixtally.device.wire.codes import check_code
from mixtally.errors import DataError, ParameterError, RefusedError, not_together
from mixtally.primitives.files import read_bytes

app = command_group("client", "Take part in a round, and list what this device sent.")

SheetPlace = Annotated[
    str,
    typer.Argument(
        help="The sheet of the round (its keys and times) with its signatures: a file, or the "
        "contract's address followed by /rounds/NUMBER.",
        metavar="SHEET",
    ),
]
Yes = Annotated[
    bool, o.option("--yes", "Consent to the text of `client show` without being asked.")
]
AtOnce = Annotated[bool, o.option("--now", "Send now, not at a random time of the window.")]
Again = Annotated[
    bool, o.option("--again", "Answer although the question was answered under another name.")
]
Watch = Annotated[
    bool,
    o.option(
        "--watch",
        "Keep tags of the messages, to check with `client watch` whether they arrived.",
    ),
]
Code = Annotated[
    str | None,
    o.option(
        "--code",
        "Your one-time code, if the contract asks for one. Others who use this machine can see it; "
        "--code-file hides it.",
        "CODE",
    ),
]
CodeFile = Annotated[
    Path | None,
    o.option(
        "--code-file",
        "A file with your one-time code; - for the first line of standard input.",
        "FILE",
    ),
]
NoAnswer = Annotated[
    bool, o.option("--no-answer", "Send no answer, if the question has this option.")
]


_MOST_TYPED = 1000
"""Maximum length of a code with spaces and dashes."""
_WATCHED = (
    "Until `mixtally client watch` has checked the round, anyone who takes this diary can find "
    "these messages at the roles: with the collector's help, your answer."
)
app.command()(watch)


@app.command()
@with_option_groups
def show(contract: ContractPlace, device: DeviceOptions, json: o.Json = False) -> None:
    """Verify a contract, and print what is asked, who runs it and what it costs."""
    agreed = device.verify(contract, device.load_trust())
    lines = describe_consent(agreed, spent=_read_diary(device.diary_path)[1])
    if json:
        print_json({"fingerprint": agreed.contract.fingerprint, "told": lines})
        return
    print_lines(lines)


@app.command()
@with_option_groups
def send(
    contract: ContractPlace,
    sheet: SheetPlace,
    device: DeviceOptions,
    yes: Yes = False,
    at_once: AtOnce = False,
    again: Again = False,
    no_answer: NoAnswer = False,
    watched: Watch = False,
    code: Code = None,
    code_file: CodeFile = None,
    json: o.Json = False,
) -> None:
    """Answer a round: verify, ask, charge the diary, send one bundle at a random time.

    If a bundle of an earlier call is pending, the same bytes are sent again, and nothing is asked.
    """
    believed = device.load_trust()
    agreed = device.verify(contract, believed)
    # Verified before the person is asked and before anything is charged.
    given = open_round(agreed, read_note(sheet, "a sheet"), int(time()))
    say = _print_to_stderr if json else print_lines
    with device.open_diary() as diary:
        entry = diary.find(agreed.contract.name, given.sheet.round)
        if entry is None:
            code = _find_code(code, code_file)
            check_code(agreed.contract.admission, code)
            text = _ask_person(agreed, given, diary, say, yes=yes, no_answer=no_answer)
            value = None if text is None else _parse_answer(agreed.contract.plan, text)
        else:
            value = None  # no question: the bundle of a pending or finished round is never changed
        entry = prepare(
            diary,
            given,
            value,
            _make_random_words(),
            int(time()),
            at_once=at_once,
            budget=believed.budget,
            again=again,
            watch=watched,
            code=code,
        )
        if entry.is_watched:
            say([_WATCHED])
        entry = deliver(diary, entry, int(time()), at_once=at_once)
        if entry.is_pending:
            say([f"Sending at {utc(entry.due)}. To resume after an interruption, repeat the call."])
        entry = deliver_until_answered(diary, entry, time, sleep, at_once=at_once)
    if json:
        print_json(entry_facts(entry))
    else:
        typer.echo(entry_line(entry))
    if entry.state is not BundleState.TAKEN:
        raise typer.Exit(1)


@app.command()
@with_option_groups
def log(
    diary: Annotated[
        Path | None,
        o.option("--diary", "What left this device (default ~/.mixtally/diary.db).", "FILE"),
    ] = None,
    json: o.Json = False,
) -> None:
    """List what this device sent, when, what it cost and how it ended."""
    entries, charges = _read_diary(DeviceOptions(diary=diary).diary_path)
    if json:
        print_json(log_facts(entries, charges))
        return
    print_lines(log_lines(entries, charges))


def _read_diary(place: Path) -> tuple[list[Entry], list[DiaryCharge]]:
    """Return the entries and charges of a diary; a missing diary is not created."""
    if not place.exists():
        return [], []
    with Diary(place) as diary:
        diary.expire_entries(int(time()))
        return diary.entries(), diary.charges()


def _ask_person(
    agreed: TrustedContract,
    given: OpenRound,
    diary: Diary,
    say: Callable[[list[str]], None],
    *,
    yes: bool,
    no_answer: bool,
) -> str | None:
    """Show the question and its cost, ask for consent, and return the answer as it was typed.

    Return None if the person takes part without an answer.
    """
    # Consent needs a person, so question and answer must both be at a terminal.
    terminal = sys.stdin.isatty() and sys.stderr.isatty()
    if not yes and not terminal:
        raise RefusedError(
            "no-consent",
            "consent",
            expected="a person at a terminal, or --yes",
            got="neither",
            do="read the text of `mixtally client show`, then call again with --yes",
        )
    say(describe_consent(agreed, given, diary.charges()))
    text = None if no_answer else _read_line("answer: " if terminal else "")
    if (
        not yes
        and _read_line("Send this answer? It can be sent only once. [yes/no] ").strip().lower()
        != "yes"
    ):
        raise RefusedError(
            "no-consent", "consent", expected="yes", got="something else", do="nothing was sent"
        )
    return text


def _find_code(code: str | None, file: Path | None) -> str | None:
    """Return the code of the command line, of a file or of standard input; None if there is none.

    Raises DataError if the file cannot be read, and ParameterError for two codes.
    """
    if file is None:
        return code
    if code is not None:
        raise not_together("code", "--code", ["--code-file"])
    if str(file) == "-":
        return _read_line("code: " if sys.stdin.isatty() else "", "a code")
    data = read_bytes(file, "a code", "write your code into a file that only you can read")
    return data[:_MOST_TYPED].decode("ascii", "replace")


def _read_line(question: str, what: str = "an answer") -> str:
    # On standard error, because --json prints only JSON on standard output.
    sys.stderr.write(question)
    sys.stderr.flush()
    line = sys.stdin.readline()
    if not line:
        raise DataError("standard input", expected=what, got="no line", do="type or pipe one line")
    # Only the line end is removed, because an answer may begin or end with spaces.
    return line.rstrip("\r\n")


def _make_random_words() -> Callable[[int], bytes]:
    # This loads NumPy, which the other commands of a device do not need.
    from mixtally.primitives.chance import SecureChance

    chance = SecureChance()
    return lambda count: chance.words(count).astype("<u8").tobytes()


def _print_to_stderr(lines: list[str]) -> None:
    for line in lines:
        typer.echo(line, err=True)


def _parse_answer(plan: ContractPlan, text: str) -> Value:
    """Return the value of a typed answer, as the question of the plan requires.

    A label, or any text for an open question, is returned unchanged. Other answers are parsed as
    JSON. Raises ParameterError for text that is neither; the message does not contain the text.
    """
    question = plan.question
    worded = question.labels is not None or question.seed is not None or plan.prefixes is not None
    if question.kind == "one" and worded:
        return text
    try:
        value: Value = loads(text, parse_constant=reject_constant)
    except (ValueError, RecursionError):
        listed = '[1, 0] or ["tea", "cake"]'
        expected = "a number" if question.kind == "one" else f"a list in JSON, as {listed}"
        raise ParameterError(
            "answer", expected=expected, got="something else", do="call again with such an answer"
        ) from None
    return value
