"""A vote as one HTML file that opens offline."""

from mixtally.ground.codec import fingerprint
from mixtally.report.election.chart import STYLE, shares_chart
from mixtally.report.election.rows import VERSIONS, comparison, headings, result_rows
from mixtally.report.election.votes import Count, Election
from mixtally.report.election.words import deniability, method, percent, verdict, weaknesses
from mixtally.report.parts import (
    document,
    facts_table,
    figures_list,
    footer,
    paragraphs,
    plain_list,
    rows_table,
    section,
)
from mixtally.report.svg import Markup, el
from mixtally.report.words import at_most, promise


def page(election: Election) -> str:
    """The report as HTML text."""
    release = election.release
    return document(
        election.title,
        election.source,
        _key_figures(election),
        section(
            "Result",
            shares_chart(election),
            *[
                part
                for name, count in election.counts().items()
                for part in _version(election, name, count)
            ],
        ),
        section("The two versions", rows_table(VERSIONS, comparison(election), "plan")),
        section("What an observer can learn of one voter", *paragraphs(deniability(election))),
        section("How the winner's chance is computed", *paragraphs(method())),
        section(
            "The plan of the shuffle version",
            el("p", election.reason),
            facts_table(release.plan.facts()),
        ),
        section("What the shuffle version promises", *paragraphs(promise(release.plan))),
        section("What is not promised", plain_list(weaknesses(election))),
        footer(election.seed, fingerprint(release.plan)),
        style=STYLE,
    )


def _version(election: Election, name: str, count: Count) -> list[Markup]:
    return [
        el("h3", f"{name.capitalize()} version"),
        rows_table(headings(election, count), result_rows(election, count)),
        el("p", verdict(election, count)),
    ]


def _key_figures(election: Election) -> Markup:
    local, shuffle = election.local, election.shuffle
    figures = [
        ("voters", f"{election.users:,}"),
        ("options", f"{election.question.bins:,}"),
        ("epsilon, local", at_most(local.certificate.epsilon)),
        ("epsilon, shuffle", at_most(shuffle.certificate.epsilon)),
        ("delta at most, shuffle", at_most(shuffle.certificate.upper)),
        ("radius, local", percent(election.radius(local), 3)),
        ("radius, shuffle", percent(election.radius(shuffle), 3)),
    ]
    return figures_list(figures)
