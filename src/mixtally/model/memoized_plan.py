"""The plan of memoized answers, which a client and a collector agree on.

A device stores an answer that it has randomized once, and uses it for all reports under the same
plan. The fingerprint of the plan identifies the stored answer.
"""

import msgspec

from mixtally.errors import PlanError
from mixtally.model.mechanism.memoized import Memoized, make_memoized
from mixtally.model.question import Kind, Question

MEMOIZED_VERSION = 2


class MemoizedPlan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A question and the mechanism that answers it.

    The question is of kind ``one`` or, if values are hashed, of kind ``set``. Raises PlanError for
    another version, or a mechanism that does not fit the question.
    """

    version: int = MEMOIZED_VERSION
    question: Question
    mechanism: Memoized

    def __post_init__(self) -> None:
        if self.version != MEMOIZED_VERSION:
            raise PlanError(
                "version of memoized answers",
                expected=str(MEMOIZED_VERSION),
                got=self.version,
                do="use the version that wrote it",
            )
        hashed = self.mechanism.hashed
        if not self.mechanism.can_answer(self.question) or (
            hashed and self.question.labels is not None
        ):
            raise PlanError(
                f"question {self.question.name!r}",
                expected="one bin for each person, or values hashed into bins without labels",
                got=f"the kind {self.question.kind} over {self.question.bins:,} bins, "
                f"and a mechanism of {self.mechanism.bins:,}",
                do="ask for one value from each person",
            )


def make_memoized_plan(
    question: Question, permanent: float, p: float, q: float, cohorts: int = 1
) -> MemoizedPlan:
    """Return the plan with the integers nearest to the given probabilities.

    Values are hashed if the question is of kind ``set``. Raise ParameterError as ``Memoized`` does,
    and PlanError as ``MemoizedPlan`` does.

    Parameters
    ----------
    question : Question
        The question, of kind ``one`` or ``set``.
    permanent : float
        The probability f that a stored bit is a fair coin.
    p : float
        The probability that a report shows 1 for a stored 0.
    q : float
        The probability that a report shows 1 for a stored 1.
    cohorts : int
        The number of cohorts, each with its own hashes.
    """
    hashes = question.max_set if question.kind is Kind.SET else None
    mechanism = make_memoized(question.bins, permanent, p, q, hashes=hashes, cohorts=cohorts)
    return MemoizedPlan(question=question, mechanism=mechanism)


def hashed_question(name: str, bits: int, hashes: int) -> Question:
    """Return the question for a value that is hashed to bits.

    Parameters
    ----------
    name : str
        The name of the question.
    bits : int
        The number of bits.
    hashes : int
        The maximum number of bits that a value sets.
    """
    return Question(name=name, bins=bits, kind=Kind.SET, max_set=hashes)
