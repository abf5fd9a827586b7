"""A vote as one JSON object and as rows of a CSV file."""

from functools import cached_property

from mixtally.privacy.baselines import local_standard_error
from mixtally.privacy.local import least_wrong, speaks
from mixtally.records.question import Question
from mixtally.records.result import Vote, largest
from mixtally.report.document import Facts, Rows
from mixtally.report.estimates import Columns, estimates_of, named, rows_of
from mixtally.simulation.election.votes import Election


class Numbers:
    """All numbers of a vote as flat objects, which JSON and CSV share; made once."""

    def __init__(self, election: Election) -> None:
        self._election = election

    @cached_property
    def results(self) -> dict[str, list[Facts]]:
        """For each version an object an option, in the order of the options."""
        election = self._election
        return {name: _rows(election, count) for name, count in election.counts().items()}

    def facts(self) -> Facts:
        """The whole vote as one JSON object."""
        election = self._election
        return {
            "users": election.users,
            "options": election.question.bins,
            "confidence_level": election.level,
            **_true_winner(election),
            "local": {
                **_ballots(election),
                **_count(election, election.local),
                "results": self.results["local"],
            },
            "shuffle": {
                **election.plan.facts(),
                "fingerprint": election.plan.fingerprint,
                "reason": election.about.reason,
                **_count(election, election.shuffle),
                "results": self.results["shuffle"],
            },
        }

    def tables(self) -> dict[str, Rows]:
        """A line a version and option, in the order of the options or of their votes."""
        ranked = self._election.ranked()
        lines = [{"version": name, **row[i]} for name, row in self.results.items() for i in ranked]
        return {"shares.csv": Rows(lines)}


def _rows(election: Election, count: Vote) -> list[Facts]:
    """One flat object an option, in the order of the options; shares of all voters."""
    users, radius, bins = election.users, election.radius(count), range(election.question.bins)
    votes = estimates_of(count.estimate, [election.question.label(i) for i in bins])
    shares = votes.shares(users)
    columns: Columns = {
        "option": votes.labels,
        "votes": votes.values,
        **named(shares.columns(), {"label": None, "estimate": "share", "standard_error": None}),
        "lower_normal": [share - radius for share in shares.values],
        "upper_normal": [share + radius for share in shares.values],
        "chance_to_have_won": count.chances.tolist(),
        "may_have_won": count.may_win.tolist(),
    }
    if election.blank is not None:
        columns["blank"] = [i == election.blank for i in bins]
    if election.truth is not None:
        columns["truth"] = [held / users for held in election.truth.tolist()]
    return rows_of(columns)


def _true_winner(election: Election) -> Facts:
    if election.truth is None:
        return {}
    return _won("true_winner", election.question, largest(election.truth, election.blank))


def _ballots(election: Election) -> Facts:
    """What is known of the local version before anybody votes."""
    ballots, epsilon = election.ballots, election.local.certificate.epsilon
    truth, neither, lie = speaks(ballots)
    return {
        "keep_probability": 1.0 - ballots.flip_probability,
        **ballots.facts(),
        "local_epsilon": ballots.local_epsilon,
        "best_local_standard_error": local_standard_error(
            epsilon, election.users, election.question.bins
        ),
        "ballot_speaks_for_truth": truth,
        "ballot_speaks_for_neither": neither,
        "ballot_speaks_for_lie": lie,
    }


def _count(election: Election, count: Vote) -> Facts:
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
        **_won("leader", question, count.leaders),
        "leader_chance": float(count.chances[count.leaders].max()),
    }


def _won(key: str, question: Question, first: list[int]) -> Facts:
    """Who is first: one option, or null where several are, and all of them."""
    names = [question.label(place) for place in first]
    return {key: names[0] if len(names) == 1 else None, f"{key}s": names}
