"""Why a role refuses what it is sent: problem details whose type is a path it explains itself.

Clients act on the status alone: 408, 429 and 5xx, the same bytes after Retry-After; another 4xx,
never the same bytes again.

Source: RFC 9457; RFC 9205, section 4.6.
"""

import json
from enum import Enum
from typing import NamedTuple

PATH = "/problems/"
MEDIA_TYPE = "application/problem+json"


class ProblemKind(NamedTuple):
    """A kind of refusal: its status, a title, and what to do, for people."""

    status: int
    title: str
    do: str


class Problem(Enum):
    """All kinds, by the last word of their paths."""

    BODY_LENGTH = ProblemKind(
        400, "The body is not made of whole bundles", "send whole bundles of this contract"
    )
    NO_NOTE = ProblemKind(
        400, "The body is no note of a kind that belongs here", "send the note as it is"
    )
    WRONG_DIGEST = ProblemKind(
        400, "The body is not what its digest says", "send it again as it was meant"
    )
    NOT_SIGNED = ProblemKind(
        403, "A signature is missing or false", "have the note signed by its role"
    )
    NOT_AGREED = ProblemKind(
        403, "This role does not sign that", "ask for what the contract and earlier rounds allow"
    )
    ANOTHER_NOTE = ProblemKind(
        409, "This role knows another note in this place", "find out who signed two"
    )
    UNKNOWN = ProblemKind(404, "There is nothing here", "look at the contract for names and rounds")
    METHOD = ProblemKind(405, "That cannot be done here", "look at the description of the protocol")
    TOO_SLOW = ProblemKind(408, "The body came too slowly", "send the same bytes again, faster")
    ROUND_CLOSED = ProblemKind(410, "The round is over", "keep nothing; the answer was not counted")
    TOO_LARGE = ProblemKind(413, "The body is too large", "send fewer bundles at a time")
    NOT_NAMED = ProblemKind(403, "No signed manifest names this piece", "send the manifest first")
    TOO_EARLY = ProblemKind(503, "The round is not open yet", "send the same bytes later")
    BUSY = ProblemKind(503, "Too much at once", "send the same bytes later")
    NOT_READY = ProblemKind(503, "This role does not serve yet", "send the same bytes later")
    NO_RESULT = ProblemKind(503, "There is no result yet", "ask again later")
    NO_ROOM = ProblemKind(503, "There is no room to store it", "send the same bytes later")

    @property
    def path(self) -> str:
        """Where the role explains it."""
        return PATH + self.name.lower().replace("_", "-")

    @property
    def is_retryable(self) -> bool:
        """Whether the same bytes may be sent later."""
        return self.value.status in (408, 429, 503)

    def body(self, detail: str = "") -> bytes:
        """The problem as JSON."""
        said = {"type": self.path, "title": self.value.title, "status": self.value.status}
        if detail:
            said["detail"] = detail
        return json.dumps(said).encode() + b"\n"


def problem_of_path(path: str) -> Problem | None:
    """The problem that a path explains."""
    return next((problem for problem in Problem if problem.path == path), None)
