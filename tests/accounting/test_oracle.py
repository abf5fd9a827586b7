"""The enumeration that other tests rely on, against numbers that were found by other programs."""

from fractions import Fraction

import pytest

from helpers.named import kary_response, single_bit
from mixtally.primitives.fixed_point import SCALE
from oracle import Collection, matrix_of, truth, worst


def rows(text):
    return [[Fraction(chance) for chance in row.split()] for row in text.split(" / ")]


THREE = "11/15 2/15 2/15 / 2/15 11/15 2/15 / 2/15 2/15 11/15"
GOLDEN = {  # matrix, people, e^epsilon, uniform fakes, delta
    "two rows": ("3/4 1/4 / 1/3 2/3", 3, "3/2", 0, "9/64"),
    "a third row between": ("4/5 1/5 / 1/2 1/2 / 1/10 9/10", 4, "2", 0, "729/2000"),
    "three answers": (THREE, 4, "2", 0, "2731/10125"),
    "all is exposed": ("1/2 1/2 0 / 0 1/2 1/2", 3, "2", 0, "1/2"),
    "in clear": ("1 0 / 0 1", 3, "2", 0, "1"),
    "equal rows": ("1/3 2/3 / 1/3 2/3", 5, "1", 0, "0"),
    "three outputs": ("6/10 3/10 1/10 / 1/10 2/10 7/10", 4, "3/2", 0, "6561/20000"),
    "four outputs": (
        "3/8 1/8 3/8 1/8 / 3/8 3/8 1/8 1/8 / 3/8 1/8 1/8 3/8", 3, "5/4", 0, "147/1024"
    ),
    "one person": (THREE, 1, "2", 0, "7/15"),
    "uniform fakes": (THREE, 3, "2", 2, "3674/30375"),
    "a mixed crowd": ("2/3 1/3 / 1/4 3/4 / 1/2 1/2", 4, "1", 0, "5/24"),
}  # fmt: skip


@pytest.mark.parametrize("name", GOLDEN)
def test_known_fractions(name):
    text, people, ratio, fakes, delta = GOLDEN[name]
    matrix = rows(text)
    width = len(matrix[0])
    public = [[Fraction(1, width)] * width] * fakes
    assert truth(matrix, people, Fraction(ratio), public) == Fraction(delta)


def test_a_mixed_crowd_is_worse_than_crowds_whose_people_all_hold_the_same():
    matrix = rows(GOLDEN["a mixed crowd"][0])
    every = [(one,) * 3 for one in range(3)]
    assert worst(Collection(matrix, 4), [Fraction(1)], crowds=every) == [Fraction(5, 27)]
    assert worst(Collection(matrix, 4), [Fraction(1)], crowds=[(0, 1, 1)]) == [Fraction(5, 24)]


def test_the_matrix_of_a_mechanism_is_read_off_its_integers():
    share = SCALE * 2 // 5
    three = matrix_of(kary_response(bins=3, replaced=share, crowd=3, fakes=2))
    gone = Fraction(share, SCALE) / 3
    assert three.people == 3
    assert [sorted(row) for row in three.matrix] == [[gone, gone, 1 - 2 * gone]] * 3
    assert [list(row) for row in three.fakes] == [[Fraction(1, 3)] * 3] * 2
    assert [sum(row) for row in three.matrix] == [1] * 3
    bit = matrix_of(single_bit(fakes=1, threshold=SCALE // 4, crowd=2, repeats=3))
    low = Fraction(1, 4)
    assert bit.matrix == [[1 - low, low], [low, 1 - low]]
    assert bit.fakes == [[1 - low, low]]
    assert (bit.people, bit.repeats) == (2, 3)


def test_rows_that_do_not_add_up_to_one_stop_the_enumeration():
    with pytest.raises(AssertionError):
        truth(rows("1/2 1/3 / 1/3 2/3"), 2, Fraction(2))
