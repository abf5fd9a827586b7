"""A record is randomized once and kept, and every report randomizes what was kept again.

A bit of the record is kept as a fair coin with probability f, so it is kept wrong with F = f/2. A
report shows a kept 1 as 1 with probability q, a kept 0 with p. The mean of T reports of a bit has

    mean      p* = F (p + q) + (1 - f) p  for a true 0,   p* + (1 - f)(q - p)  for a true 1
    variance  F (1 - F) (q - p)^2 + [share kept 1 * q (1 - q) + share kept 0 * p (1 - p)] / T,

the first part for what was kept, which no number of reports averages away. RAPPOR calls what is
kept the permanent randomized response, a report the instantaneous one.

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
    """Memoized answers, reported again and again; no mix is relied on.

    where
      permanent   f times 2^64, in [2^24, 2^64] and even, so that f/2 has the same denominator
      p, q        times 2^64; 0 <= p < q <= 2^64
      hashed      whether values are hashed into bits (a Bloom filter); otherwise a value is a bin
      hashes      the most bits that a value sets, in [1, 64]; 1 unless values are hashed
      cohorts     groups of people who hash differently, in [1, 2^16]; 1 unless values are hashed

    Raises ParameterError outside these ranges.
    """

    PARAMETERS: ClassVar[tuple[ParameterSpec, ...]] = (
        parameters.USERS,
        ParameterSpec("bits", "Bits of a memoized answer", low=2, high=MOST_BITS),
        ParameterSpec(
            "permanent",
            "Chance that a memoized bit is a fair coin",
            kind=float,
            low=LEAST_PERMANENT / SCALE,
            high=1,
            metavar="F",
            sought=PERMANENT,
        ),
        ParameterSpec(
            "p",
            "Chance that a memoized 0 is reported as 1, below --q",
            kind=float,
            metavar="P",
        ),
        ParameterSpec(
            "q",
            "Chance that a memoized 1 is reported as 1, up to 1",
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
                do="it is the chance that a memoized bit is a fair coin: 0.5 is a common choice",
            )
        if not 0 <= self.p < self.q <= SCALE:
            raise ParameterError(
                "report probabilities",
                expected="0 <= p < q <= 1",
                got=f"p = {self.p / SCALE}, q = {self.q / SCALE}",
                do="q belongs to a kept 1, p to a kept 0; if they are equal nothing is told",
            )
        check_whole("hashes", self.hashes, MOST_HASHES if self.hashed else 1)
        most = MOST_COHORTS if self.hashed else 1
        in_range(
            "cohorts",
            self.cohorts,
            1,
            most,
            "cohorts hash differently: without hashing there is one",
        )

    def can_answer(self, question: Question) -> bool:
        """Whether a value is one of the bins, or hashed into at most so many of them."""
        kind = Kind.SET if self.hashed else Kind.ONE
        return (question.bins, question.kind, question.max_set) == (self.bins, kind, self.hashes)

    def facts(self) -> dict[str, float]:
        """The three probabilities."""
        p, q = self.report_probabilities
        return {"permanent": self.f, "p": p, "q": q}

    @property
    def layout(self) -> Layout:
        """The form of what is kept and of every report."""
        return Layout(Form.BITS, self.bins)

    @property
    def f(self) -> float:
        """The chance that a memoized bit is a fair coin."""
        return self.permanent / SCALE

    @property
    def report_probabilities(self) -> tuple[float, float]:
        """(p, q): the chance that a report shows 1 where 0 was kept, and where 1 was."""
        return self.p / SCALE, self.q / SCALE

    @property
    def offset(self) -> float:
        """p*: the chance that a report shows 1 for a true 0."""
        p, q = self.report_probabilities
        return self.f / 2.0 * (p + q) + (1.0 - self.f) * p

    @property
    def gain(self) -> float:
        """What a true 1 adds to that chance, above a true 0."""
        p, q = self.report_probabilities
        return (1.0 - self.f) * (q - p)

    def variance(self, reports: float, ones: Count, zeros: Count) -> Count:
        """Variance of the debiased count of a bit, in counts squared; infinite when f = 1.

        where
          ones, zeros   people who truly hold the bit, and who do not
          reports       of which everybody counts with the mean; infinite leaves what was kept
        """
        half, (p, q) = self.f / 2.0, self.report_probabilities
        kept = half * (1.0 - half) * (q - p) ** 2
        show_one, show_zero = q * (1.0 - q), p * (1.0 - p)
        true_one = kept + ((1.0 - half) * show_one + half * show_zero) / reports
        true_zero = kept + (half * show_one + (1.0 - half) * show_zero) / reports
        total = ones * true_one + zeros * true_zero
        return total / self.gain**2 if self.gain else total + float("inf")

    def standard_error(self, users: int, reports: float) -> float:
        """Standard error of a bit that none of ``users`` people holds, in counts."""
        return math.sqrt(self.variance(reports, 0.0, float(users)))


def make_memoized(
    bins: int, permanent: float, p: float, q: float, *, hashes: int | None = None, cohorts: int = 1
) -> Memoized:
    """The mechanism with the integers nearest to these probabilities; hashed when ``hashes`` says.

    Raises ParameterError as ``Memoized`` does.
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
    """``value`` itself when it is an integer in [1, most]; raises ParameterError otherwise."""
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
    numerator, denominator = probability.as_integer_ratio()
    return (numerator * SCALE + denominator // 2) // denominator
