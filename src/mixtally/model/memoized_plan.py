"""What client and collector of memoized answers agree on; responses belong to its fingerprint."""

import msgspec

from mixtally.errors import PlanError
from mixtally.model.mechanism.memoized import Memoized, make_memoized
from mixtally.model.question import Kind, Question

MEMOIZED_VERSION = 2


class MemoizedPlan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A question, of kind ``one`` or, where values are hashed, ``set``; and how it is answered.

    Raises PlanError for another version or a mechanism that does not fit the question.
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
                expected="one of its bins a person, or values hashed into bins without labels",
                got=f"the kind {self.question.kind} over {self.question.bins:,} bins, "
                f"and a mechanism of {self.mechanism.bins:,}",
                do="ask for one value a person",
            )


def make_memoized_plan(
    question: Question, permanent: float, p: float, q: float, cohorts: int = 1
) -> MemoizedPlan:
    """The plan with the integers nearest to these probabilities; hashed where a set is asked for.

    Raises ParameterError as ``Memoized`` does, PlanError as ``MemoizedPlan`` does.
    """
    hashes = question.max_set if question.kind is Kind.SET else None
    mechanism = make_memoized(question.bins, permanent, p, q, hashes=hashes, cohorts=cohorts)
    return MemoizedPlan(question=question, mechanism=mechanism)


def hashed_question(name: str, bits: int, hashes: int) -> Question:
    """The question of a value that sets at most ``hashes`` of ``bits`` bits."""
    return Question(name=name, bins=bits, kind=Kind.SET, max_set=hashes)
