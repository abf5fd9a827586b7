"""Sentences about a vote: deniability, the probability of having won, and what is not promised."""

import math

import msgspec

from mixtally.accounting.baselines import local_standard_error
from mixtally.accounting.budget.local import ballot_evidence, least_guess_error
from mixtally.lab.simulation.winner.contest import Contest
from mixtally.model.certificate import Certificate
from mixtally.model.result import Vote
from mixtally.report.numbers import at_least, at_most, error_text
from mixtally.report.words import likelihood_text


def percent(value: float, digits: int = 2) -> str:
    """Return a share as a percentage."""
    return f"{100.0 * value:.{digits}f} %"


def chance(value: float) -> str:
    """Return a probability as a percentage, never rounded to certainty."""
    if value > 0.9999:
        return "> 99.99 %"
    return "< 0.01 %" if value < 0.0001 else percent(value)


def describe_leader(contest: Contest, count: Vote) -> str:
    """Return sentences on who leads, the probability that the leader won, and other candidates.

    The other candidates are those who may have won.
    """
    question, first = contest.question, count.leaders
    names = [repr(question.label(place)) for place in first]
    won = chance(float(count.chances[first].max()))
    able = int(count.may_win.sum())
    rest = (
        "no other option can be the winner"
        if able == 1
        else f"{able:,} of {contest.candidates:,} options can still be the winner"
    )
    leads = f"{names[0]} leads, and is the true winner with a chance of {won}. "
    if len(names) > 1:
        tied = f"{', '.join(names[:-1])} and {names[-1]}"
        leads = f"A tie of {tied}: each is the true winner with a chance of at most {won}. "
    if count.blank is not None:
        rest += f"; blank ballots, {question.label(count.blank)!r}, are counted and elect nobody"
    return f"{leads}By the {100 * contest.level:g} % intervals for all options at once {rest}."


def deniability(contest: Contest) -> list[str]:
    """Describe how much an observer learns about a voter, and how credible a lie is."""
    return [*_describe_local(contest), *_describe_shuffle(contest)]


def _wrong_guess_text(promise: Certificate, options: int) -> str:
    """Return a text with the least probability of a wrong guess of a vote, rounded down."""
    two = at_least(100.0 * least_guess_error(promise, 2))
    text = f"at least {two} % when two votes were equally likely before"
    if options > 2:
        every = at_least(100.0 * least_guess_error(promise, options))
        text += f", at least {every} % when all {options:,} were"
    return text


def _describe_local(contest: Contest) -> list[str]:
    promise, p = contest.local.certificate, 1.0 - contest.ballots.flip_probability
    truth, neither, lie = ballot_evidence(contest.ballots)
    return [
        f"Local version. Every mark of a ballot is kept with probability {p:.6g} and inverted "
        "otherwise, before it leaves the voter. Anyone who has one voter's ballot, with its name, "
        "finds it "
        f"at most {at_most(math.exp(promise.epsilon), 4)} times as likely under one vote as under "
        "another, without exception. An accusation is wrong with a chance of "
        f"{_wrong_guess_text(promise, contest.question.bins)}.",
        "A lie: anyone who voted for one option and claims another can show the ballot. It speaks "
        f"for the truth with a chance of {percent(truth, 1)}, for neither with "
        f"{percent(neither, 1)}, for the lie with {percent(lie, 1)}. Every ballot is possible "
        "under every vote, so that no claim can be refuted.",
    ]


def _describe_shuffle(contest: Contest) -> list[str]:
    promise, local_epsilon = contest.shuffle.certificate, contest.plan.local_epsilon
    first = (
        "Shuffle version. Anyone who receives every shuffled message, and may know all other "
        "votes, finds what they see "
        f"{likelihood_text(promise.epsilon, promise.upper, 'vote', 'another', 4)}. "
        "A guess at one vote is wrong with a chance of "
        f"{_wrong_guess_text(promise, contest.question.bins)}."
    )
    if local_epsilon is None:
        return [
            first,
            "A lie: once shuffled no message is known to be anybody's, so that any claim fits. But "
            "the message is the vote: anyone who sees it leave, or holds every mix, knows the vote "
            "and no lie helps.",
        ]
    # If all mixes collude, only the randomizer protects a voter. It has delta = 0.
    local_promise = msgspec.structs.replace(promise, epsilon=local_epsilon, lower=0.0, upper=0.0)
    return [
        first,
        "A lie: once shuffled no message is known to be anybody's, so that any claim fits. Anyone "
        "who sees it leave, or holds every mix, has epsilon = "
        f"{at_most(local_epsilon)}: a guess is then wrong with a chance of "
        f"{_wrong_guess_text(local_promise, contest.question.bins)}.",
    ]


def radii(contest: Contest) -> str:
    """Return a sentence on the half-widths of both versions' intervals, and their errors."""
    texts = []
    for name, count in contest.counts().items():
        one, every = contest.radius(count), contest.radius(count, at_once=True)
        texts.append(
            f"{name} version: {percent(one, 3)} for one option, {percent(every, 3)} for all at "
            f"once, standard error {error_text(count.estimate.standard_error)} votes"
        )
    users, epsilon = contest.plan.users, contest.local.certificate.epsilon
    best = error_text(local_standard_error(epsilon, users, contest.question.bins))
    return f"Radius by the normal approximation: {'; '.join(texts)} (best local way: {best})."


def method() -> list[str]:
    """Return how the probability of having won is computed, and what it assumes."""
    return [
        "The chance to have won is computed from the exact distribution of the noise, given what "
        "was tallied, a tie being decided by lot. It assumes that before the count every number of "
        "votes was equally likely for every option, and that ballots follow the rules. Over many "
        "such votes an option with a chance of 70 % has won 70 times in a hundred; for one fixed "
        "electorate that need not hold.",
        "Whether an option can still be the winner assumes nothing about the votes: it cannot when "
        "its interval lies below another's, both taken from the intervals for all options at once.",
        "The votes shown need not add up to the voters: their errors are compared with published "
        "ones, which do not use that number. Using it would move all options together.",
    ]


def weaknesses(contest: Contest) -> list[str]:
    """Return the limitations of the result, as sentences."""
    reach = 1.0 / contest.ballots.gain
    return [
        "Ballots are not eligibility: nothing here checks who may vote, or that they vote once.",
        "Coercion: a voter who is made to use a device that turns no marks, or is watched while "
        "voting, is not protected by either version.",
        f"Local version: a dishonest ballot moves one option against another by {reach:.3g} votes, "
        "an honest one by one vote on average.",
    ]
