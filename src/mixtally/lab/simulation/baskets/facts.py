"""Findings of a search for item sets, with the truth that only a simulation knows."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from mixtally.lab.data.population import Population
from mixtally.lab.simulation.baskets.result import BasketResult
from mixtally.lab.simulation.baskets.true_counts import count_holders, count_pairs
from mixtally.lab.simulation.findings import Findings
from mixtally.lab.simulation.truth import Truth
from mixtally.protocol.estimate.rules import BoundedEstimate, Items, Rule
from mixtally.report import counts
from mixtally.report.counts_view import CountsView
from mixtally.report.coverage import Coverage, coverage
from mixtally.report.document import Facts
from mixtally.report.estimates import Columns, Estimates, prefix_columns, rename_columns, rows_of

QUOTIENTS = ("support", "confidence", "lift")
"""The names of the three numbers of a rule, each of which has an interval."""
_ONE_INTERVAL = {"label": None, "lower_simultaneous": None, "upper_simultaneous": None}
"""Columns to leave out. A set or rule has only one interval; all intervals are simultaneous."""


@dataclass(frozen=True, slots=True, eq=False)
class TrueBaskets:
    """True counts of the items and sets in the baskets.

    ``holders`` has the number of people who hold each item and each set found. ``pairs`` is the
    number of pairs of items that more than ``support`` people hold.
    """

    holders: Mapping[Items, int]
    pairs: int


def count_true_baskets(found: BasketResult, baskets: Population) -> TrueBaskets:
    """Return the true numbers for the sets and rules that were found."""
    true: dict[Items, int] = {(i,): count for i, count in enumerate(baskets.truth.tolist())}
    for alike in found.sets.values():
        sets = [one.items for one in alike]
        true.update(zip(sets, count_holders(baskets, sets).tolist(), strict=True))
    pair_counts = np.triu(count_pairs(baskets), 1)
    return TrueBaskets(true, int((pair_counts > found.support).sum()))


@dataclass(frozen=True, eq=False, kw_only=True)
class BasketFindings(Findings[TrueBaskets]):
    """The sets and rules found in baskets.

    A rule is shown only if the lower bound of its confidence is at least ``confidence``.
    """

    result: BasketResult
    confidence: float

    @cached_property
    def items(self) -> CountsView:
        """The view of the counts of single items."""
        result = self.result.items
        truth = None
        if self.truth is not None:
            # Single items are sets of one item in the true numbers.
            each = [self.truth.holders[(i,)] for i in range(result.question.bins)]
            truth = Truth(np.array(each, dtype=np.int64))
        return CountsView(result, has_given_order=False, truth=truth)

    @cached_property
    def sets(self) -> list[Facts]:
        """One flat JSON object for each set, small sets first."""
        every, label = self.result.all_sets, self.result.items.question.label
        low, high = [one.lower for one in every], [one.upper for one in every]
        estimates = Estimates(
            [""] * len(every),
            [one.count for one in every],
            [one.standard_error for one in every],
            *(low, high, low, high),
        )
        columns: Columns = {
            "items": [[label(i) for i in one.items] for one in every],
            "size": [len(one.items) for one in every],
            **rename_columns(estimates.columns(), _ONE_INTERVAL),
        }
        if self.truth is not None:
            columns["truth"] = [self.truth.holders[one.items] for one in every]
        return rows_of(columns)

    @cached_property
    def rules(self) -> list[Facts]:
        """One flat JSON object for each rule shown, in the order of ``BasketResult.rules``."""
        shown = [one for one in self.result.rules if one.confidence.lower >= self.confidence]
        label = self.result.items.question.label
        columns: Columns = {
            "given": [[label(i) for i in rule.given] for rule in shown],
            "then": [label(rule.then) for rule in shown],
        }
        truths = [] if self.truth is None else [self._true_rule(rule) for rule in shown]
        for name in QUOTIENTS:
            ends: list[BoundedEstimate] = [getattr(rule, name) for rule in shown]
            columns |= prefix_columns(
                rename_columns(_quotient_estimates(ends).columns(), _NO_ERROR), name
            )
            if self.truth is not None:
                columns[f"{name}_truth"] = [one[name] for one in truths]
        return rows_of(columns)

    def _true_rule(self, rule: Rule) -> dict[str, float]:
        true, users = self.known_truth.holders, self.result.items.plan.users
        both = true[tuple(sorted((*rule.given, rule.then)))]
        given, then = true[rule.given], true[(rule.then,)]
        return {
            "support": both / users,
            "confidence": both / given if given else 0.0,
            "lift": users * both / (given * then) if given and then else 0.0,
        }

    @property
    def false_positives(self) -> int:
        """Number of sets found that at most ``support`` people hold."""
        true = self.known_truth.holders
        return sum(true[one.items] <= self.result.support for one in self.result.all_sets)

    def coverage(self) -> Coverage:
        """Return how many intervals of sets cover the true count."""
        return coverage(_interval_columns(self.sets, "lower", "truth", "upper"))

    def rules_coverage(self) -> Coverage:
        """Return for how many rules support, confidence and lift are all inside their intervals."""
        ends = [(f"{one}_lower", f"{one}_truth", f"{one}_upper") for one in QUOTIENTS]
        return coverage(*(_interval_columns(self.rules, *names) for names in ends))

    @cached_property
    def facts(self) -> Facts:
        """The findings as one JSON object."""
        found = self.result
        measured: Facts = {}
        if self.truth is not None:
            measured = {
                "pairs_held": self.truth.pairs,
                "ghosts": self.false_positives,
                "covered": self.coverage().share,
                "rules_covered": self.rules_coverage().share,
            }
        return {
            "column": found.items.question.name,
            "support": found.support,
            "least_confidence": self.confidence,
            "level": found.level,
            "collection": counts.facts(found.items),
            "items": self.items.rows,
            "sets": self.sets,
            "rules_found": len(found.rules),
            "rules": self.rules,
            **measured,
        }


_NO_ERROR = {**_ONE_INTERVAL, "standard_error": None}


def _quotient_estimates(ends: list[BoundedEstimate]) -> Estimates:
    low, high = [one.lower for one in ends], [one.upper for one in ends]
    labels, errors = [""] * len(ends), [None] * len(ends)
    return Estimates(labels, [one.estimate for one in ends], errors, *(low, high, low, high))


def _interval_columns(rows: list[Facts], *names: str) -> tuple[list[Any], list[Any], list[Any]]:
    lower, truth, upper = ([row[name] for row in rows] for name in names)
    return lower, truth, upper
