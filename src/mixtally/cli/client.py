"""``mixtally client``: take part in a round from this device, and list what it sent.

An answer is read from the terminal or from standard input, never from the command line, because
other programs and the history of the shell can read the command line.
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

app = command_group("client", "Take part in a round, and list what this device sent.")

_PINS = "write the file as in docs/how-to/device.md, or give --fingerprint HEX instead"
_SERVED = "download it from a role of the contract, or give its address: https://.../contracts/..."

ContractPlace = Annotated[
    str,
    typer.Argument(
        help="The contract with its signatures: a file, or its address at a role, "
        "https://.../contracts/FINGERPRINT.",
        metavar="CONTRACT",
    ),
]
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
NoAnswer = Annotated[
    bool, o.option("--no-answer", "Send no answer, if the question has this option.")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceOptions:
    """The keys that this person trusts, and the diary of this device."""

    trust: Annotated[
        Path | None, o.option("--trust", "Trusted keys, limits and a budget, as TOML.", "FILE")
    ] = None
    fingerprint: Annotated[
        str | None, o.option("--fingerprint", "Fingerprint of the expected contract.", "HEX")
    ] = None
    diary: Annotated[
        Path | None,
        o.option("--diary", "What left this device (default ~/.mixtally/diary.db).", "FILE"),
    ] = None

    def load_trust(self) -> Trust:
        """Return the decisions of the trust file together with the fingerprint.

        If both are missing, verification of a contract raises RefusedError later.
        """
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
        """The path of the diary."""
        return Path.home() / ".mixtally" / "diary.db" if self.diary is None else self.diary

    def open_diary(self) -> Diary:
        """Open the diary; only the owner can read the default folder."""
        if self.diary is None:
            self.diary_path.parent.mkdir(mode=0o700, exist_ok=True)
        return Diary(self.diary_path)


@app.command()
@with_option_groups
def show(contract: ContractPlace, device: DeviceOptions, json: o.Json = False) -> None:
    """Verify a contract, and print what is asked, who runs it and what it costs."""
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
    """Answer a round: verify, ask, charge the diary, send one bundle at a random time.

    If a bundle of an earlier call is pending, the same bytes are sent again, and nothing is asked.
    """
    believed = device.load_trust()
    agreed = verify_contract(_read_note(contract, "a contract"), believed.pins, believed.limits)
    # Verified before the person is asked and before anything is charged.
    given = open_round(agreed, _read_note(sheet, "a sheet"), int(time()))
    say = _print_to_stderr if json else print_lines
    with device.open_diary() as diary:
        entry = diary.find(agreed.contract.name, given.sheet.round)
        if entry is None:
            text = _ask_person(agreed, given, diary, say, yes=yes, no_answer=no_answer)
            value = None if text is None else _parse_answer(agreed.contract.plan, text)
        else:
            value = None  # the bundle of a pending or finished round is never changed
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
    """List what this device sent, when, what it cost and how it ended."""
    entries, charges = _read_diary(DeviceOptions(diary=diary).diary_path)
    if json:
        print_json(log_facts(entries, charges))
        return
    print_lines(log_lines(entries, charges))


def _read_note(place: str, what: str) -> bytes:
    """Return the bytes of a file or of a response; the signatures of both are verified later."""
    if place.startswith(("https://", "http://")):
        return fetch(place)
    return read_bytes(Path(place), what, _SERVED)


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
    """Return the typed answer of a person who consents; None for no answer."""
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


def _read_line(question: str) -> str:
    # On standard error, because --json prints only JSON on standard output.
    sys.stderr.write(question)
    sys.stderr.flush()
    line = sys.stdin.readline()
    if not line:
        raise DataError(
            "standard input", expected="an answer", got="no line", do="type or pipe one line"
        )
    # Only the line end is removed, because an answer may begin or end with spaces.
    return line.rstrip("\r\n")


def _send_bundle(
    diary: Diary, entry: Entry, say: Callable[[list[str]], None], *, at_once: bool
) -> Entry:
    entry = deliver(diary, entry, int(time()), at_once=at_once)
    if entry.is_pending:
        say([f"Sending at {utc(entry.due)}. To resume after an interruption, repeat the call."])
    return deliver_until_answered(diary, entry, time, sleep, at_once=at_once)


def _make_random_words() -> Callable[[int], bytes]:
    # This loads NumPy, which the other commands of a device do not need.
    from mixtally.primitives.chance import SecureChance

    chance = SecureChance()
    return lambda count: chance.words(count).astype("<u8").tobytes()


def _print_to_stderr(lines: list[str]) -> None:
    for line in lines:
        typer.echo(line, err=True)


def _option_error(option: str, expected: str, got: str) -> ParameterError:
    # Escaped and shortened, because the text may contain control characters.
    return ParameterError(option, expected=expected, got=ascii(got)[:80], do="correct the option")


def _parse_answer(plan: ContractPlan, text: str) -> Value:
    """Return the value of a typed answer: a label or text unchanged, all else parsed as JSON.

    Raises ParameterError, whose message does not contain the text, for any other answer.
    """
    question = plan.question
    worded = question.labels is not None or question.seed is not None or plan.prefixes is not None
    if question.kind == "one" and worded:
        return text
    try:
        # Python's JSON parser accepts NaN and Infinity, which no question allows.
        value: Value = loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        listed = '[1, 0] or ["tea", "cake"]'
        expected = "a number" if question.kind == "one" else f"a list in JSON, as {listed}"
        raise ParameterError(
            "answer", expected=expected, got="something else", do="call again with such an answer"
        ) from None
    return value


def _no_constant(name: str) -> None:
    raise ValueError(name)
