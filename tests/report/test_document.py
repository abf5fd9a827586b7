"""A document makes what is asked for and nothing else."""

import io
import json
from dataclasses import replace

import pytest
from rich.console import Console

from mixtally import report
from mixtally.lab.attacks.audit import Checks, audit
from mixtally.lab.attacks.document import document as attack_document
from mixtally.lab.attacks.outcome import AttackLab, NoiseSource, Outcome, Verdict
from mixtally.lab.simulation.seeded import SeededChance
from mixtally.report.document import Document, Heading, Rows, Section, Table, Text
from mixtally.report.page import page
from mixtally.report.terminal import opening_lines, render_summary
from mixtally.report.texts import files, whole_facts

PROMISE = ("Hidden: it.", "epsilon = 1.", "Error to expect: 2.")


class AskedError(Exception):
    """Somebody asked for what was not expected."""


def refused():
    raise AskedError


def shown(**parts):
    given = dict.fromkeys(("sections", "summary", "facts", "tables"), refused)
    return Document(title="T", source="S", promise=PROMISE, **(given | parts))


def test_a_terminal_makes_the_summary_alone():
    out = io.StringIO()
    table = Table(("name", "count"), [("a", "1")])
    Console(file=out).print(render_summary(shown(summary=lambda: (table, Text("Said.")))))
    assert "Said." in out.getvalue()
    with pytest.raises(AskedError):
        render_summary(shown())


def test_a_page_makes_its_sections_alone():
    assert "Inside" in page(shown(sections=lambda: (Section("Inside", (Text("x"),)),)))
    with pytest.raises(AskedError):
        page(shown())


def test_files_need_no_summary():
    made = files(shown(sections=lambda: (), facts=lambda: {"a": 1}, tables=dict))
    assert list(made) == ["report.html", "result.json"]


WHOLE = {
    "sections": lambda: (),
    "facts": lambda: {"a": 1},
    "tables": lambda: {"rows.csv": Rows([{"b": 2}])},
}


def test_files_and_a_terminal_share_the_facts():
    made = []
    one = shown(**WHOLE | {"facts": lambda: made.append(1) or {"a": 1}})
    for document in (one, replace(one, made_by="mixtally demo")):
        files(document)
        whole_facts(document)
    assert made == [1]


def test_a_page_measures_each_table_once(watch):
    seen = watch(report.page, "_table_class", most=2)
    table = Table(("name", "count"), [("a", "1")])
    wide = Table(tuple(map(str, range(60))), [("a",) * 60])
    made = page(shown(sections=lambda: (Section("Tables", (table, wide)),)))
    assert len(seen) == 2
    assert 'class="broad"' in made
    assert 'class="usual"' in page(shown(sections=lambda: (Section('<table class="wide', ()),)))


def test_everything_begins_with_the_promise():
    made = shown(**WHOLE)
    assert opening_lines(made) == list(PROMISE)
    assert list(json.loads(files(made)["result.json"])) == ["promise", "a"]
    text = files(made)["report.html"]
    places = [text.index(line) for line in (*PROMISE, 'class="source"')]
    assert places == sorted(places)


def test_a_simulation_says_first_that_it_holds_raw_counts():
    made = files(shown(**WHOLE, simulation=True))
    for text in made.values():
        first = text.splitlines()[1 if text.startswith("{") else 0]
        assert "simulation" in first
        assert "holds raw counts" in first
    assert made["rows.csv"].splitlines()[1:] == ["b", "2"]
    assert made["report.html"].index('class="raw"') < made["report.html"].index("<h1>")
    assert not any("raw counts" in text for text in files(shown(**WHOLE)).values())


def test_a_page_of_a_simulation_ends_with_the_command_that_made_it():
    made = page(shown(**WHOLE, simulation=True, made_by="mixtally simulate 'a <b>.csv'"))
    assert "<code>mixtally simulate &#x27;a &lt;b&gt;.csv&#x27;</code>" in made
    assert "Made by" not in page(shown(**WHOLE, made_by="mixtally simulate"))
    assert "made_by" not in files(shown(**WHOLE, made_by="x"))["result.json"]


def tables_of(*parts):
    return page(shown(sections=lambda: (Section("Counts", parts),)))


def test_a_table_has_a_caption_and_scopes():
    made = tables_of(Table(("", "count"), [("a", "1")], title="All"))
    assert "<caption>All</caption>" in made
    assert '<th scope="col" class="number">count</th>' in made
    assert '<th scope="row">a</th><td data-name="count" class="number"><span>1</span></td>' in made
    assert "<thead><tr><td></td>" in made  # a corner that says nothing is no heading


def test_a_caption_is_not_shown_below_its_own_name():
    unseen = '<caption class="unseen">Counts</caption>'
    assert unseen in tables_of(Table(("bin", "count"), [("a", "1")]))
    assert unseen in tables_of(Table(("bin", "count"), [("a", "1")], title="Counts"))
    assert unseen.replace("Counts", "More") in tables_of(
        Heading("More"), Table(("bin", "count"), [("a", "1")])
    )
    folded = tables_of(Table(("bin", "count"), [("a", "1")], title="All", folded=True))
    assert "<summary>All</summary>" in folded
    assert unseen.replace("Counts", "All") in folded


def test_a_terminal_cuts_no_word_of_a_table_of_attacks():
    outcomes = [
        Outcome(
            *("difference", "asked twice, answer changed", promised, 0.8104, "eps", verdict),
            *(1_000_000, "", ""), noise=NoiseSource.DISTRIBUTION, best=0.842,
        )
        for promised, verdict in ((1.34, Verdict.CONSISTENT), (None, Verdict.MEASURED))
    ]  # fmt: skip
    facts = {"seed": 1, "level": 0.9999}
    out = io.StringIO()
    Console(file=out, width=80).print(render_summary(attack_document("x", "p", outcomes, facts)))
    for word in ("consistent", "measured only", "0.8104 eps", "distribution", "answer"):
        assert word in out.getvalue()
    assert "\N{HORIZONTAL ELLIPSIS}" not in out.getvalue()


def test_a_page_of_attacks_lists_the_failed_tests_of_an_audit():
    lab = AttackLab(SeededChance(1), 1e-4)
    outcome = audit("randomizer", [Checks.of_difference("report too many", 3)], lab, 9, "9 reports")
    made = attack_document("x", "p", [outcome], {"seed": 1, "level": 0.9999})
    (section,) = made.sections()
    assert "report too many, place 0: counted 3 of 3, expected 0.0" in [
        part.text for part in section.parts if isinstance(part, Text)
    ]
