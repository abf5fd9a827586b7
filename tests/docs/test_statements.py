"""The page of formulas has all statements that are counted out, with today's verdicts."""

import re
from functools import cache
from pathlib import Path

import pytest

from literature.finding import rounds_to
from literature.tests.enumerated import everything
from mixtally.lab import formulas as published

PAGE = (Path(__file__).parents[2] / "docs" / "reference/formulas.md").read_text()
SECTION = PAGE.partition("## Statements decided by enumeration")[2]
ROWS = {
    name: (words.split(", "), text)
    for names, words, text in re.findall(r"^\| (00\d .*?) \| (.*?) \| (.*?) \|$", SECTION, re.M)
    for name in names.split("; ")
}
"""By statement; a row may have several."""
WORDS = {"reproduces": "holds", "false": "false", "computed": "computed"}
NUMBERS = [
    ("000 below (3.4)", "of other contents", "0.292"),
    ("003 section 3", "1,000 ones", "1.009"),
    ("003 section 3", "ten ones", "0.906"),
    ("003 (5.5)", "is a product", "1.27"),
    ("004 below (2.4), (4.3)", "", "1.054"),
    ("004 lemma 4.1", "s = n", "0.939"),
    ("004 (4.36)", "", "108.9"),
    ("004 lemma 4.3", "1/2", "0.937"),
    ("004 (4.20), (4.46)", "every t", "64.7"),
    ("004 (4.20), (4.46)", "least t", "2.44"),
    ("004 (8.4), (8.5)", "", "38.6"),
]


@cache
def findings():
    """By statement, what was found."""
    found = {}
    for one in everything():
        found.setdefault(f"{one.document} {one.place}", []).append(one)
    return found


def test_every_statement_has_a_row_and_every_row_a_statement():
    assert set(ROWS) == set(findings())
    assert len(ROWS) == 31


@pytest.mark.parametrize("name", ROWS)
def test_the_words_of_the_row(name):
    assert set(ROWS[name][0]) == {WORDS[one.word] for one in findings()[name]}


@pytest.mark.parametrize(("name", "what", "number"), NUMBERS)
def test_the_numbers_of_the_row(name, what, number):
    (one,) = [one for one in findings()[name] if what in one.what]
    assert rounds_to(one.bounds, number)
    assert number in ROWS[name][1]


@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("003 section 3", ("0.0117", "2.71e-11")),
        ("004 lemma 4.3", ("0.00233",)),
        ("004 (4.20), (4.46)", ("1.1e-24", "1.8e-26")),
    ],
)
def test_the_numbers_of_the_notes(name, numbers):
    notes = " ".join(one.note for one in findings()[name])
    for number in numbers:
        assert number in notes
        assert number in ROWS[name][1]


def test_every_function_that_is_named_is_there():
    named = re.findall(r"`(\w+)\.(\w+)`", SECTION)
    assert len(named) == 11
    for module, name in named:
        assert callable(getattr(getattr(published, module), name))
