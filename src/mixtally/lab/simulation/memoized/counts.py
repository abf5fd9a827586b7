"""Findings from reports of memoized answers, with the truth that only a simulation knows."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mixtally.lab.simulation.findings import Findings
from mixtally.protocol.estimate.conclude import MemoizedResult
from mixtally.report.coverage import Coverage, coverage, measured_error
from mixtally.report.document import Facts
from mixtally.report.estimates import Columns, estimates_of, rows_of


@dataclass(frozen=True, slots=True, eq=False)
class TrueAnswers:
    """The truth about a crowd with memoized answers, which only a simulation knows.

    ``counts`` has the number of people with each value. ``learned`` has the facts on what an
    observer learns about a person, including measurements on this crowd.
    """

    counts: Mapping[str, int]
    learned: Facts


@dataclass(frozen=True, eq=False, kw_only=True)
class MemoizedFindings(Findings[TrueAnswers]):
    """Counts of bins, or of candidate words, from reports of memoized answers.

    ``spent`` has the plan's parameters and losses. ``learned`` has the facts on what an observer
    learns about a person, computed without the data of this crowd.
    """

    result: MemoizedResult
    spent: Facts
    learned: Facts

    @cached_property
    def rows(self) -> list[Facts]:
        """One flat JSON object for each count."""
        result = self.result
        columns: Columns = estimates_of(result.estimate, result.labels).columns()
        if self.truth is not None:
            columns["truth"] = self.true_counts
        if result.first_report is not None:
            columns["first_report"] = result.first_report.tolist()
        if result.words is not None:
            columns["found"] = result.words.found.tolist()
        return rows_of(columns)

    @property
    def true_counts(self) -> list[int]:
        """True number of people with each of the counted values."""
        return [self.known_truth.counts.get(label, 0) for label in self.result.labels]

    def coverage(self) -> Coverage:
        """Return how many of the stated intervals cover the true count."""
        # Candidates that the regression did not choose have no interval.
        stated = [row for row in self.rows if row["standard_error"] is not None]
        lower, truth, upper = ([row[name] for row in stated] for name in _INTERVAL)
        return coverage((lower, truth, upper))

    @property
    def measured_error(self) -> float:
        """Root mean square error of the counts."""
        return measured_error(self.result.estimate.counts - np.array(self.true_counts))

    @property
    def true_unlisted(self) -> int:
        """True number of people with a value that is no candidate."""
        return self.result.people - sum(self.true_counts)

    @cached_property
    def facts(self) -> Facts:
        """The findings as one JSON object."""
        result, mechanism = self.result, self.result.plan.mechanism
        people, words, truth = result.people, result.words, self.truth
        facts = {
            **self.spent,
            "users": people,
            "confidence_level": result.estimate.individual.level,
            "bit_error_one_report": mechanism.standard_error(people, 1),
            "bit_error_all_reports": mechanism.standard_error(people, result.reports),
            "bit_error_floor": mechanism.standard_error(people, math.inf),
            "method": result.method,
        }
        if words is not None:
            facts["misfit"] = words.reduced_chi_square
            facts["misfit_counted"] = words.widened
            facts["unlisted"], facts["unlisted_standard_error"] = words.unlisted
            facts |= {} if truth is None else {"unlisted_truth": self.true_unlisted}
        if truth is not None:
            facts |= {"measured_error": self.measured_error, "covered": self.coverage().share}
        learned = self.learned if truth is None else truth.learned
        return {**facts, "estimates": self.rows, **learned}


_INTERVAL = ("lower", "truth", "upper")
