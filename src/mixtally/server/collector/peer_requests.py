"""What a collector asks of mixes by hand: who refuses is named, with why."""

import json
from typing import NamedTuple

from mixtally.device.wire.problem import problem_of_path
from mixtally.errors import DataError
from mixtally.model.roles import Role
from mixtally.report.numbers import printable
from mixtally.server.node.calls import Answer, Call, SilentError
from mixtally.server.node.refusal import ProblemError

_MAX_TEXT_LENGTH = 200


class PeerAnswers(NamedTuple):
    """What all roles said, by name; a text says why there is no answer."""

    answers: dict[str, bytes]
    refusals: dict[str, str]

    def require_all(self, subject: str, expected: str, do: str) -> dict[str, bytes]:
        """The answers; raises DataError where somebody refused, naming all who did."""
        if self.refusals:
            got = "; ".join(f"{name}: {why}" for name, why in self.refusals.items())
            raise DataError(subject, expected=expected, got=f"none of {got}", do=do)
        return self.answers


def post_to_role(call: Call, role: Role, path: str, body: bytes = b"") -> bytes | str:
    """The answer to a POST, or why there is none."""
    return body_or_reason(request_answer(call, role, path, body))


def body_or_reason(answer: Answer | str) -> bytes | str:
    """Return the body of a good answer, or why there is none."""
    if isinstance(answer, str):
        return answer
    return answer.body if answer.is_success else _describe_refusal(answer)


def request_answer(call: Call, role: Role, path: str, body: bytes = b"") -> Answer | str:
    """Return the answer to a POST, whatever its status, or why there is none."""
    try:
        return call(role.address, "POST", path, body)
    except SilentError as error:
        return f"no answer ({printable(str(error))})"


def is_from_role(answer: Answer) -> bool:
    """Return whether an answer that is not good comes from a mix or a collector.

    Roles refuse with problem details of a kind that the protocol names. Other programs do not.
    """
    try:
        problem = problem_of_path(json.loads(answer.body)["type"])
    except (ValueError, TypeError, KeyError, RecursionError):
        return False
    return problem is not None and problem.value.status == answer.status


def ask_all(call: Call, roles: tuple[Role, ...], path: str) -> PeerAnswers:
    """The same of several, with nothing in the body."""
    found = PeerAnswers({}, {})
    for role in roles:
        record_answer(found, role, post_to_role(call, role, path))
    return found


def record_answer(found: PeerAnswers, role: Role, said: bytes | str) -> None:
    """Lay an answer to the others."""
    if isinstance(said, bytes):
        found.answers[role.name] = said
    else:
        found.refusals[role.name] = said


def describe_problem(problem: ProblemError) -> str:
    """A refusal of this role itself, in the words that others would be answered."""
    title = problem.problem.value.title
    return f"{title} ({problem.detail})" if problem.detail else title


def _describe_refusal(answer: Answer) -> str:
    """The problem that was answered; others wrote it, so it is one short line."""
    try:
        held = json.loads(answer.body)
        title, detail = held["title"], held.get("detail", "")
        text = f"{title} ({detail})" if detail else str(title)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        text = "an answer without a reason"
    return f"{printable(text)[:_MAX_TEXT_LENGTH]} [{answer.status}]"
