"""Requests of a collector to its mixes, with the reason of every refusal.

Commands of the collector use it to sign contracts and to propose rounds.
"""

import json
from collections.abc import Sequence
from typing import NamedTuple

from mixtally.device.contract.fields import fingerprint_of
from mixtally.device.wire.problem import problem_of_path
from mixtally.errors import DataError
from mixtally.model.roles import Role
from mixtally.report.numbers import printable
from mixtally.server.node.calls import Answer, Call, SilentError
from mixtally.server.node.notes import Notes
from mixtally.server.node.refusal import ProblemError

_MAX_TEXT_LENGTH = 200
"""Maximum length of a reason given by another role, in characters."""


class PeerAnswers(NamedTuple):
    """Answers of several roles and reasons for missing answers, both by name of the role."""

    answers: dict[str, bytes]
    refusals: dict[str, str]

    def require_all(self, subject: str, expected: str, do: str) -> dict[str, bytes]:
        """Return the answers; raises DataError that names every role without an answer."""
        if self.refusals:
            got = "; ".join(f"{name}: {why}" for name, why in self.refusals.items())
            raise DataError(subject, expected=expected, got=f"none of {got}", do=do)
        return self.answers


def post_to_role(call: Call, role: Role, path: str, body: bytes = b"") -> bytes | str:
    """Send a POST request, and return the body of the response or the reason why there is none."""
    return body_or_reason(request_answer(call, role, path, body))


def body_or_reason(answer: Answer | str) -> bytes | str:
    """Return the body of a successful response, or the reason why there is none."""
    if isinstance(answer, str):
        return answer
    return answer.body if answer.is_success else _describe_refusal(answer)


def request_answer(call: Call, role: Role, path: str, body: bytes = b"") -> Answer | str:
    """Send a POST request, and return the response, or the reason why there is none."""
    try:
        return call(role.address, "POST", path, body)
    except SilentError as error:
        return f"no answer ({printable(str(error))})"


def is_from_role(answer: Answer) -> bool:
    """Return whether an unsuccessful response comes from a mix or a collector.

    Roles refuse with problem details of a type that the protocol defines. Other programs do not.
    """
    try:
        problem = problem_of_path(json.loads(answer.body)["type"])
    except (ValueError, TypeError, KeyError, RecursionError):
        return False
    return problem is not None and problem.value.status == answer.status


def ask_all(call: Call, roles: Sequence[Role], path: str, body: bytes = b"") -> PeerAnswers:
    """Send a POST request to several roles, and collect their answers."""
    found = PeerAnswers({}, {})
    for role in roles:
        record_answer(found, role, post_to_role(call, role, path, body))
    return found


def send_signed(notes: Notes, call: Call, hops: Sequence[Role], note: bytes) -> PeerAnswers:
    """Send a note that every role has signed to all mixes, and collect their answers.

    The note is queued again for each mix that did not accept it now. An earlier attempt may have
    removed the note from the queue. This happens if the mix refused the note at a time when the mix
    had not signed it yet, or if the mix accepted the note with fewer signatures.
    """
    answers = ask_all(call, hops, "/notes", note)
    notes.send_again(fingerprint_of(note), answers.refusals)
    return answers


def record_answer(answers: PeerAnswers, role: Role, reply: bytes | str) -> None:
    """Record the reply of ``role``: bytes as its answer, text as the reason of its refusal."""
    if isinstance(reply, bytes):
        answers.answers[role.name] = reply
    else:
        answers.refusals[role.name] = reply


def describe_problem(problem: ProblemError) -> str:
    """Return the text of a refusal by this role, as a client would receive it."""
    title = problem.problem.value.title
    return f"{title} ({problem.detail})" if problem.detail else title


def _describe_refusal(answer: Answer) -> str:
    """Return the reason in a refusal, shortened to one line because another party wrote it."""
    try:
        problem = json.loads(answer.body)
        title, detail = problem["title"], problem.get("detail", "")
        text = f"{title} ({detail})" if detail else str(title)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        text = "an answer without a reason"
    return f"{printable(text)[:_MAX_TEXT_LENGTH]} [{answer.status}]"
