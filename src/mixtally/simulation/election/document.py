"""What is shown of a vote: both versions, what sets them apart, what an observer can learn."""

from mixtally.records.result import Vote
from mixtally.report.document import (
    Document,
    Heading,
    Part,
    Promise,
    Section,
    Table,
    Text,
)
from mixtally.report.numbers import at_most
from mixtally.report.promise import expected, stated
from mixtally.report.sections import promises, the_plan
from mixtally.report.words import promise, without_mixes
from mixtally.simulation.election.chart import shares_chart
from mixtally.simulation.election.facts import Numbers
from mixtally.simulation.election.rows import VERSIONS, comparison, results
from mixtally.simulation.election.votes import Election
from mixtally.simulation.election.words import deniability, method, percent, verdict, weaknesses


def document(election: Election) -> Document:
    """The whole vote; a release when it has no truth."""
    numbers = Numbers(election)
    return election.document(
        promise=_lines(election),
        key=_key_figures(election),
        sections=lambda: _sections(election),
        summary=lambda: _summary(election),
        facts=numbers.facts,
        tables=numbers.tables,
        origin=(election.plan.fingerprint,),
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
        f"{without_mixes(election.plan.local_epsilon)}",
        f"Local: {expected(local_error, election.level)} "
        f"Shuffle: {expected(error, election.level)}",
    )


def _sections(election: Election) -> tuple[Section, ...]:
    versions: list[Part] = []
    for name, count in election.counts().items():
        versions += [
            Heading(f"{name.capitalize()} version"),
            _results(election, count),
            Text(verdict(election, count)),
        ]
    learned, chances = map(Text, deniability(election)), map(Text, method())
    return (
        Section("Result", (shares_chart(election), *versions)),
        Section("The two versions", (_comparison(election),)),
        Section("What an observer can learn of one voter", tuple(learned)),
        Section("How the winner's chance is computed", tuple(chances)),
        the_plan(
            election.about.reason, election.plan.facts(), title="The plan of the shuffle version"
        ),
        *promises(
            promise(election.plan), weaknesses(election), "What the shuffle version promises"
        ),
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
    return Table(*results(election, count), title=title)


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
