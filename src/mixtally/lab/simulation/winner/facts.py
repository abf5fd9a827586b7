"""Winner of a vote as one JSON object and as rows of a CSV file."""

import numpy as np
from numpy.typing import NDArray

from mixtally.accounting.baselines import local_standard_error
from mixtally.accounting.budget.local import ballot_evidence, least_guess_error
from mixtally.lab.simulation.winner.contest import Contest
from mixtally.model.question import Question
from mixtally.model.result import Vote, find_leaders
from mixtally.report.document import Facts
from mixtally.report.estimates import Columns, estimates_of, rename_columns, rows_of

_SHARE = {"label": None, "estimate": "share", "standard_error": None}


def facts(contest: Contest, truth: NDArray[np.int64] | None) -> Facts:
    """Return the JSON object: the guarantee of local ballots, and the leader of both versions.

    For each version (local ballots, or the release) it also has one row for each option.
    """
    found: Facts = {"options": contest.question.bins}
    if truth is not None:
        first = find_leaders(truth, contest.local.blank)
        found |= _winner_facts("true_winner", contest.question, first)
    for name, count in contest.counts().items():
        ballot = _ballot_facts(contest) if count is contest.local else {}
        found[name] = {
            **ballot,
            **_vote_facts(contest, count),
            "results": rows(contest, count, truth),
        }
    return found


def rows(contest: Contest, count: Vote, truth: NDArray[np.int64] | None) -> list[Facts]:
    """Return one flat JSON object for each option, in the order of the question.

    Votes are also stated as shares of all voters.
    """
    users, radius, bins = contest.plan.users, contest.radius(count), range(contest.question.bins)
    votes = estimates_of(count.estimate, [contest.question.label(i) for i in bins])
    shares = votes.shares(users)
    columns: Columns = {
        "option": votes.labels,
        "votes": votes.values,
        **rename_columns(shares.columns(), _SHARE),
        "lower_normal": [share - radius for share in shares.values],
        "upper_normal": [share + radius for share in shares.values],
        "chance_to_have_won": count.chances.tolist(),
        "may_have_won": count.may_win.tolist(),
        "blank": [i == count.blank for i in bins],
    }
    if truth is not None:
        columns["truth"] = [voters / users for voters in truth.tolist()]
    return rows_of(columns)


def _ballot_facts(contest: Contest) -> Facts:
    """Return the facts about local ballots that are known before the vote."""
    ballots, epsilon = contest.ballots, contest.local.certificate.epsilon
    truth, neither, lie = ballot_evidence(ballots)
    bins, users = contest.question.bins, contest.plan.users
    return {
        "keep_probability": 1.0 - ballots.flip_probability,
        **ballots.facts(),
        "local_epsilon": ballots.local_epsilon,
        "best_local_standard_error": local_standard_error(epsilon, users, bins),
        "ballot_speaks_for_truth": truth,
        "ballot_speaks_for_neither": neither,
        "ballot_speaks_for_lie": lie,
    }


def _vote_facts(contest: Contest, count: Vote) -> Facts:
    shown, found, question = count.certificate, count.estimate, contest.question
    return {
        "epsilon": shown.epsilon,
        "delta": shown.upper,
        **shown.terms(),
        "wrong_guess_of_two": least_guess_error(shown, 2),
        "wrong_guess_of_all": least_guess_error(shown, question.bins),
        "messages": count.messages,
        "standard_error": found.standard_error,
        "standard_error_share": found.standard_error / contest.plan.users,
        "radius": contest.radius(count),
        "radius_at_once": contest.radius(count, at_once=True),
        "interval_method": found.individual.method,
        **_winner_facts("leader", question, count.leaders),
        "leader_chance": float(count.chances[count.leaders].max()),
    }


def _winner_facts(key: str, question: Question, first: list[int]) -> Facts:
    """Return two JSON fields about the options ``first``, which have the most votes.

    The field ``key`` is the leading option, or null for a tie. The other field has this name with
    an s, and lists all leading options.
    """
    names = [question.label(place) for place in first]
    return {key: names[0] if len(names) == 1 else None, f"{key}s": names}
