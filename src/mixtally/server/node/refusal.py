"""Refusals of a role, as they are sent to clients, and the error that stops a role."""

from mixtally.device.wire.problem import Problem
from mixtally.errors import InputError, MixtallyError, RefusedError

_FALSE_SIGNATURES = {"signature-false", "signature-missing"}


class ProblemError(MixtallyError):
    """A refusal that is sent as an HTTP response with problem details.

    ``detail`` contains fixed words and data of the contract, never data from the request. The same
    request may be repeated after ``retry_seconds``.
    """

    def __init__(
        self, problem: Problem, detail: str = "", *, retry_seconds: int | None = None
    ) -> None:
        super().__init__(detail or problem.value.title)
        self.problem, self.detail, self.after = problem, detail, retry_seconds


def problem_of(error: RefusedError) -> ProblemError:
    """Return the refusal for bytes that the wire format rejects."""
    if error.reason in _FALSE_SIGNATURES:
        return ProblemError(Problem.NOT_SIGNED)
    return ProblemError(Problem.NO_NOTE, error.reason)


class OldStateError(InputError):
    """The error of a role that has lost a note with its own signature; it ends the process."""

    def __init__(self, peer: str, note: str) -> None:
        super().__init__(
            "the role's folder",
            expected="every note that this role ever signed",
            got=f"none of {note}, which {peer} shows with this role's signature",
            do="this folder is an old copy, or somebody has its signing key: restore the newest "
            "folder, or a backup by the command `restore`; else people would be counted twice",
        )
