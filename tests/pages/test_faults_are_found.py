"""Twins: whatever the pages are held against is found where it is planted."""

import re

import pytest

from mixtally.report.charts import Bar, rows_chart
from mixtally.report.document import Document, Section, Table, Text
from mixtally.report.page import page
from pages.browser import browser, faults

BARS = [Bar("yes", 700.0, 690.0, 710.0, 705.0), Bar("no", 300.0, 290.0, 310.0, 280.0)]
WIDE = Table(tuple("word" * 3 + str(k) for k in range(9)), [["7" * 9] * 9], title="Wide")
FOLDED = Table(("bin", "count"), [("hidden away", "1")], title="All", folded=True)


def whole():
    return page(
        Document(
            title="T", source="S", promise=("Hidden: it.", "epsilon = 1.", "Error: 2."),
            sections=lambda: (
                Section("Counts", (rows_chart(BARS, "Bars"), Text("Said.", note=True))),
                Section("Tables", (WIDE, FOLDED)),
            ),
            summary=tuple, facts=dict,
        )
    )  # fmt: skip


def styled(rule):
    return lambda html: html.replace("</style>", f"{rule}</style>")


def without(pattern):
    return lambda html: re.sub(pattern, "", html)


PLANTED = {
    "a chart that is shown twice": (
        styled(".chart.narrow{display:block!important}"), "printed, light: a chart that is shown 2"
    ),
    "small letters": (styled(".note{font-size:8px}"), "8.0 px: "),
    "a chart that shrinks": (
        lambda html: html.replace('width="100%"', 'viewBox="0 0 920 200"'),
        r"360 px, light: 4\.\d px",
    ),
    "pale letters": (styled(".note{color:#ccc}"), "letters of contrast 1.6"),
    "pale marks": (styled(".bar{stroke:none}"), r"light: a mark of contrast 1\.6: rect\.bar"),
    "pale marks in the dark": (
        styled("@media(prefers-color-scheme:dark){.own,.whisker{fill:#234;stroke:#234}}"),
        r"dark: a mark of contrast 1\.\d: line\.whisker",
    ),
    "a wide table": (
        lambda html: html.replace('class="wide list"', 'class="few"'),
        "360 px, light: wider than the page: TABLE",
    ),
    "a table that is cut": (
        styled("section{overflow-x:hidden}table.list{width:1200px}"), "cuts off what it holds"
    ),
    "what moves sideways": (
        styled("section{overflow-x:auto}table.list{width:1200px}"), "moves sideways: SECTION"
    ),
    "text beside its picture": (
        lambda html: html.replace(">yes<", ' dx="900">yes<'), "cut off by its picture"
    ),
    "a folded table on paper": (
        styled("@media print{details{display:none}}"), "printed, light: not printed: hidden away"
    ),
    "a mark without a legend": (
        without('<ul class="key">.*?</ul>'), "a mark without a legend: whisker missed"
    ),
    "a table without a name": (without("<caption.*?</caption>"), "without caption or scopes"),
    "a name without a scope": (without(' scope="row"'), "without caption or scopes"),
    "what axe knows": (lambda html: html.replace('lang="en"', ""), "axe: html-has-lang"),
}  # fmt: skip


@pytest.mark.seconds
def test_every_planted_fault_is_found():
    with browser() as shown:
        assert faults(shown, whole()) == []
        for name, (plant, said) in PLANTED.items():
            html = plant(whole())
            assert html != whole(), name
            scheme = "dark" if "dark" in name else "light"
            found = faults(shown, html, (360,), (scheme,), axe="axe" in name)
            assert any(re.search(said, one) for one in found), (name, found)
