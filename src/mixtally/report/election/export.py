"""A vote as JSON and as CSV, all digits kept."""

from typing import Any

from mixtally.ground.codec import fingerprint
from mixtally.privacy.baselines import local_standard_error
from mixtally.privacy.local import least_wrong, speaks
from mixtally.report import texts
from mixtally.report.election.votes import Count, Election


def facts(election: Election) -> dict[str, Any]:
    """The whole vote as one JSON object."""
    ballots, release = election.ballots, election.release
    truth, neither, lie = speaks(ballots)
    return {
        "title": election.title,
        "source": election.source,
        "seed": election.seed,
        "users": election.users,
        "options": election.question.bins,
        "confidence_level": election.level,
        "true_winner": election.question.label(int(election.truth.argmax())),
        "local": {
            "keep_probability": 1.0 - ballots.flip_probability,
            **ballots.facts(),
            "local_epsilon": ballots.local_epsilon,
            "best_local_standard_error": local_standard_error(
                election.local.certificate.epsilon, election.users, election.question.bins
            ),
            "ballot_speaks_for_truth": truth,
            "ballot_speaks_for_neither": neither,
            "ballot_speaks_for_lie": lie,
            **_count(election, election.local),
        },
        "shuffle": {
            **release.plan.facts(),
            "fingerprint": fingerprint(release.plan),
            "reason": election.reason,
            **_count(election, election.shuffle),
        },
    }


def _count(election: Election, count: Count) -> dict[str, Any]:
    shown, found, question = count.certificate, count.estimate, election.question
    return {
        "epsilon": shown.epsilon,
        "delta": shown.upper,
        **shown.terms(),
        "wrong_guess_of_two": least_wrong(shown, 2),
        "wrong_guess_of_all": least_wrong(shown, question.bins),
        "messages": count.messages,
        "standard_error": found.standard_error,
        "standard_error_share": found.standard_error / election.users,
        "radius": election.radius(count),
        "radius_at_once": election.radius(count, at_once=True),
        "interval_method": found.each.method,
        "leader": question.label(count.leader),
        "leader_chance": float(count.chances[count.leader]),
        "results": rows(election, count),
    }


def rows(election: Election, count: Count) -> list[dict[str, Any]]:
    """One flat object an option, in the order of the options; shares of all voters."""
    found, users = count.estimate, election.users
    radius = election.radius(count)
    return [
        {
            "option": election.question.label(i),
            "votes": votes,
            "share": votes / users,
            "lower": int(found.each.lower[i]) / users,
            "upper": int(found.each.upper[i]) / users,
            "lower_all": int(found.together.lower[i]) / users,
            "upper_all": int(found.together.upper[i]) / users,
            "lower_normal": votes / users - radius,
            "upper_normal": votes / users + radius,
            "chance_to_have_won": float(count.chances[i]),
            "may_have_won": bool(count.may_win[i]),
            "truth": int(election.truth[i]) / users,
        }
        for i, votes in enumerate(found.counts.tolist())
    ]


def csv_text(election: Election) -> str:
    """A line for every version and option, the true winner first."""
    tables = {name: rows(election, count) for name, count in election.counts().items()}
    return texts.csv_text(
        {"version": name, **table[i]} for name, table in tables.items() for i in election.ranked()
    )


def json_text(election: Election) -> str:
    """The whole vote as JSON."""
    return texts.json_text(facts(election))
