"""The page without mathematics is true all the same: its table is computed again, rounded up."""

import math
import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "explanation/promise.md").read_text()
ROWS = re.findall(
    r"^\| ([\d.]+) \| ([\d.,]+) \| ([\d.]+) of 100 cases \|$", PAGE, flags=re.MULTILINE
)
DELTA = 1e-6


def most_often_right(epsilon):
    """100 times the chance of the best guess between two equally likely answers.

    (1 + TV) / 2, where (epsilon, delta) allows a total variation of
    (e^epsilon - 1 + 2 delta) / (e^epsilon + 1): Kairouz, Oh, Viswanath 2015, Theorem 2.
    """
    factor = math.exp(epsilon)
    return 100 * (factor + DELTA) / (factor + 1)


def is_the_least_upper_end(stated, exact):
    """Whether ``stated`` is ``exact`` rounded up in its last digit."""
    digits = len(stated.partition(".")[2])
    return 0 <= float(stated.replace(",", "")) - exact < 10**-digits


@pytest.mark.parametrize(("epsilon", "factor", "right"), ROWS)
def test_the_row_is_true_and_no_looser_than_its_digits(epsilon, factor, right):
    assert is_the_least_upper_end(factor, math.exp(float(epsilon)))
    assert is_the_least_upper_end(right, most_often_right(float(epsilon)))


def test_no_row_is_passed_over():
    assert len(ROWS) == PAGE.count(" of 100 cases |") == 6


@pytest.mark.parametrize(
    ("stated", "exact"), [("2.71", math.e), ("2.73", math.e), ("73.1", 73.106)]
)
def test_a_number_that_is_off_is_noticed(stated, exact):
    assert not is_the_least_upper_end(stated, exact)
