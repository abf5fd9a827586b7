"""Memoized answers: a record is randomized once and stored, and each report randomizes it again.

RAPPOR calls the stored record the permanent randomized response, and a report the instantaneous
one. With probability f, a fair coin replaces a bit of the record before it is stored. So the bit is
stored wrongly with probability F = f/2. A report shows a stored 1 as 1 with probability q, and a
stored 0 as 1 with probability p. Over T reports, the fraction in which a bit is shown as 1 has

    mean      p* = F (p + q) + (1 - f) p  for a true 0,   p* + (1 - f)(q - p)  for a true 1
    variance  F (1 - F) (q - p)^2 + [s q (1 - q) + (1 - s) p (1 - p)] / T,

where s is the probability that a 1 is stored: 1 - F for a true 1 and F for a true 0. The first term
of the variance is due to the stored record, so no number of reports reduces it.

Source: Erlingsson, Pihur, Korolova, RAPPOR (2014), sections 2 and 4.
"""

import math
from collections.abc import Mapping
from typing import ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from mixtally.errors import ParameterError, in_range
from mixtally.model.layout import Form, Layout
from mixtally.model.mechanism import parameters
from mixtally.model.mechanism.base import Mechanism
from mixtally.model.mechanism.parameters import (
    Parameter,
    ParameterRules,
    ParameterSpec,
    parse_rules,
)
from mixtally.model.question import Kind, Question
from mixtally.primitives.fixed_point import SCALE

LEAST_PERMANENT = 1 << 24
MOST_HASHES = 64
MOST_COHORTS = 1 << 16
MOST_BITS = 100_000
MOST_REPORTS = 1_000_000
PERMANENT = Parameter("permanent response", LEAST_PERMANENT, SCALE, SCALE, "permanent")

Count = TypeVar("Count", float, NDArray[np.float64])


