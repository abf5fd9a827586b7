"""Sections of a study about a vote: who won in both versions, and what an observer learns."""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from mixtally.lab.simulation.winner.contest import Contest
from mixtally.lab.simulation.winner.sentences import (
    chance,
    deniability,
    describe_leader,
    method,
    percent,
    radii,
    weaknesses,
)
from mixtally.model.result import Vote
from mixtally.report.document import Bullets, Cell, Part, Section, Table, Text, columns


def sections(
    contest: Contest, truth: NDArray[np.int64] | None, ranked: list[int]
) -> tuple[Section, ...]:
    """Return the sections of a page; ``ranked`` is the order of the options."""
    return (
        Section("Who has won", (*_result_parts(contest, truth, ranked), *map(Text, method()))),
        Section(
            "What an observer can learn of one voter",
            (*map(Text, deniability(contest)), Bullets.of(weaknesses(contest))),
        ),
    )


def summary(
    contest: Contest, truth: NDArray[np.int64] | None, ranked: list[int]
) -> tuple[Part, ...]:
    """Return the parts that a terminal shows."""
    texts = (*deniability(contest), *method())
    return (*_result_parts(contest, truth, ranked, "Who has won"), *map(Text, texts))


def _result_parts(
    contest: Contest, truth: NDArray[np.int64] | None, ranked: list[int], title: str = ""
) -> list[Part]:
    """Return the table of the local ballots and of the release, and the leader of each."""
    texts = [
        Text(f"{name.capitalize()} version: {describe_leader(contest, count)}")
        for name, count in contest.counts().items()
    ]
    local, shuffle = contest.local, contest.shuffle
    users, true = contest.plan.users, [] if truth is None else truth.tolist()
    found = columns(
        ranked,
        (contest.question.name, contest.question.label),
        ("local", _share_cells(contest, local)),
        (f"{100 * contest.level:g} %", _interval_cells(contest, local)),
        ("won, chance", _chance_cells(local)),
        ("shuffle", _share_cells(contest, shuffle)),
        ("won, chance", _chance_cells(shuffle)),
        *[("true", lambda i: percent(true[i] / users))] * (truth is not None),
    )
    return [Table(*found, title=title, wide=True), *texts, Text(radii(contest))]


_Shown = Callable[[int], Cell]


def _share_cells(contest: Contest, count: Vote) -> _Shown:
    digits, users = _digits(contest.radius(count)), contest.plan.users
    return lambda i: percent(float(count.estimate.counts[i]) / users, digits)


def _interval_cells(contest: Contest, count: Vote) -> _Shown:
    digits, users = _digits(contest.radius(count)), contest.plan.users
    each = count.estimate.individual
    lower, upper = 100 * each.lower / users, 100 * each.upper / users
    return lambda i: f"{lower[i]:.{digits}f} .. {upper[i]:.{digits}f}"


def _chance_cells(count: Vote) -> _Shown:
    return lambda i: "blank" if i == count.blank else chance(float(count.chances[i]))


def _digits(radius: float) -> int:
    """Return the number of decimals with which ``radius`` in percent has two digits; at least 2."""
    return max(2, 1 - math.floor(math.log10(100.0 * radius))) if radius > 0.0 else 2
