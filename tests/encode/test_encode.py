"""Values become the numbers of their bins, and nothing else."""

import pytest

from mixtally.errors import DataError
from mixtally.model.question import Question
from mixtally.protocol.encode.categorical import encode

FRUIT = Question(name="fruit", bins=3, labels=("pear", "apple", "plum"))


def test_values_become_the_numbers_of_their_labels():
    assert encode(FRUIT, ["plum", "pear", "plum", "apple"]).tolist() == [2, 0, 2, 1]


def test_without_labels_values_are_the_numbers():
    assert encode(Question(name="n", bins=12), ["11", "0"]).tolist() == [11, 0]


@pytest.mark.parametrize("value", ["Plum", "", "3", "plum "])
def test_an_unknown_value_is_refused_by_name(value):
    with pytest.raises(DataError, match=r"fruit.*3 labels"):
        encode(FRUIT, ["pear", value])
