"""A vote as rows of text: one table of results a version, and one that compares them."""

import math

from mixtally.estimate.intervals import NORMAL
from mixtally.privacy.baselines import local_standard_error
from mixtally.records.contract import Cover
from mixtally.records.result import Vote
from mixtally.report.charts import Bar
from mixtally.report.document import Cell, columns
from mixtally.report.numbers import at_most, error_text
from mixtally.simulation.election.votes import Election
from mixtally.simulation.election.words import chance, percent

VERSIONS = ["", "local", "shuffle"]
"""Columns of ``comparison``."""


def results(election: Election, count: Vote) -> tuple[tuple[str, ...], list[list[Cell]]]:
    """Heads and rows, a row an option: in the order of the options or of their votes."""
    kind = "exact" if count.estimate.each.method.startswith("exact") else NORMAL
    radius, blank = election.radius(count), election.blank
    digits = _digits(radius)
    shares = [share(election, count, i) for i in range(election.question.bins)]

    def won(i: int) -> str:
        return "blank" if i == blank else chance(float(count.chances[i]))

    def interval(i: int) -> str:
        return f"{100 * shares[i].lower:.{digits}f} .. {100 * shares[i].upper:.{digits}f}"

    return columns(
        election.ranked(),
        (election.question.name, lambda i: shares[i].label),
        ("share", lambda i: percent(shares[i].estimate, digits)),
        (f"{100 * election.level:g} %, {kind}", interval),
        ("radius", lambda _: percent(radius, digits + 1)),
        ("won, chance", won),
        *[("true", lambda i: percent(shares[i].mark or 0.0, digits))]
        * (election.truth is not None),
    )


def share(election: Election, count: Vote, i: int) -> Bar:
    """An option's votes with their interval as shares of all voters, beside its true share."""
    found, users = count.estimate, election.users
    return Bar(
        label=election.question.label(i),
        estimate=float(found.counts[i]) / users,
        lower=int(found.each.lower[i]) / users,
        upper=int(found.each.upper[i]) / users,
        mark=None if election.truth is None else int(election.truth[i]) / users,
    )


def _digits(radius: float) -> int:
    """Decimals of a percentage at which ``radius`` has two digits, at least two."""
    return max(2, 1 - math.floor(math.log10(100.0 * radius))) if radius > 0.0 else 2


def comparison(election: Election) -> list[list[str]]:
    """What sets the two versions apart, one row a thing."""
    local, shuffle, plan = election.local, election.shuffle, election.plan
    trusted = (
        "the mix, which shuffles and draws fakes"
        if plan.cover is Cover.MIXES
        else "one mix that shuffles, voters who send fakes"
    )
    best = local_standard_error(local.certificate.epsilon, election.users, election.question.bins)
    alone, left = at_most(local.certificate.epsilon, 4), plan.local_epsilon
    return [
        ["protocol", "flips, no fakes", plan.protocol],
        ["trusted", "nobody", trusted],
        ["observer sees", "every ballot with its voter", "every shuffled message"],
        ["epsilon at most", alone, at_most(shuffle.certificate.epsilon, 4)],
        ["delta at most", *(at_most(c.certificate.upper) for c in (local, shuffle))],
        [
            "epsilon if all mixes collude",
            alone,
            "unbounded" if left is None else at_most(left, 4),
        ],
        ["messages", *(f"{c.messages:,}" for c in (local, shuffle))],
        [
            "standard error, votes",
            *(error_text(c.estimate.standard_error) for c in (local, shuffle)),
        ],
        ["standard error, best local way", error_text(best), ""],
        ["normal radius, one option", *(percent(election.radius(c), 3) for c in (local, shuffle))],
        [
            "normal radius, all at once",
            *(percent(election.radius(c, at_once=True), 3) for c in (local, shuffle)),
        ],
    ]
