"""The founding documents computed again: known numbers, verdicts, planted bugs, a whole page."""

import re
from itertools import pairwise

import pytest

from literature import (
    DOCUMENTS,
    Reproduction,
    maximal,
    notes,
    repeats,
    reproduce,
    sufficient,
    verdicts,
    voting,
)
from literature.document import document
from literature.finding import Finding, claim, rounds_to
from mixtally.errors import ParameterError
from mixtally.lab.formulas import notes as published_notes
from mixtally.report.curves import Chart, Curve, draw
from mixtally.report.page import page
from report.reader import Reader

MODULES = {
    "000": sufficient, "001": maximal, "002": voting, "003": repeats, "004": notes,
}  # fmt: skip


def quiet(*_):
    """No progress."""


@pytest.fixture(scope="module")
def found():
    """All findings by document."""
    return {name: module.findings(quiet) for name, module in MODULES.items()}


@pytest.fixture(scope="module")
def charts():
    """All charts by document."""
    return {name: module.charts() for name, module in MODULES.items()}


def only(findings, place, what):
    """The one finding at ``place`` whose text contains ``what``."""
    (one,) = [f for f in findings if f.place == place and what in f.what]
    return one


def near(finding, printed):
    """Whether the computed number is ``printed``, to its last digit."""
    return rounds_to(finding.bounds, printed)


KNOWN = [
    ("000", "table lambda = 2", "p(R >= lambda) for N = 1,000", "0.0071", "differs"),
    ("000", "table lambda = 2", "p(R >= lambda) for N = 3,000", "0.0064", "differs"),
    ("000", "table lambda = 2", "p(R >= lambda) for N = 5,000", "0.0066", "differs"),
    ("000", "table lambda = 2", "q for N = 1,000", "0.2446", "reproduces"),
    ("000", "table lambda = 2", "q for N = 5,000", "0.1963", "differs"),
    ("000", "table lambda = 2", "if N were 10,000", "0.1778", "reproduces"),
    ("000", "table lambda = e^2", "p(R >= lambda) for N = 1,000", "0.0037", "reproduces"),
    ("000", "table lambda = e^2", "p(R >= lambda) for N = 3,000", "0.0068", "differs"),
    ("000", "table lambda = e^2", "p(R >= lambda) for N = 5,000", "0.0086", "differs"),
    ("000", "section 4", "gain in precision", "11.0", "differs"),
    ("000", "section 4", "deviation at the q of N = 5,000", "0.654", "differs"),
    ("000", "section 4, L = 40", "q by three sigmas", "0.351", "reproduces"),
    ("000", "section 4, L = 40", "negligible", "6.1e-4", "false"),
    ("000", "section 5", "hidden, N = 100,000", "0.61", "false"),
    ("002", "section 5", "e^epsilon", "2.899", "reproduces"),
    ("002", "section 5", "radius at 95 %", "1.151", "reproduces"),
    ("003", "section 4.3", "gain in precision", "14.9", "differs"),
    ("003", "below (4.55)", "within", "94", "differs"),
    ("003", "(4.45)", "lambda = 2, N = 1,000", "0.0125", "false"),
    ("003", "(4.45)", "lambda = e, N", "0.063", "false"),
    ("003", "(4.45)", "lambda = e^2, N", "0.80", "false"),
    ("003", "(4.45)", "keeps (ln 2, 1e-6)", "0.0476", "computed"),
    ("003", "(5.12)", "every term", "1.05", "false"),
    ("004", "proposition 2.3", "indistinguishable", "11", "false"),
    ("004", "(4.48)", "flips asked", "115", "computed"),
    ("004", "(4.48)", "flips that suffice", "34.1", "computed"),
    ("004", "(4.62)", "deviation", "10.7", "false"),
    ("004", "(5.10)", "fakes that suffice", "4261", "computed"),
    ("004", "(5.5)", "its left side", "-1.0", "false"),
    ("004", "(5.16)", "seen, epsilon = 1, n = 10,000", "0.0046", "false"),
    ("004", "(5.16)", "messages are seen, epsilon = 1, n = 100,000", "0.403", "false"),
    ("004", "(5.16)", "seen, epsilon = 1, n = 1,000,000", "0.910", "false"),
    ("004", "(5.26)", "cover asked at (1, 1e-6)", "213.6", "computed"),
    ("004", "(5.26)", "cover that suffices at (1, 1e-6)", "42.65", "computed"),
]


