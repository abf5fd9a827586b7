"""memory: a record is randomized once and kept, and every report randomizes what was kept again.

A bit of the record is kept as a fair coin with probability f, so it is kept wrong with F = f/2. A
report shows a kept 1 as 1 with probability q, a kept 0 with p. The mean of T reports of a bit has

    mean      p* = F (p + q) + (1 - f) p  for a true 0,   p* + (1 - f)(q - p)  for a true 1
    variance  F (1 - F) (q - p)^2 + [share kept 1 * q (1 - q) + share kept 0 * p (1 - p)] / T,

the first part for what was kept, which no number of reports averages away.

Source: Erlingsson, Pihur, Korolova, RAPPOR (2014), sections 2 and 4.
"""

from typing import TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from mixtally.errors import ParameterError, PlanError
from mixtally.ground.fixed import SCALE
from mixtally.records.layout import Form, Layout
from mixtally.records.question import Kind, Question

TWO_LEVEL_VERSION = 1
LEAST_PERMANENT = 1 << 24
MOST_COHORTS = 1 << 16

Count = TypeVar("Count", float, NDArray[np.float64])


class TwoLevel(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All that client and collector agree on; a memory belongs to one fingerprint of it.

    where
      question    of kind ``one``: a value is a bin; of kind ``set``: a value is hashed into at most
                  ``max_set`` of the bins (a Bloom filter)
      permanent   f times 2^64, in [2^24, 2^64] and even, so that f/2 has the same denominator
      p, q        times 2^64; 0 <= p < q <= 2^64
      cohorts     groups of people who hash differently, in [1, 2^16]; 1 unless values are hashed

    Raises ParameterError outside these ranges, PlanError for another version or kind.
    """

    version: int = TWO_LEVEL_VERSION
    question: Question
    permanent: int
    p: int
    q: int
    cohorts: int = 1

    def __post_init__(self) -> None:
        if self.version != TWO_LEVEL_VERSION:
            raise PlanError(
                "memory version", wanted=str(TWO_LEVEL_VERSION), got=self.version,
                do="use the version that wrote it",
            )  # fmt: skip
        if self.question.kind is Kind.BITS or (self.hashed and self.question.labels is not None):
            raise PlanError(
                f"question {self.question.name!r}",
                wanted="one of its bins a person, or values hashed into bins without labels",
                got=f"the kind {self.question.kind}",
                do="ask for one value a person",
            )
        _check(self)

    @property
    def hashed(self) -> bool:
        """Whether values are hashed into bits."""
        return self.question.kind is Kind.SET

    @property
    def bits(self) -> int:
        """Bits of a record."""
        return self.question.bins

    @property
    def hashes(self) -> int:
        """The most bits that a value sets."""
        return self.question.max_set

    @property
    def layout(self) -> Layout:
        """The form of what is kept and of every report."""
        return Layout(Form.BITS, self.bits)

    @property
    def f(self) -> float:
        """The chance that a kept bit is a fair coin."""
        return self.permanent / SCALE

    @property
    def shown(self) -> tuple[float, float]:
        """(p, q): the chance that a report shows 1 where 0 was kept, and where 1 was."""
        return self.p / SCALE, self.q / SCALE

    @property
    def offset(self) -> float:
        """p*: the chance that a report shows 1 for a true 0."""
        p, q = self.shown
        return self.f / 2.0 * (p + q) + (1.0 - self.f) * p

    @property
    def gain(self) -> float:
        """What a true 1 adds to that chance, above a true 0."""
        p, q = self.shown
        return (1.0 - self.f) * (q - p)

    def variance(self, reports: float, ones: Count, zeros: Count) -> Count:
        """Variance of the debiased count of a bit, in counts squared, as ``count_variance``."""
        return count_variance(self.f, *self.shown, reports, ones, zeros)


def count_variance(
    permanent: float, p: float, q: float, reports: float, ones: Count, zeros: Count
) -> Count:
    """Variance of the debiased count of a bit that ``ones`` people truly hold and ``zeros`` do not.

    Every person counts with the mean of ``reports`` reports (infinite: only what was kept is left).
    Infinite when f = 1: then nothing is told.
    """
    half, contrast = permanent / 2.0, (1.0 - permanent) * (q - p)
    kept = half * (1.0 - half) * (q - p) ** 2
    show_one, show_zero = q * (1.0 - q), p * (1.0 - p)
    true_one = kept + ((1.0 - half) * show_one + half * show_zero) / reports
    true_zero = kept + (half * show_one + (1.0 - half) * show_zero) / reports
    total = ones * true_one + zeros * true_zero
    return total / contrast**2 if contrast else total + float("inf")


def two_level(
    question: Question, permanent: float, p: float, q: float, cohorts: int = 1
) -> TwoLevel:
    """The plan with the integers nearest to these probabilities.

    Raises ParameterError as ``TwoLevel`` does.
    """
    return TwoLevel(
        question=question,
        permanent=2 * _nearest("permanent", permanent / 2.0),
        p=_nearest("p", p),
        q=_nearest("q", q),
        cohorts=cohorts,
    )


def hashed_question(name: str, bits: int, hashes: int) -> Question:
    """The question of a value that sets at most ``hashes`` of ``bits`` bits."""
    return Question(name=name, bins=bits, kind=Kind.SET, max_set=hashes)


def _nearest(name: str, probability: float) -> int:
    if not 0.0 <= probability <= 1.0:
        raise ParameterError(
            name, wanted="a probability", got=probability, do="give a number from 0 to 1"
        )
    numerator, denominator = probability.as_integer_ratio()
    return (numerator * SCALE + denominator // 2) // denominator


def _check(plan: TwoLevel) -> None:
    if not LEAST_PERMANENT <= plan.permanent <= SCALE or plan.permanent % 2:
        raise ParameterError(
            "permanent",
            wanted="a number in [2^-40, 1], an even integer over 2^64",
            got=plan.permanent / SCALE,
            do="it is the chance that a kept bit is a fair coin: 0.5 is a common choice",
        )
    if not 0 <= plan.p < plan.q <= SCALE:
        raise ParameterError(
            "report probabilities",
            wanted="0 <= p < q <= 1",
            got=f"p = {plan.p / SCALE}, q = {plan.q / SCALE}",
            do="q belongs to a kept 1, p to a kept 0; if they are equal nothing is told",
        )
    most = MOST_COHORTS if plan.hashed else 1
    if not 1 <= plan.cohorts <= most:
        raise ParameterError(
            "cohorts",
            wanted=f"an integer in [1, {most:,}]",
            got=plan.cohorts,
            do="cohorts hash differently: without hashing there is one",
        )
