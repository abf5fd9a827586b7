"""The three programs of the page are as short as they are meant to be."""

import re
from pathlib import Path

import pytest

from mixtally import api as door

PAGE = (Path(__file__).parents[2] / "docs" / "how-to/python.md").read_text()
MOST = {
    "A column of a frame, counted": 3,
    "Answers with several labels": 3,
    "Repeated rounds with a budget": 6,
}
"""Lines of each, blank ones apart; imports and values written out are among them."""


def program(title):
    text = re.search(rf"## {title}\n\n```python\n(.*?)```", PAGE, re.DOTALL)[1]
    return [line for line in text.splitlines() if line]


@pytest.mark.parametrize("title", MOST)
def test_a_program_has_no_more_lines_than_it_may(title):
    assert len(program(title)) <= MOST[title]


def test_the_page_names_what_the_door_has_and_nothing_else():
    table = PAGE[: PAGE.index("`help(")]
    assert set(re.findall(r"`(\w+)`", table)) == set(door.__all__)
