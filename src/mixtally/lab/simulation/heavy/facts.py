"""Findings of a search for words, with the truth that only a simulation knows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import msgspec

from mixtally.lab.simulation.findings import Findings
from mixtally.lab.simulation.heavy.design import describe_promise as promised
from mixtally.lab.simulation.heavy.result import HeavyResult
from mixtally.report import promise
from mixtally.report.coverage import Coverage, coverage
from mixtally.report.document import Facts, Promise
from mixtally.report.estimates import Columns, Estimates, rename_columns, rows_of


@dataclass(frozen=True, slots=True)
class Score:
    """Quality of a list of words.

    ``recall`` is the share of the true top words that are among the first ``top`` words found.
    ``precision`` is the share of the first ``top`` words found that are true top words, ties
    included. ``false_positives`` is the number of all words found that nobody holds.
    """

    recall: float
    precision: float
    false_positives: int


def score_words(found: Sequence[str], holders: Mapping[str, int], top: int) -> Score:
    """Return the score of ``found`` for the ``top`` most frequent words.

    ``holders`` has the number of people who hold each word. Words with the same number of
    holders as the last of the true top words are also correct. But the denominator of recall is at
    most ``top``.
    """
    first = sorted((count for count in holders.values() if count), reverse=True)[:top]
    sought, least = len(first), first[-1]
    right = sum(holders.get(word, 0) >= least for word in found[:top])
    false_positives = sum(holders.get(word, 0) == 0 for word in found)
    return Score(
        recall=min(1.0, right / sought),
        precision=right / len(found[:top]) if found else 0.0,
        false_positives=false_positives,
    )


_NAMES = {"label": "word", "estimate": "count", "lower": None, "upper": None}
"""New names of the columns of words; None leaves a column out.

A selected word has no individual interval.
"""


@dataclass(frozen=True, eq=False, kw_only=True)
class WordFindings(Findings[Mapping[str, int]]):
    """The words that a search found. The truth is the number of people who hold each word."""

    result: HeavyResult

    @cached_property
    def words(self) -> list[Facts]:
        """One flat JSON object for each of the most frequent words."""
        return rows_of(self.columns)

    @cached_property
    def columns(self) -> Columns:
        """The most frequent words as columns."""
        top = self.result.top
        low, high = ([getattr(one, f"{end}_simultaneous") for one in top] for end in _ENDS)
        found = Estimates(
            [one.word for one in top],
            [one.count for one in top],
            [one.standard_error for one in top],
            *(low, high, low, high),
        )
        true_column = {} if self.truth is None else {"truth": self.true_counts}
        return {
            **rename_columns(found.columns(), _NAMES),
            "round": [one.round for one in top],
            **true_column,
        }

    @property
    def true_counts(self) -> list[int]:
        """True number of people who hold each word shown."""
        return [self.known_truth.get(one.word, 0) for one in self.result.top]

    @cached_property
    def score(self) -> Score:
        """The quality of the list of words."""
        found = [one.word for one in self.result.words]
        return score_words(found, self.known_truth, self.result.design.search.top)

    def coverage(self) -> Coverage:
        """Return how many intervals of the words shown cover the true count."""
        low, high = ([row[f"{end}_simultaneous"] for row in self.words] for end in _ENDS)
        return coverage((low, self.true_counts, high))

    @cached_property
    def missed_words(self) -> list[Facts]:
        """The true top words that are not shown, most frequent first."""
        found, holders = {row["word"] for row in self.words}, self.known_truth
        # Ties are sorted by the word, so that repeated runs list the same words.
        first = sorted(holders, key=lambda word: (-holders[word], word))
        top = first[: self.result.design.search.top]
        return [{"word": word, "truth": holders[word]} for word in top if word not in found]

    @cached_property
    def facts(self) -> Facts:
        """The findings as one JSON object."""
        result, design, search = self.result, self.result.design, self.result.design.search
        shown = design.certificate
        return {
            "column": search.name,
            "top": search.top,
            "epsilon": shown.epsilon,
            "delta": shown.upper,
            "observer": shown.observer,
            "status": shown.status,
            "assumption": shown.assumption,
            "promised": promised(design),
            "way": design.participation,
            "users": search.users,
            "rounds_planned": search.rounds,
            "rounds_played": len(result.rounds),
            "bins": search.bins,
            "keep": search.most_survivors,
            "alphabet": search.spelling.characters,
            "error_rate": search.error_rate,
            "protocol": design.plan.name,
            "noise_of_a_round": design.plan.standard_error,
            "local_epsilon": design.plan.local_epsilon,
            "messages_per_user": design.messages_per_user,
            "bytes_per_user": design.bytes_per_user,
            "words_found": len(result.words),
            "unreadable": result.unreadable,
            "words": self.words,
            "rounds": [msgspec.to_builtins(one) for one in result.rounds],
            "plan": design.plan.to_plain(),
            "fingerprint": design.plan.fingerprint,
            **({} if self.truth is None else self._measured_facts()),
        }

    def _measured_facts(self) -> Facts:
        quality = self.score
        return {
            "recall": quality.recall,
            "precision": quality.precision,
            "ghosts": quality.false_positives,
            "covered": self.coverage().share,
            "missed": self.missed_words,
        }


_ENDS = ("lower", "upper")


def promise_lines(result: HeavyResult) -> Promise:
    """Return the lines of the promise, for all rounds together."""
    design, search = result.design, result.design.search
    share = 0.1 / search.top
    rounds = f", for all {search.rounds:,} rounds together"
    note = f", of a word that {100 * share:.2g} % of all hold"
    third = promise.error_line(design.standard_error(share), note=note)
    what = "the word that each person holds"
    return promise.build_promise(
        design.certificate, result.design.plan.local_epsilon, third, rounds, what
    )
