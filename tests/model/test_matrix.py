"""Matrices of randomizers: what is refused, and what is read exactly."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from mixtally.errors import DataError
from mixtally.model.matrix import MOST_CELLS, make_matrix, parse_fake_row

HALF = ["1/2", "1/2"]
TINY, LONG = Fraction(1, 10**30), Fraction(1, 2**600 + 1)

REFUSED = {  # what is given, and what the error says
    "no rows": ([], "at least two rows"),
    "one row": ([HALF], "at least two rows"),
    "rows without entries": ([[], []], "without outputs"),
    "a short row": ([HALF, ["1"]], "row 1: expected 2 entries, as in the first row, got 1"),
    "a long row": ([HALF, ["1/2", "1/4", "1/4"]], "got 3"),
    "a row that misses one": ([HALF, ["1/2", "1/3"]], "row 1: expected probabilities that sum"),
    "a row that misses one by 1e-12": ([HALF, ["0.5", "0.499999999999"]], "sum of 0.99999999"),
    "a row that exceeds one": ([HALF, ["1/2", "2/3"]], "a sum of 1.1666"),
    "thirds as floats": ([[1 / 3, 1 / 3, 1 / 3], [0.1, 0.2, 0.7]], "add --normalize"),
    "a transposed file": ([["1/2", "1/4"], ["1/2", "3/4"]], "Transpose it: the columns sum to 1"),
    "a row of zeros": ([HALF, ["0", "0"]], "a sum of 0.0"),
    "a negative entry": ([HALF, ["3/2", "-1/2"]], "row 1, output 1: expected a probability"),
    "minus zero point one": ([HALF, ["1.1", "-0.1"]], "got '-0.1'"),
    "a missing entry": ([HALF, ["1", ""]], "got nothing"),
    "None": ([HALF, [1, None]], "got nothing"),
    "nan": ([HALF, [1.0, float("nan")]], "got nothing"),
    "infinity": ([HALF, [1.0, float("inf")]], "got inf"),
    "a word": ([HALF, ["1", "none"]], "got 'none'"),
    "a truth value": ([HALF, [True, False]], "got True"),
    "a percentage": ([HALF, ["50%", "50%"]], "got '50%'"),
    "a comma as decimal point": ([HALF, ["0,5", "0,5"]], "got '0,5'"),
    "a division by zero": ([HALF, ["1/0", "0"]], "got '1/0'"),
    "a fraction of fractions": ([HALF, ["1/2/2", "3/4"]], "got '1/2/2'"),
    "a huge exponent": ([HALF, ["1e999999999", "0"]], "got '1e999999999'"),
    "a huge decimal": ([HALF, [Decimal("1e999999"), 0]], "expected a probability"),
    "a huge number": ([HALF, [1 << 5000, 0]], "expected a probability"),
    "a long text": ([HALF, ["0." + "3" * 200, "0"]], "expected a probability"),
    "complex numbers": ([HALF, [1j, 1]], "expected a probability"),
    "an entry of 1e-300": ([HALF, [TINY, 1 - TINY]], "at least 2\\^-64"),
    "a long denominator": ([HALF, [LONG, 1 - LONG]], "expected a probability"),
    "many denominators": (
        [[one, 1 - one] for one in (Fraction(1, 3**200 + i) for i in range(9))],
        "a common denominator of at most 1,024 bits"),
    "ten million entries": ([[0] * (MOST_CELLS // 2 + 1)] * 2, "at most 1,000,000 entries"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_randomizer_is_refused(name):
    entries, said = REFUSED[name]
    with pytest.raises(DataError, match=said):
        make_matrix(entries)


NORMALIZED = {
    "a row of zeros": ([HALF, ["0", "0"]], "zeros only"),
    "an entry that vanishes": ([HALF, ["1", "1e-30"]], "2\\^-64 of the sum"),
    "a negative entry": ([HALF, ["3/2", "-1/2"]], "expected a probability"),
}


@pytest.mark.parametrize("name", NORMALIZED)
def test_normalizing_repairs_no_more_than_sums(name):
    entries, said = NORMALIZED[name]
    with pytest.raises(DataError, match=said):
        make_matrix(entries, normalize=True)


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ({"rows": ["a", "a"]}, "row labels: expected 2 different labels, got 'a' twice"),
        ({"outputs": ["x", "x"]}, "output labels: expected 2 different labels, got 'x' twice"),
        ({"rows": ["", ""]}, "'' twice"),
        ({"rows": ["a"]}, "expected 2 different labels, got 1"),
        ({"outputs": ["x", "y", "z"]}, "got 3"),
    ],
)
def test_labels_are_distinct_and_complete(labels, said):
    with pytest.raises(DataError, match=said):
        make_matrix([HALF, HALF], **labels)


def test_every_kind_of_number_is_read_exactly():
    given = [
        [Fraction(1, 4), "0.75", 0],
        [0.25, Decimal("0.25"), "1/2"],
        [np.float64(1), 0.0, "0e0"],
    ]
    made = make_matrix(given, ["a", "b", "c"], ["x", "y", "z"])
    assert [[Fraction(int(one), made.scale) for one in row] for row in made.cells] == [
        [Fraction(1, 4), Fraction(3, 4), 0],
        [Fraction(1, 4), Fraction(1, 4), Fraction(1, 2)],
        [1, 0, 0],
    ]  # fmt: skip
    assert made.normalized == 0


def test_a_float_stands_for_its_shortest_decimal():
    made = make_matrix([[0.1, 0.9], [0.7, 0.3]])
    assert Fraction(int(made.cells[0, 0]), made.scale) == Fraction(1, 10)


def test_equal_rows_are_a_randomizer():
    assert make_matrix([HALF, HALF]).local_epsilon == 0.0


def test_normalized_rows_keep_equal_entries_equal():
    third = 1 / 3
    made = make_matrix([[0.5, 0.25, 0.25], [third] * 3, [2, 1, 1]], normalize=True)
    exact = [[Fraction(int(one), made.scale) for one in row] for row in made.cells]
    assert made.normalized == 2
    assert exact[1] == [Fraction(1, 3)] * 3
    assert exact[0] == exact[2] == [Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)]
    assert all(sum(row) == 1 for row in exact)


def test_a_matrix_that_is_exact_is_not_changed_by_normalizing():
    made = make_matrix([["1/3", "2/3"], ["2/3", "1/3"]], normalize=True)
    assert (made.scale, made.normalized) == (3, 0)


def test_the_local_epsilon_is_infinite_for_an_output_that_some_never_send():
    assert make_matrix([["1/2", "1/2"], ["1", "0"]]).local_epsilon == float("inf")
    assert make_matrix([["1/2", "1/2"], ["1/4", "3/4"]]).local_epsilon == pytest.approx(0.693147)


@pytest.mark.parametrize("row", [["1/2"], ["1/2", "1/3"], ["1/2", "1/2", "0"]])
def test_a_public_row_is_a_distribution_of_the_outputs(row):
    assert parse_fake_row(["1/2", "1/2"], ("x", "y")) == (Fraction(1, 2), Fraction(1, 2))
    with pytest.raises(DataError, match="2 probabilities that sum to 1 exactly"):
        parse_fake_row(row, ("x", "y"))
