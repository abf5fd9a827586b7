"""Every threat to a network is defended, and tested in files that exist, or called not defended."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/explanation/network.md").read_text()
TABLE = PAGE.partition("## Threats\n")[2].partition("\n## ")[0]
ROWS = re.findall(r"^\| ([^|]+) \| ([^|]+) \| ([^|]*)\|$", TABLE, re.M)[1:]
WORD = "*not defended*"


def faults(defense, tested):
    """What is wrong with a row."""
    named = re.findall(r"`(tests/[^`]+)`", tested)
    found = [name for name in named if not (ROOT / name).is_file()]
    if not named and not defense.startswith(WORD):
        found.append("neither a test nor the words")
    return found


@pytest.mark.parametrize(("threat", "defense", "tested"), ROWS)
def test_a_row_names_its_tests_or_says_that_nothing_helps(threat, defense, tested):
    assert threat
    assert faults(defense.replace("*Not", "*not"), tested) == []


def test_there_are_rows_of_both_kinds():
    open_ = [row for row in ROWS if row[1].startswith(WORD)]
    assert len(open_) >= 7
    assert len(ROWS) - len(open_) >= 15


def test_a_row_that_is_wrong_is_noticed():
    assert faults("nothing", "")
    assert faults("something", "`tests/none.py`")
    assert not faults(f"{WORD}: nobody can", "")
