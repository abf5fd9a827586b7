"""Parts of a document with counts: cells of tables, sections of figures and rows of files.

``counts_view`` and the documents of ``lab.simulation`` call these functions.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mixtally.model.estimates import Estimate, Figures, Row
from mixtally.model.question import Kind, Question
from mixtally.model.result import Result
from mixtally.report.document import Cell, Facts, Marked, Section, Table, Text, Tone
from mixtally.report.estimates import estimates_of, estimates_of_rows, prefix_columns, rows_of
from mixtally.report.numbers import (
    at_most,
    error_text,
    interval_text,
    number,
    percent,
    round_to_error,
)

_NUMBER = re.compile(r"[-+]?\d+(\.\d+)?", re.ASCII)


def has_own_order(question: Question, *, labels_given: bool) -> bool:
    """Return whether the order of the bins has a meaning.

    This is true of numbers, of columns, and of labels that a user listed (``labels_given``). Labels
    that were found in the data are shown in the order of their counts instead.
    """
    labels = question.labels
    own = labels is None or question.kind is Kind.BITS or question.attributes is not None
    return question.hashed is None and (
        own or labels_given or all(map(_NUMBER.fullmatch, labels or ()))
    )


def select_bins(
    question: Question, ranked: NDArray[np.int64], most: int, *, labels_given: bool
) -> list[int]:
    """Return the numbers of the ``most`` largest bins.

    They are in the order of the question if this order has a meaning, otherwise largest first.

    Parameters
    ----------
    question : Question
        The question, which says whether bins have an order.
    ranked : ndarray of int64
        The numbers of all bins, the largest bin first.
    most : int
        The number of bins to return.
    labels_given : bool
        Whether a user listed the labels, so that their order has a meaning.
    """
    found: list[int] = ranked[:most].tolist()
    return sorted(found) if has_own_order(question, labels_given=labels_given) else found


def shown_text(shown_count: int, total: int, what: str = "", ranking: str = "the largest") -> str:
    """Return a text that says how many rows are shown, and whether some are left out.

    Parameters
    ----------
    shown_count : int
        The number of shown rows.
    total : int
        The number of all rows.
    what : str
        The plural noun for the rows, with a leading space; empty for no noun.
    ranking : str
        How the shown rows were selected, in words.
    """
    if shown_count == total:
        return f"all {total:,}{what}"
    return f"{shown_count:,} of {total:,}{what} shown, {ranking}"


def key_figures(result: Result) -> tuple[tuple[str, str], ...]:
    """Return the names and values at the beginning of a page of counts."""
    people, certificate = result.received.contributors, result.certificate
    return (
        ("people", f"{people:,}"),
        ("bins", f"{result.question.bins:,}"),
        ("epsilon", at_most(certificate.epsilon)),
        ("delta at most", at_most(certificate.upper)),
        ("standard error, counts", error_text(result.estimate.standard_error)),
        ("messages per user", f"{result.messages / people:.3f}"),
    )


def estimate(row: Row) -> str:
    """Return the estimated count as text, clipped to its interval and rounded.

    The text ends with the place of the second significant digit of the standard error. Files
    contain the unbiased estimate, which is not clipped and may be below zero.
    """
    return clip_text(row.estimate, row.lower, row.upper, row.standard_error)


def clip_text(value: float, lower: float, upper: float, error: float | None) -> str:
    """Return an estimate as text, or the nearest end of its interval if it is outside.

    Parameters
    ----------
    value : float
        The estimate, in counts.
    lower : float
        The lower end of the interval.
    upper : float
        The upper end of the interval.
    error : float or None
        The standard error; None if it is not known.
    """
    end = clip_to_interval(value, lower, upper)
    return round_to_error(value, error) if end == value else f"{end:,}"


def clip_to_interval(value: float, lower: float, upper: float) -> float:
    """Return ``value``, or the nearest end of its interval if the value is outside."""
    return min(max(value, lower), upper)


def truth_cells(
    value: float, lower: float, upper: float, error: float | None, true: int
) -> list[Cell]:
    """Return the cells of the true count and of the error of the estimate.

    The error is the shown (clipped) estimate minus the true count. The cell of the error is marked
    if the interval does not contain the true count.

    Parameters
    ----------
    value : float
        The unbiased estimate, in counts.
    lower : float
        The lower end of the interval.
    upper : float
        The upper end of the interval.
    error : float or None
        The standard error; None if it is not known.
    true : int
        The true number of people.
    """
    text = round_to_error(clip_to_interval(value, lower, upper) - true, error, sign="+")
    return [f"{true:,}", text if lower <= true <= upper else Marked(text, Tone.BAD)]


def interval(row: Row) -> str:
    """Return the individual interval of a count as text; its level is for this count only."""
    return interval_text(row.lower, row.upper)


def simultaneous(row: Row) -> str:
    """Return the simultaneous interval of a count as text; its level is for all counts together."""
    return f"{row.lower_simultaneous:,} .. {row.upper_simultaneous:,}"


def share(row: Row, people: int) -> list[Cell]:
    """Return two cells: a count and its interval, as percentages of ``people``."""
    part = row.share_of(people)
    error = None if part.standard_error is None else 100.0 * part.standard_error
    lower, upper = 100.0 * part.lower, 100.0 * part.upper
    estimated = figure(clip_to_interval(100.0 * part.estimate, lower, upper), error)
    # The lower end is rounded down, and the upper end is rounded up.
    low, high = figure(lower, error, math.floor), figure(upper, error, math.ceil)
    return [f"{estimated} %", f"{low} .. {high} %"]


def shares_note(people: int | None) -> str:
    """Return the sentence that defines the shown shares; empty if none are shown."""
    if people is None:
        return ""
    return (
        f"Shares are those of the {people:,} people who took part, not of a larger population: "
        "their intervals allow for the noise alone, not for who was asked."
    )


def figure_sections(
    all_figures: Sequence[Figures],
    level: float,
    most: int | None,
    true: Mapping[str, Sequence[float | None]] | None,
    *,
    note: bool = True,
) -> list[Section]:
    """Return one section for each figure: its table and its note.

    Parameters
    ----------
    all_figures : sequence of Figures
        Numbers derived from the same messages as the counts.
    level : float
        The confidence level of the intervals.
    most : int or None
        The largest number of rows of each table.
    true : mapping or None
        The true values of the rows, by the name of the figure; None if they are unknown.
    note : bool
        Whether the text of a figure has the smaller letters of a note.
    """
    return [
        Section(one.title, (_figures_table(one, level, most, true), Text(one.note, note=note)))
        for one in all_figures
    ]


def _figures_table(
    figures: Figures,
    level: float,
    most: int | None,
    true: Mapping[str, Sequence[float | None]] | None,
) -> Table:
    true_column = {} if true is None else {"true value": true[figures.name]}
    rows = figures.rows[:most]
    coarse = any(row.resolution is not None for row in rows)
    head = ["", "estimate", "standard error", f"{percent(level)} interval"]
    lines = []
    for place, row in enumerate(rows):
        error = row.standard_error
        cells = [figure(row.estimate, error), "" if error is None else error_text(error)]
        # The lower end is rounded down and the upper end up, so that the printed interval contains
        # every value that the exact interval contains.
        low, high = figure(row.lower, error, math.floor), figure(row.upper, error, math.ceil)
        cells += [f"{low} .. {high}"]
        cells += [number_or_blank(row.resolution, 2)] * coarse
        cells += [number_or_blank(values[place], 5) for values in true_column.values()]
        lines.append([row.label, *cells])
    head += ["resolution"] * coarse
    return Table((*head, *true_column), lines, title=figures.title)


def figure(value: float, error: float | None, rounding: Callable[[float], int] = round) -> str:
    """Round a number to the place of the second significant digit of its error.

    Without an error, the number is rounded to five significant digits.
    """
    return number(value, 5) if error is None else round_to_error(value, error, rounding)


def number_or_blank(value: float | None, digits: int) -> str:
    """Return a number with ``digits`` significant digits, or an empty text for None."""
    return "" if value is None else number(value, digits)


def count_rows(result: Result, extra_columns: Mapping[str, Sequence[Any]]) -> list[Facts]:
    """Return one flat object for each bin, in the order of the bins.

    Parameters
    ----------
    result : Result
        The result with the estimates.
    extra_columns : mapping of str to sequence of object
        Further columns by name, with one value for each bin.
    """
    found, bins = result.estimate, range(result.question.bins)
    counts = estimates_of(found, [result.question.label(i) for i in bins])
    columns = {"bin": bins, **counts.columns()}
    columns["above_zero"] = [end > 0 for end in found.simultaneous.lower.tolist()]
    if found.people is not None:
        columns |= prefix_columns(counts.shares(found.people).columns(), "share")
    if found.projected is not None:
        columns["simplex"] = found.projected.tolist()
    return rows_of({**columns, **extra_columns})


def figure_rows(figures: Figures, extra_columns: Mapping[str, Sequence[Any]]) -> list[Facts]:
    """Return one flat object for each row of a figure.

    Parameters
    ----------
    figures : Figures
        The estimates of the figure.
    extra_columns : mapping of str to sequence of object
        Further columns by name, with one value for each row.
    """
    resolution = [row.resolution for row in figures.rows]
    columns = estimates_of_rows(figures.rows).columns()
    return rows_of({**columns, "resolution": resolution, **extra_columns})


def message_facts(result: Result) -> Facts:
    """Return facts on the number of messages and on how the intervals were computed."""
    return {"messages": result.messages, **precision(result.estimate)}


def precision(estimate: Estimate) -> Facts:
    """Return the confidence level and the method of the intervals."""
    return {
        "confidence_level": estimate.individual.level,
        "interval_method": estimate.individual.method,
    }


def facts(result: Result) -> Facts:
    """Return the facts of a result and its plan as one flat object, without the counts of bins."""
    plan = result.plan
    return {**plan.facts(), "fingerprint": plan.fingerprint, **message_facts(result)}
