"""What is shown of a vote: both versions, what sets them apart, what an observer can learn."""

from mixtally.ground.codec import fingerprint
from mixtally.privacy.baselines import local_standard_error
from mixtally.privacy.local import least_wrong, speaks
from mixtally.records.question import Question
from mixtally.records.result import Vote, largest
from mixtally.report.document import (
    Bullets,
    Document,
    Facts,
    FactTable,
    Heading,
    Part,
    Promise,
    Rows,
    Section,
    Table,
    Text,
    closing,
)
from mixtally.report.numbers import at_most
from mixtally.report.promise import expected, stated
from mixtally.report.texts import row_facts
from mixtally.report.words import promise, without_mixes
from mixtally.simulation.election.chart import shares_chart
from mixtally.simulation.election.rows import VERSIONS, comparison, headings, result_rows
from mixtally.simulation.election.votes import Election
from mixtally.simulation.election.words import deniability, method, percent, verdict, weaknesses


def document(election: Election) -> Document:
    """The whole vote; a release when it has no truth."""
    versions: list[Part] = []
    for name, count in election.counts().items():
        versions += [
            Heading(f"{name.capitalize()} version"),
            _results(election, count),
            Text(verdict(election, count)),
        ]
    return Document(
        title=election.about.title,
        source=election.about.told(rehearsal=election.truth is not None),
        promise=_lines(election),
        rehearsal=election.truth is not None,
        key=_key_figures(election),
        sections=lambda: (
            Section("Result", (shares_chart(election), *versions)),
            Section("The two versions", (_comparison(election),)),
            Section(
                "What an observer can learn of one voter",
                tuple(map(Text, deniability(election))),
            ),
            Section("How the winner's chance is computed", tuple(map(Text, method()))),
            Section(
                "The plan of the shuffle version",
                (Text(election.about.reason, own=True), FactTable((election.plan.facts(),))),
            ),
            Section("What the shuffle version promises", tuple(map(Text, promise(election.plan)))),
            Section("What is not promised", (Bullets.of(weaknesses(election)),)),
        ),
        summary=lambda: _summary(election),
        facts=lambda: facts(election),
        tables=lambda: {"shares.csv": _csv(election)},
        closing=closing(election.about.seed, fingerprint(election.plan)),
    )


def _lines(election: Election) -> Promise:
    """What both versions hide from whom, what that rests on, and the errors of both."""
    local, shuffle = election.local, election.shuffle
    local_error, error = local.estimate.standard_error, shuffle.estimate.standard_error
    return (
        "Protects: each person's vote; in the local version against anyone who sees every ballot "
        "and knows whose it is, in the shuffle version against anyone who sees all shuffled "
        "messages and knows all other votes.",
        f"Local: {stated(local.certificate)} Shuffle: {stated(shuffle.certificate)} "
        f"{without_mixes(election.plan.mechanism.local_epsilon)}",
        f"Local: {expected(local_error, election.level)} "
        f"Shuffle: {expected(error, election.level)}",
    )


def facts(election: Election) -> Facts:
    """The whole vote as one JSON object."""
    ballots = election.ballots
    truth, neither, lie = speaks(ballots)
    return {
        "title": election.about.title,
        "source": election.about.told(rehearsal=election.truth is not None),
        "seed": election.about.seed,
        "users": election.users,
        "options": election.question.bins,
        "confidence_level": election.level,
        **(
            {}
            if election.truth is None
            else _won("true_winner", election.question, largest(election.truth, election.blank))
        ),
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
            **election.plan.facts(),
            "fingerprint": fingerprint(election.plan),
            "reason": election.about.reason,
            **_count(election, election.shuffle),
        },
    }


def rows(election: Election, count: Vote) -> list[Facts]:
    """One flat object an option, in the order of the options; shares of all voters."""
    users, radius = election.users, election.radius(count)
    found = []
    for i in range(election.question.bins):
        row = row_facts(count.estimate.row(i, election.question.label(i)))
        share = row["estimate"] / users
        bounds = ("lower", "upper", "lower_simultaneous", "upper_simultaneous")
        found.append(
            {
                "option": row["label"],
                "votes": row["estimate"],
                "share": share,
                **{name: row[name] / users for name in bounds},
                "lower_normal": share - radius,
                "upper_normal": share + radius,
                "chance_to_have_won": float(count.chances[i]),
                "may_have_won": bool(count.may_win[i]),
                **({} if election.blank is None else {"blank": i == election.blank}),
                **({} if election.truth is None else {"truth": int(election.truth[i]) / users}),
            }
        )
    return found


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
        "results": rows(election, count),
    }


def _won(key: str, question: Question, first: list[int]) -> Facts:
    """Who is first: one option, or null where several are, and all of them."""
    names = [question.label(place) for place in first]
    return {key: names[0] if len(names) == 1 else None, f"{key}s": names}


def _csv(election: Election) -> Rows:
    """A line for every version and option, in the order of the options or of their votes."""
    tables = {name: rows(election, count) for name, count in election.counts().items()}
    return Rows(
        [{"version": name, **table[i]} for name, table in tables.items() for i in election.ranked()]
    )


def _summary(election: Election) -> tuple[Part, ...]:
    """A table a version, both beside each other, and what an observer can learn."""
    parts: list[Part] = []
    for name, count in election.counts().items():
        title = f"{election.about.title}: {name} version"
        parts += [
            _results(election, count, title),
            Text(verdict(election, count) + "\n"),
        ]
    parts.append(_comparison(election, "The two versions"))
    return (*parts, *map(Text, (*deniability(election), *method())))


def _results(election: Election, count: Vote, title: str = "") -> Table:
    return Table(tuple(headings(election, count)), result_rows(election, count), title=title)


def _comparison(election: Election, title: str = "") -> Table:
    return Table(tuple(VERSIONS), comparison(election), words=frozenset(VERSIONS), title=title)


def _key_figures(election: Election) -> tuple[tuple[str, str], ...]:
    local, shuffle = election.local, election.shuffle
    return (
        ("voters", f"{election.users:,}"),
        ("options", f"{election.question.bins:,}"),
        ("epsilon, local", at_most(local.certificate.epsilon)),
        ("epsilon, shuffle", at_most(shuffle.certificate.epsilon)),
        ("delta at most, shuffle", at_most(shuffle.certificate.upper)),
        ("radius, local", percent(election.radius(local), 3)),
        ("radius, shuffle", percent(election.radius(shuffle), 3)),
    )
