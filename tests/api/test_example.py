"""``mixtally.example``: answers to try the other names on, with their labels."""

import pytest

import mixtally
from mixtally.errors import ParameterError


@pytest.mark.parametrize("column", ["fruit", "answer", "age_group", "likes"])
def test_every_answer_is_one_of_the_labels(column):
    answers, labels = mixtally.example(column)
    sets = answers if column == "likes" else [[one] for one in answers]
    assert {label for held in sets for label in held} == {*labels}
    assert mixtally.simulate(answers, labels=labels, epsilon=1, delta=1e-6).people == 2_000


def test_a_column_without_labels_is_refused():
    with pytest.raises(ParameterError, match="expected one of fruit, answer, age_group, likes"):
        mixtally.example("age")