@pytest.mark.seconds
@pytest.mark.parametrize(("document", "place", "what", "printed", "word"), KNOWN)
def test_known_numbers(found, document, place, what, printed, word):
    one = only(found[document], place, what)
    assert near(one, printed)
    assert one.word == word


@pytest.mark.parametrize(("epsilon", "users"), [("0.5", 10_800), ("1", 3600), ("2", 1500)], ids=str)
def test_where_flips_without_fakes_break(found, epsilon, users):
    one = only(found["004"], "(5.16)", f"above, epsilon = {epsilon}")
    assert one.computed == pytest.approx(users, rel=0.04)


def test_one_set_bit_is_exposed_with_a_chance_of_a_half(found):
    hits = [f for f in found["000"] if "one set bit is hidden" in f.what]
    assert len(hits) == 3
    assert all(f.bounds[0] > 0.52 and f.bounds[1] < 0.62 for f in hits)


def test_every_finding_names_document_and_place(found):
    for name, findings in found.items():
        for one in findings:
            assert one.document == name
            assert one.document in DOCUMENTS
            assert one.place
            assert one.facts()["word"] == one.word


@pytest.mark.parametrize(
    ("ends", "printed", "holds"),
    [
        ((0.0085, 0.0085), "0.009", True),
        ((0.00849, 0.00849), "0.009", False),
        ((0.1778, 0.1779), "0.1778", True),
        ((0.0037040, 0.0037065), "0.0037", True),
        ((189_717.0, 189_717.0), "2e5", True),
        ((249_999.0, 249_999.0), "2e4", False),
    ],
)
def test_a_printed_digit_is_right_to_half_a_unit(ends, printed, holds):
    assert rounds_to(ends, printed) is holds


def test_a_claim_is_false_whatever_number_stands_by_it():
    assert Finding("000", "x", "y", "1", 1.0, holds=False).word == "false"
    assert claim("000", "x", "y", True, 1.0).word == "reproduces"
    assert Finding("000", "x", "y", None, 1.0).word == "computed"


def test_a_planted_printed_constant_is_caught(monkeypatch):
    place, epsilon, rows = sufficient.TABLES[1]
    planted = (place, epsilon, ((1000, "0.1702", "0.0037"), *rows[1:]))
    monkeypatch.setattr(sufficient, "TABLES", (sufficient.TABLES[0], planted))
    assert only(sufficient._tables(), place, "q for N = 1,000").word == "differs"


def test_a_planted_cover_turns_the_verdict(monkeypatch):
    """The audit really computes: an eighth of the cover is too little."""
    cases = (("004", "(5.26)", "notes-5.26", [verdicts.Case(1.0, fakes=10**6)]),)
    monkeypatch.setattr(verdicts, "CASES", cases)
    (honest,) = verdicts.audit_documents(["004"], quiet)
    assert (honest.word, honest.factor[:4]) == ("holds", "5.01")
    true = published_notes.one_hot_cover
    monkeypatch.setattr(published_notes, "one_hot_cover", lambda *given: true(*given) / 8)
    (planted,) = verdicts.audit_documents(["004"], quiet)
    assert planted.word == "false"
    assert planted.factor.endswith("times the promise")


def test_the_rows_count_every_printed_number(found):
    every = [one for findings in found.values() for one in findings]
    rows = verdicts.count_printed_numbers(every)
    assert sum(row.word == "differs" for row in rows) == sum(f.word == "differs" for f in every)
    claims = [f for f in every if f.holds is not None]
    decided = verdicts.decide_claims(every)
    for word in ("holds", "false"):
        have = sum(f.word == (word if word == "false" else "reproduces") for f in claims)
        assert 0 < sum(row.word == word for row in decided) <= have


def test_a_density_is_a_density(charts):
    for chart in charts["000"][:2]:
        for curve in chart.curves:
            step = curve.points[1][0] - curve.points[0][0]
            mass = step * sum(y for _, y in curve.points)
            assert 0.95 < mass <= 1.001
    wide = [sum(y for x, y in c.points if x >= 2.0) for c in charts["000"][0].curves]
    assert all(share > 0.0 for share in wide)


