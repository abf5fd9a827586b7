"""A vote as one HTML file that opens offline."""

from mixtally.ground.codec import fingerprint
from mixtally.protocols.facts import plan_facts
from mixtally.report.election.chart import STYLE, shares_chart
from mixtally.report.election.rows import VERSIONS, comparison, headings, result_rows
from mixtally.report.election.votes import Count, Election
from mixtally.report.election.words import deniability, method, percent, verdict, weaknesses
from mixtally.report.page import document, figures_list, section
from mixtally.report.svg import Markup, el
from mixtally.report.words import at_most, fact, promise
from mixtally.version import VERSION


def page(election: Election) -> str:
    """The report as HTML text."""
    body = el(
        "main",
        el("h1", election.title),
        el("p", election.source, class_="source"),
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
        section("The two versions", _grid(VERSIONS, comparison(election), "plan")),
        section("What an observer can learn of one voter", *_texts(deniability(election))),
        section("How the winner's chance is computed", *_texts(method())),
        section("The plan of the shuffle version", el("p", election.reason), _plan(election)),
        section("What the shuffle version promises", *_texts(promise(election.release.plan))),
        section(
            "What is not promised", el("ul", *[el("li", text) for text in weaknesses(election)])
        ),
        el("footer", el("p", _footer(election))),
    )
    return document(election.title, body, STYLE)


def _version(election: Election, name: str, count: Count) -> list[Markup]:
    return [
        el("h3", f"{name.capitalize()} version"),
        _grid(headings(election, count), result_rows(election, count), "bins"),
        el("p", verdict(election, count)),
    ]


def _texts(texts: list[str]) -> list[Markup]:
    return [el("p", text) for text in texts]


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


def _grid(names: list[str], rows: list[list[str]], kind: str) -> Markup:
    head = el("thead", el("tr", *[el("th", name) for name in names]))
    body = el("tbody", *[el("tr", *[el("td", cell) for cell in row]) for row in rows])
    return el("div", el("table", head, body, class_=kind), class_="scroll")


def _plan(election: Election) -> Markup:
    release = election.release
    told = {"source", "assumption"}  # in words below
    rows = [
        [name.replace("_", " "), fact(name, value)]
        for name, value in plan_facts(release.plan, release.protocol).items()
        if name not in told
    ]
    return _grid(["", "value"], rows, "plan")


def _footer(election: Election) -> str:
    seed = election.seed
    chance = "randomness from the operating system" if seed is None else f"seed {seed}"
    return f"mixtally {VERSION}, {chance}, plan {fingerprint(election.release.plan)}"
