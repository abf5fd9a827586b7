"""``mixtally client``: take part in a round from this device, and see what left it.

An answer is read from the terminal or from standard input, never from the command line, where
other programs and the shell's history would see it.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from json import loads
from pathlib import Path
from time import sleep, time
from typing import Annotated

import typer

from mixtally.cli import options as o
from mixtally.cli.client_log import entry_facts, entry_line, log_facts, log_lines, utc
from mixtally.cli.common import command_group
from mixtally.cli.option_groups import with_option_groups
from mixtally.cli.output import print_json, print_lines
from mixtally.device.client.encode import Value
from mixtally.device.client.net import (
    BundleState,
    Diary,
    DiaryCharge,
    Entry,
    OpenRound,
    Trust,
    TrustedContract,
    deliver,
    deliver_until_answered,
    describe_consent,
    open_round,
    prepare,
    read_trust,
    verify_contract,
)
from mixtally.device.client.net.pins import validate_fingerprint
from mixtally.device.client.net.requests import fetch
from mixtally.device.contract.plan import ContractPlan
from mixtally.errors import DataError, ParameterError, RefusedError
from mixtally.primitives.files import read_bytes

app = command_group("client", "Take part in a round, and see what left this device.")

_PINS = (
    "write whom you believe as docs/how-to/device.md shows, or give --fingerprint HEX in its place"
)
_SERVED = "get it from any role of the contract, or give its address: https://.../contracts/..."

ContractPlace = Annotated[
    str,
    typer.Argument(
        help="The contract with its signatures: a file, or where a role serves it, "
        "https://.../contracts/FINGERPRINT.",
        metavar="CONTRACT",
    ),
]
SheetPlace = Annotated[
    str,
    typer.Argument(
        help="The sheet of the round with its signatures: a file, or the contract's address with "
        "/rounds/NUMBER behind it.",
        metavar="SHEET",
    ),
]
Yes = Annotated[bool, o.option("--yes", "Consent to what `client show` says, without a question.")]
AtOnce = Annotated[bool, o.option("--now", "Send now, not at a random moment of the window.")]
Again = Annotated[
    bool, o.option("--again", "Answer a question that was answered under another name.")
]
NoAnswer = Annotated[bool, o.option("--no-answer", "Answer nothing, where that can be answered.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceOptions:
    """Whom this person believes, and where this device remembers what it gave away."""

    trust: Annotated[
        Path | None, o.option("--trust", "Pinned keys, limits and a budget, as TOML.", "FILE")
    ] = None
    fingerprint: Annotated[
        str | None, o.option("--fingerprint", "The contract that is meant.", "HEX")
    ] = None
    diary: Annotated[
        Path | None,
        o.option("--diary", "What left this device (default ~/.mixtally/diary.db).", "FILE"),
    ] = None

    def load_trust(self) -> Trust:
        """The decisions of the file, and the fingerprint; RefusedError later where both lack."""
        file = self.trust
        held = Trust() if file is None else read_trust(read_bytes(file, "pins", _PINS), str(file))
        if self.fingerprint is None:
            return held
        try:
            validate_fingerprint(self.fingerprint)
        except ValueError as error:
            raise _option_error("--fingerprint", str(error), self.fingerprint) from error
        if held.pins.fingerprint not in (None, self.fingerprint):
            raise _option_error("--fingerprint", "that of the file --trust", self.fingerprint)
        return held._replace(pins=held.pins._replace(fingerprint=self.fingerprint))

    @property
    def diary_path(self) -> Path:
        """Of the diary."""
        return Path.home() / ".mixtally" / "diary.db" if self.diary is None else self.diary

    def open_diary(self) -> Diary:
        """The diary; the usual folder is made for its owner alone."""
        if self.diary is None:
            self.diary_path.parent.mkdir(mode=0o700, exist_ok=True)
        return Diary(self.diary_path)


@app.command()
@with_option_groups
def show(contract: ContractPlace, device: DeviceOptions, json: o.Json = False) -> None:
    """Verify a contract and say what is asked, who runs it and what it costs."""
    believed = device.load_trust()
    agreed = verify_contract(_read_note(contract, "a contract"), believed.pins, believed.limits)
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
    json: o.Json = False,
) -> None:
    """Answer a round: verify, ask, charge the diary, send one bundle at a random moment.

    What is pending from an earlier call is sent on, the same bytes; nothing is asked then.
    """
    believed = device.load_trust()
    agreed = verify_contract(_read_note(contract, "a contract"), believed.pins, believed.limits)
    given = open_round(agreed, _read_note(sheet, "a sheet"), int(time()))
    say = _print_to_stderr if json else print_lines
    with device.open_diary() as diary:
        entry = diary.find(agreed.contract.name, given.sheet.round)
        if entry is None:
            text = _ask_person(agreed, given, diary, say, yes=yes, no_answer=no_answer)
            value = None if text is None else _parse_answer(agreed.contract.plan, text)
        else:
            value = None  # a round that is pending or over has its bundle, whatever is said now
        entry = prepare(
            diary,
            given,
            value,
            _make_random_words(),
            int(time()),
            at_once=at_once,
            budget=believed.budget,
            again=again,
        )
        entry = _send_bundle(diary, entry, say, at_once=at_once)
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
    """Show what left this device, when, what it cost and what became of it."""
    entries, charges = _read_diary(DeviceOptions(diary=diary).diary_path)
    if json:
        print_json(log_facts(entries, charges))
        return
    print_lines(log_lines(entries, charges))


def _read_note(place: str, what: str) -> bytes:
    """The bytes of a file, or what is served at an address: their signatures are checked alike."""
    if place.startswith(("https://", "http://")):
        return fetch(place)
    return read_bytes(Path(place), what, _SERVED)


def _read_diary(place: Path) -> tuple[list[Entry], list[DiaryCharge]]:
    """What a diary holds; to look makes none."""
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
    """The answer as it was typed, of somebody who agrees; None for no answer."""
    terminal = sys.stdin.isatty() and sys.stderr.isatty()
    if not yes and not terminal:
        raise RefusedError(
            "no-consent",
            "consent",
            expected="a person at a terminal, or --yes",
            got="neither",
            do="read what `mixtally client show` says, then call again with --yes",
        )
    say(describe_consent(agreed, given, diary.charges()))
    text = None if no_answer else _read_line("answer: " if terminal else "")
    if (
        not yes
        and _read_line("send this once, and never again? [yes/no] ").strip().lower() != "yes"
    ):
        raise RefusedError(
            "no-consent", "consent", expected="yes", got="something else", do="nothing was sent"
        )
    return text


def _read_line(question: str) -> str:
    sys.stderr.write(question)
    sys.stderr.flush()
    line = sys.stdin.readline()
    if not line:
        raise DataError(
            "standard input", expected="a line with the answer", got="its end", do="give it one"
        )
    return line.rstrip("\r\n")


def _send_bundle(
    diary: Diary, entry: Entry, say: Callable[[list[str]], None], *, at_once: bool
) -> Entry:
    entry = deliver(diary, entry, int(time()), at_once=at_once)
    if entry.is_pending:
        say([f"it leaves at {utc(entry.due)}; after a break the same call goes on"])
    return deliver_until_answered(diary, entry, time, sleep, at_once=at_once)


def _make_random_words() -> Callable[[int], bytes]:
    from mixtally.primitives.chance import (
        SecureChance,  # loads NumPy, which whoever only looks lacks
    )

    chance = SecureChance()
    return lambda count: chance.words(count).astype("<u8").tobytes()


def _print_to_stderr(lines: list[str]) -> None:
    for line in lines:
        typer.echo(line, err=True)


def _option_error(option: str, expected: str, got: str) -> ParameterError:
    return ParameterError(option, expected=expected, got=ascii(got)[:80], do="look at it again")


def _parse_answer(plan: ContractPlan, text: str) -> Value:
    """What ``text`` answers: a label or text as it is, everything else as JSON.

    Raises ParameterError, without the text, for what is neither.
    """
    question = plan.question
    worded = question.labels is not None or question.seed is not None or plan.prefixes is not None
    if question.kind == "one" and worded:
        return text
    try:
        value: Value = loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        listed = '[1, 0] or ["tea", "cake"]'
        expected = "a number" if question.kind == "one" else f"a list in JSON, as {listed}"
        raise ParameterError(
            "answer", expected=expected, got="something else", do="call again"
        ) from None
    return value


def _no_constant(name: str) -> None:
    raise ValueError(name)
