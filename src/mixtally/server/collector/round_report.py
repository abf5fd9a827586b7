"""Report on a checked round: what was proved, what is false, and what the files cannot prove."""

from typing import NamedTuple

import msgspec

from mixtally.model.contract import Plan
from mixtally.model.result import Result
from mixtally.report.document import Document, Facts, Heading, Marked, Part, Table, Text, Tone
from mixtally.report.numbers import printable
from mixtally.report.promise import promise_of_round
from mixtally.server.collector.contracts import SignedContract

_LONGEST = 200


class Finding(NamedTuple):
    """Something false in a file.

    ``role`` is the role whose own signature proves it, or None if the file may have been altered by
    anyone.
    """

    file: str
    role: str | None
    expected: str
    got: str


class Claim(NamedTuple):
    """A statement about a round, and whether the check has proved it.

    ``signers`` names the roles whose signatures support the statement.
    """

    text: str
    signers: str
    is_shown: bool


class RoundReport(NamedTuple):
    """The outcome of a check."""

    agreed: SignedContract | None
    """The contract; None if its signatures are wrong."""
    round: int | None
    claims: list[Claim]
    findings: list[Finding]
    unshown: list[str]
    """Statements that the files cannot prove."""
    false_alarm: float
    """Probability that honest roles cause a finding."""
    result: Result | None
    """The estimates, computed again."""

    def document(self) -> Document:
        """Return the report for people and as JSON."""
        plan = None if self.agreed is None else self.agreed.contract.plan
        what = "a round" if self.round is None else f"round {self.round}"
        name = "" if self.agreed is None else f" of {self.agreed.contract.name}"
        return Document(
            title=f"Check of {what}{name}",
            source="Computed from the files of the round alone.",
            promise=_no_promise() if plan is None else promise_of_round(plan, self.result),
            sections=tuple,
            summary=self._parts,
            facts=self._facts,
        )

    def _parts(self) -> tuple[Part, ...]:
        rows: list[list[str | Marked]] = [
            [
                claim.text,
                claim.signers,
                Marked("yes", Tone.GOOD) if claim.is_shown else Marked("NO", Tone.BAD),
            ]
            for claim in self.claims
        ]
        parts: list[Part] = [
            Table(("shown", "signed by", ""), rows, words=frozenset(("shown", "signed by", "")))
        ]
        parts += [Text(_describe(finding), tone=Tone.BAD) for finding in self.findings]
        parts.append(Heading("What these files cannot show"))
        parts += [Text(f"- {text}") for text in self.unshown]
        if self.agreed is not None:
            parts.append(Text(f"Fingerprint of the contract: {self.agreed.fingerprint}"))
        verdict = (
            f"{len(self.findings)} false" if self.findings else "Everything that was looked at fits"
        )
        alarm = f"honest roles cause a finding with probability at most {self.false_alarm:.1g}"
        parts.append(Text(f"{verdict}; {alarm}." if self.false_alarm else f"{verdict}."))
        return tuple(parts)

    def _facts(self) -> Facts:
        return {
            "fingerprint": None if self.agreed is None else self.agreed.fingerprint,
            "round": self.round,
            "fits": not self.findings,
            "claims": [claim._asdict() for claim in self.claims],
            "findings": [
                {name: msgspec.to_builtins(value) for name, value in finding._asdict().items()}
                for finding in self.findings
            ],
            "not_shown": self.unshown,
            "false_alarm": self.false_alarm,
        }


def _describe(finding: Finding) -> str:
    who = (
        "nobody is accused: the file may have been altered on its way"
        if finding.role is None
        else f"proven by the signature of {finding.role}"
    )
    got = printable(finding.got)[:_LONGEST]
    return f"{finding.file}: expected {printable(finding.expected)}, got {got} ({who})."


def _no_promise() -> tuple[str, str, str]:
    none = "none, because no contract with valid signatures was found"
    return (f"Protects: {none}.", f"epsilon and delta: {none}.", f"Expected error: {none}.")


def limits_of_check(
    plan: Plan | None, *, messages: bool, pieces: bool, receipts: bool
) -> list[str]:
    """Return the statements that a check cannot prove, depending on what was exported."""
    unshown = [
        "That the keys belong to different people: compare the fingerprint with one you trust.",
        "That a mix shuffled, drew its fakes at random, or kept its secrets.",
        "That the first mix counted every bundle, and that people answered once and truthfully.",
        "That mixes opened what they received: pieces between mixes are deleted after each round.",
    ]
    if not pieces:
        unshown.append("That the pieces of the last mix have the hashes of its manifest: not kept.")
    if not receipts:
        unshown.append("That every role confirmed its batch: a receipt is not among the files.")
    if messages:
        unshown.append(
            "That the messages were inside the pieces: only the collector could open them, and "
            "its key is deleted."
        )
    else:
        unshown.append("That the tally counts the messages: the collector has not kept them.")
    if plan is None:
        unshown.append("Anything else: without a signed contract and sheet no file can be judged.")
    return unshown
