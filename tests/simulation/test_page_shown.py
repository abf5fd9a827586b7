"""The page is one HTML file that is whole, safe and needs nothing else."""

import html
import re
from dataclasses import replace

import numpy as np
import pytest

from mixtally.report.counts_view import CountsView
from mixtally.report.words import not_promised, promise_paragraphs
from report.reader import self_contained
from simulation.studies import page, with_estimate

ALLOWED = {
    "html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "p", "dl", "div", "dt",
    "dd", "section", "table", "thead", "tbody", "tr", "th", "td", "ul", "li", "details", "summary",
    "footer", "span", "svg", "text", "line", "rect", "circle", "g", "caption",
    "figure", "figcaption", "strong",
}  # fmt: skip


def checked(study):
    """The text of the study's page, once the page is seen to be whole and self-contained."""
    reader = self_contained(page(study))
    assert set(reader.tags) <= ALLOWED
    return " ".join(reader.texts)


SHAPES = {
    "two bins": {"truth": [700, 300]},
    "many bins": {"truth": [2] * 2000},
    "equal counts": {"truth": [100] * 10},
    "empty bins": {"truth": [1000] + [0] * 49},
    "projected": {"truth": [400, 300, 0], "projection": "simplex"},
    "three releases": {
        "truth": [400, 300, 0],
        "protocols": ("clear-uniform", "flip-blank", "clear-shaped"),
    },
    "clear records": {"truth": [400, 300, 0], "protocols": ("clear-uniform",)},
    "shaped fakes": {"truth": [400, 300, 0], "protocols": ("clear-shaped",)},
}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_page_is_whole_and_self_contained(study, shape):
    made = study(**shape)
    text = checked(made)
    for statement in promise_paragraphs(made.main_result.plan):
        assert statement in text
    for statement in not_promised(made.main_result.plan):
        assert statement in text
    assert made.main_result.plan.fingerprint in text
    assert CountsView(made.main_result).findings(0) in text


def test_all_zero_estimates_make_a_page(study):
    checked(with_estimate(study([400, 300, 0]), counts=np.zeros(3)))


def test_estimates_without_any_error_make_a_page(study):
    made = study([400, 300, 0])
    checked(with_estimate(made, counts=made.truth.counts.astype(float)))


NASTY = ('<b>&"x', "'><script>alert(1)</script>", "</svg></title>", "&amp;", "plain", 'a,b\n"c"')


def test_labels_names_and_titles_are_escaped(study):
    made = study(
        [200] * len(NASTY), labels=NASTY, name="<i>&column", title="<h9>&title", source="</main>",
        reason="<script>",
    )  # fmt: skip
    text = checked(made)
    for written in (*NASTY, "<i>&column", "<h9>&title", "</main>", "<script>"):
        assert written in text
    raw = page(made)
    assert "<b>&" not in raw
    assert html.escape('<b>&"x') in raw


def test_the_twin_without_escaping_is_caught(study, monkeypatch):
    monkeypatch.setattr("mixtally.report.svg.escape", str)
    with pytest.raises(AssertionError):
        checked(study([200] * len(NASTY), labels=NASTY))


def test_at_most_a_thousand_bins_are_listed(study):
    text = page(study([2] * 2000))
    assert "1,000 of 2,000 bins shown, the largest" in text
    assert text.split("<tbody>")[-1].count("<tr>") == 1000


def test_the_footer_tells_where_randomness_came_from(study):
    assert "seed 5" in checked(study([700, 300], seed=5))
    assert "randomness from the operating system" in checked(study([700, 300]))


def test_what_is_not_promised_fits_the_protocol(study):
    def said(protocol):
        made = study([700, 300], protocols=(protocol,))
        return " ".join(not_promised(made.main_result.plan))

    assert "a local epsilon of " in said("flip-blank")
    assert "every bin" in said("flip-blank")
    assert "each answer is exposed" in said("clear-uniform")
    assert "people who follow the protocol take part" in said("kary-response")
    assert "If the mix tells the collector which fakes it drew" in said("clear-shaped")


def test_a_reader_sees_ten_facts_of_a_plan_and_opens_the_others(study):
    section = page(study([700, 300])).split("<h2>The plan</h2>")[1].split("</section>")[0]
    shown, folded = section.split("<details>")
    assert shown.count("<tr>") == 10
    assert "<summary>All other numbers of the plan</summary>" in folded
    made = study([700, 300]).main_result.plan.facts()
    named = {name.replace("_", " ") for name in made if name not in ("source", "assumption")}
    rows = re.findall(r'<th scope="row">([^<]+)</th>', section)
    assert set(rows) == named
    assert not set(rows[10:]) & {"epsilon", "delta", "users", "standard error"}


def test_too_few_people_are_said_to_be_too_few(study):
    made = study([700, 300])
    none = replace(made.main_result.estimate.simultaneous, lower=np.zeros(2, dtype=np.int64))
    assert "none of" in CountsView(with_estimate(made, simultaneous=none).main_result).findings(2)
    assert "none of" not in CountsView(made.main_result).findings(2)