class Memoized(Mechanism, frozen=True, kw_only=True, tag="memoized"):
    """Answers that are stored and reported repeatedly, without trust in any mix.

    Raises ParameterError if a number is outside its range.

    Attributes
    ----------
    permanent : int
        f times 2^64, in [2^24, 2^64]. It is even, so that f/2 is also an integer over 2^64.
    p, q : int
        The probabilities that a report shows a stored 0 as 1, and a stored 1 as 1, times 2^64. 0 <=
        p < q <= 2^64.
    hashed : bool
        Whether values are hashed into bits (a Bloom filter); otherwise a value is a bin.
    hashes : int
        The maximum number of bits that a value sets, in [1, 64]; 1 unless values are hashed.
    cohorts : int
        The number of groups with different hash functions, in [1, 2^16]; 1 unless values are
        hashed.
    """

    PARAMETERS: ClassVar[tuple[ParameterSpec, ...]] = (
        parameters.USERS,
        ParameterSpec("bits", "Bits of a memoized answer", low=2, high=MOST_BITS),
        ParameterSpec(
            "permanent",
            "Probability that a memoized bit is a fair coin",
            kind=float,
            low=LEAST_PERMANENT / SCALE,
            high=1,
            metavar="F",
            sought=PERMANENT,
        ),
        ParameterSpec(
            "p",
            "Probability that a memoized 0 is reported as 1, below --q",
            kind=float,
            metavar="P",
        ),
        ParameterSpec(
            "q",
            "Probability that a memoized 1 is reported as 1, up to 1",
            kind=float,
            metavar="Q",
        ),
        ParameterSpec("hashes", "Bits that a value sets", low=1, high=MOST_HASHES),
        ParameterSpec("reports", "Reports of one memoized answer", low=1, high=MOST_REPORTS),
    )
    PROTOCOLS: ClassVar[Mapping[str, ParameterRules]] = {
        "memory": parse_rules(
            "permanent p q hashes reports",
            "users",
            sought="permanent",
            claim="permanent p q hashes reports [bits]",
        )
    }

    permanent: int
    p: int
    q: int
    hashed: bool = False
    hashes: int = 1
    cohorts: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if not LEAST_PERMANENT <= self.permanent <= SCALE or self.permanent % 2:
            raise ParameterError(
                "permanent",
                expected="a number in [2^-40, 1], an even integer over 2^64",
                got=self.permanent / SCALE,
                do="it is the probability that a stored bit is a fair coin; 0.5 is common",
            )
        if not 0 <= self.p < self.q <= SCALE:
            raise ParameterError(
                "report probabilities",
                expected="0 <= p < q <= 1",
                got=f"p = {self.p / SCALE}, q = {self.q / SCALE}",
                do="choose q (for a stored 1) above p (for a stored 0)",
            )
        check_whole("hashes", self.hashes, MOST_HASHES if self.hashed else 1)
        most = MOST_COHORTS if self.hashed else 1
        in_range(
            "cohorts",
            self.cohorts,
            1,
            most,
            "only hashed values can have several cohorts",
        )

    def can_answer(self, question: Question) -> bool:
        """Return whether the kind and the numbers of bins of ``question`` fit this mechanism."""
        kind = Kind.SET if self.hashed else Kind.ONE
        return (question.bins, question.kind, question.max_set) == (self.bins, kind, self.hashes)

    def facts(self) -> dict[str, float]:
        """Return the three probabilities f, p and q."""
        p, q = self.report_probabilities
        return {"permanent": self.f, "p": p, "q": q}

    @property
    def layout(self) -> Layout:
        """The format of the stored record and of every report."""
        return Layout(Form.BITS, self.bins)

    @property
    def f(self) -> float:
        """The probability that a stored bit is a fair coin."""
        return self.permanent / SCALE

    @property
    def report_probabilities(self) -> tuple[float, float]:
        """(p, q): the probabilities that a report shows 1 for a stored 0 and for a stored 1."""
        return self.p / SCALE, self.q / SCALE

    @property
    def offset(self) -> float:
        """p*, the probability that a report shows 1 for a true 0."""
        p, q = self.report_probabilities
        return self.f / 2.0 * (p + q) + (1.0 - self.f) * p

    @property
    def gain(self) -> float:
        """The probability that a report shows 1 for a true 1, minus that for a true 0."""
        p, q = self.report_probabilities
        return (1.0 - self.f) * (q - p)

    def variance(self, reports: float, ones: Count, zeros: Count) -> Count:
        """Return the variance of the debiased count of a bit, in counts squared.

        The variance is infinite for f = 1.

        Parameters
        ----------
        reports : float
            The number T of reports of each person, whose mean enters the count. For infinity, only
            the variance of the stored records remains.
        ones, zeros : float or array
            The numbers of people whose true bit is 1, and whose true bit is 0.
        """
        half, (p, q) = self.f / 2.0, self.report_probabilities
        kept = half * (1.0 - half) * (q - p) ** 2
        show_one, show_zero = q * (1.0 - q), p * (1.0 - p)
        true_one = kept + ((1.0 - half) * show_one + half * show_zero) / reports
        true_zero = kept + (half * show_one + (1.0 - half) * show_zero) / reports
        total = ones * true_one + zeros * true_zero
        return total / self.gain**2 if self.gain else total + float("inf")

    def standard_error(self, users: int, reports: float) -> float:
        """Return the standard error of a bit's count if none of ``users`` people has it."""
        return math.sqrt(self.variance(reports, 0.0, float(users)))


def make_memoized(
    bins: int, permanent: float, p: float, q: float, *, hashes: int | None = None, cohorts: int = 1
) -> Memoized:
    """Return the mechanism with the integers nearest to the given probabilities.

    Raise ParameterError as ``Memoized`` does.

    Parameters
    ----------
    bins : int
        The number of bits of an answer.
    permanent : float
        The probability f that a stored bit is a fair coin.
    p : float
        The probability that a report shows 1 for a stored 0.
    q : float
        The probability that a report shows 1 for a stored 1.
    hashes : int or None
        The number of hashes of a value; None if values are not hashed.
    cohorts : int
        The number of cohorts, each with its own hashes.
    """
    return Memoized(
        bins=bins,
        permanent=2 * _to_threshold("permanent", permanent / 2.0),
        p=_to_threshold("p", p),
        q=_to_threshold("q", q),
        hashed=hashes is not None,
        hashes=1 if hashes is None else hashes,
        cohorts=cohorts,
    )


def check_whole(name: str, value: int, most: int) -> int:
    """Return a whole number, or raise ParameterError.

    Parameters
    ----------
    name : str
        The name of the parameter, for the message.
    value : int
        The number to check.
    most : int
        The maximum; the minimum is 1.
    """
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise ParameterError(
            name, expected=f"an integer in [1, {most:,}]", got=value, do="count from one"
        )
    return value


def _to_threshold(name: str, probability: float) -> int:
    if not 0.0 <= probability <= 1.0:
        raise ParameterError(
            name, expected="a probability", got=probability, do="give a number from 0 to 1"
        )
    # Integer arithmetic rounds the exact value of the double only once.
    numerator, denominator = probability.as_integer_ratio()
    return (numerator * SCALE + denominator // 2) // denominator
