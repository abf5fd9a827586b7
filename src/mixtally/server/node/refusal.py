"""Why a role does not do what it is asked, as it will be answered; and why it stops altogether."""

from mixtally.device.wire.problem import Problem
from mixtally.errors import InputError, MixtallyError, RefusedError

_FALSE_SIGNATURES = {"signature-false", "signature-missing"}


class ProblemError(MixtallyError):
    """An answer with a problem.

    where
      detail   for people: fixed words and what the contract says, never what the request held
      after    seconds after which the same bytes may come again
    """

    def __init__(self, problem: Problem, detail: str = "", *, after: int | None = None) -> None:
        super().__init__(detail or problem.value.title)
        self.problem, self.detail, self.after = problem, detail, after


def problem_of(error: RefusedError) -> ProblemError:
    """What is answered to bytes that the wire refuses to read."""
    if error.reason in _FALSE_SIGNATURES:
        return ProblemError(Problem.NOT_SIGNED)
    return ProblemError(Problem.NO_NOTE, error.reason)


class OldStateError(InputError):
    """Somebody shows a note of this role's own signature that its disk does not have."""

    def __init__(self, peer: str, note: str) -> None:
        super().__init__(
            "the role's folder",
            expected="every note that this role ever signed",
            got=f"none of {note}, which {peer} shows with this role's signature",
            do="this is an old copy: find the newest folder, or end the contract with a new "
            "serial under another name; a second batch would be a second collection",
        )