def test_repeating_gains_less_than_claimed(charts):
    exact, said, rule, _ = charts["003"][0].curves
    assert exact.points[0] == said.points[0]
    assert all(e[1] > s[1] for e, s in zip(exact.points[1:], said.points[1:], strict=True))
    assert rule.points[-1][1] > rule.points[0][1]
    errors = dict(exact.points)
    for times, error in ((1, 5.84), (2, 4.98), (5, 4.51), (10, 4.37), (100, 4.24)):
        assert errors[float(times)] == pytest.approx(error, abs=0.006)


def checked(text):
    """The reader of a page that is whole and needs nothing else."""
    reader = Reader(text)
    assert text.startswith("<!doctype html>\n")
    names = {name for name, _ in reader.attributes}
    assert not names & {"src", "href", "xlink:href", "style", "srcset", "action"}
    assert "script" not in reader.tags
    assert set(re.findall(r"https?://[^\"'<\s]*", text)) <= {"http://www.w3.org/2000/svg"}
    values = re.findall(r"[\w.]+", " ".join(v or "" for _, v in reader.attributes))
    assert not {"nan", "inf"} & set(values)
    return reader


def test_the_page_is_whole_and_self_contained(found, charts):
    every = tuple(one for findings in found.values() for one in findings)
    drawn = tuple(chart for group in charts.values() for chart in group)
    rows = (*verdicts.decide_claims(list(every)), *verdicts.count_printed_numbers(list(every)))
    reader = checked(page(document(Reproduction(every, rows, drawn))))
    text = " ".join(reader.texts)
    assert reader.tags.count("figure") == len(drawn) == 10
    assert reader.tags.count("tr") == len(every) + len(rows) + len(DOCUMENTS) + 1
    for name in DOCUMENTS.values():
        assert name in text
    for one in every:
        assert one.what in text
    assert "Where it is wrong" in text


def test_markup_in_a_finding_is_escaped():
    one = Finding("000", "<b>", "<i>&what", "1", 2.0, "<u>", "<script>")
    text = page(document(Reproduction((one,), (), ())))
    assert "<i>&what" in " ".join(checked(text).texts)
    assert "<script>" not in text


@pytest.mark.parametrize("log", [True, False])
def test_a_chart_of_one_point_is_drawn(log):
    curve = Curve("alone", ((1.0, 2.0),), dots=True)
    drawn = draw(Chart("000", "t", "c", "x", "y", (curve,), (), log, log))
    checked("<!doctype html>\n" + drawn.markup)


def test_names_beside_a_chart_do_not_overlap(charts):
    for group in charts.values():
        for chart in group:
            places = [
                float(y) for y in re.findall(r'y="([\d.]+)" class="name"', draw(chart).markup)
            ]
            assert all(b - a > 15.0 for a, b in pairwise(places))


def test_an_unknown_document_is_refused():
    with pytest.raises(ParameterError, match=r"^document: expected one of 000, 001, 002, 003, 004"):
        reproduce("005")


def test_one_document_alone():
    steps = []
    alone = reproduce("002", lambda *step: steps.append(step))
    assert {one.document for one in alone.findings} == {"002"}
    assert {chart.document for chart in alone.charts} == {"002"}
    assert ("002", 1, 1) in steps
    (audited,) = [row for row in alone.rows if row.promise.startswith("voting")]
    assert audited.word == "holds"


@pytest.mark.slow
def test_the_verdicts_on_every_formula():
    rows = verdicts.audit_documents(DOCUMENTS, quiet)
    words = {(row.promise.split(",")[0], row.promise.rpartition(" ")[2]): row for row in rows}
    for formula in ("sufficient-3.12", "sufficient-5", "repeats-4.45", "repeats-5.24"):
        assert words[formula, "messages"].word == "false"
    assert words["notes-5.16", "messages"].word == "false"
    assert words["notes-5.16", "sums"].word == "holds"
    for formula in ("notes-4.48", "notes-5.10", "notes-5.26", "cheu-zhilyaev"):
        assert words[formula, "messages"].word == "holds"
    assert words["sufficient-4.2", "local"].word == words["voting", "local"].word == "holds"
    assert words["cheu-zhilyaev", "messages"].factor.startswith("11 times")
