"""Problem details: why a role refuses a request.

The type of a problem is a path at which the role serves an explanation. Clients act only on the
HTTP status. For 408, 429 and 5xx they send the same bytes again after the time in Retry-After,
unless the round is over then. For any other 4xx they do not send them again.

Source: RFC 9457; RFC 9205, section 4.6.
"""

import json
from enum import Enum
from typing import NamedTuple

PATH = "/problems/"
MEDIA_TYPE = "application/problem+json"


class ProblemKind(NamedTuple):
    """A kind of refusal: its HTTP status, its title, and advice for people."""

    status: int
    title: str
    do: str


class Problem(Enum):
    """All kinds of refusals. The path of each is derived from its name."""

    BODY_LENGTH = ProblemKind(
        400, "The body does not consist of whole bundles", "send whole bundles of this contract"
    )
    NO_NOTE = ProblemKind(
        400, "The body is no note of a kind that belongs here", "send the note as it is"
    )
    WRONG_DIGEST = ProblemKind(
        400, "The body does not match its digest", "send the body and its digest again"
    )
    NOT_SIGNED = ProblemKind(
        403, "A signature is missing or false", "have the note signed by its role"
    )
    NOT_AGREED = ProblemKind(
        403, "This role does not agree to this note", "ask for what the contract permits"
    )
    NO_CODE = ProblemKind(
        403, "This contract asks for a code", "send the same bytes with the code that you received"
    )
    UNKNOWN_CODE = ProblemKind(
        403, "This contract has no such code", "compare the code with the one that you received"
    )
    CODE_SPENT = ProblemKind(
        409,
        "Another bundle was accepted with this code in this round",
        "do not send it again: somebody has used the code, perhaps you on another device",
    )
    ANOTHER_NOTE = ProblemKind(
        409, "This role has a different note for this place", "find out which role signed both"
    )
    UNKNOWN = ProblemKind(404, "There is nothing here", "look at the contract for names and rounds")
    METHOD = ProblemKind(405, "That cannot be done here", "look at the description of the protocol")
    TOO_SLOW = ProblemKind(408, "The body came too slowly", "send the same bytes again, faster")
    ROUND_CLOSED = ProblemKind(410, "The round is over", "keep nothing; the answer was not counted")
    ROUND_FULL = ProblemKind(
        429,
        "The round accepts no more bundles",
        "do not send it again: it was not counted unless it was confirmed before",
    )
    TOO_LARGE = ProblemKind(413, "The body is too large", "send fewer bundles at a time")
    NOT_NAMED = ProblemKind(403, "No signed manifest names this piece", "send the manifest first")
    TOO_EARLY = ProblemKind(503, "The round is not open yet", "send the same bytes later")
    BUSY = ProblemKind(503, "Too much at once", "send the same bytes later")
    NOT_READY = ProblemKind(503, "This role does not serve yet", "send the same bytes later")
    NO_RESULT = ProblemKind(503, "There is no result yet", "ask again later")
    NO_ROOM = ProblemKind(503, "There is no room to store it", "send the same bytes later")

    @property
    def path(self) -> str:
        """The path at which the role explains the problem."""
        return PATH + self.name.lower().replace("_", "-")

    @property
    def is_retryable(self) -> bool:
        """Whether the same bytes may be sent later."""
        return self.value.status in (408, 503)

    def body(self, detail: str = "") -> bytes:
        """Return the problem as JSON."""
        said = {"type": self.path, "title": self.value.title, "status": self.value.status}
        if detail:
            said["detail"] = detail
        return json.dumps(said).encode() + b"\n"


def problem_of_path(path: str) -> Problem | None:
    """Return the problem that is explained at ``path``; None if there is none."""
    return next((problem for problem in Problem if problem.path == path), None)
