"""Records that people make: their fields are checked, and a mistake inside stays one."""

import numpy as np
import pytest

from mixtally.errors import InputError, ParameterError
from mixtally.model import question
from mixtally.model.guarantee import Guarantee, Observer
from mixtally.model.question import Question


def test_plain_values_become_fields():
    assert Guarantee(epsilon=1, delta=np.float64(1e-6), observer="sums") == Guarantee(
        epsilon=1.0, delta=1e-6, observer=Observer.SUMS
    )
    assert Question(name="q", bins=np.int64(2), labels=["a", "b"]).labels == ("a", "b")


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"name": "q"}, "none named bins"),
        ({"name": 3, "bins": 2}, "name: Expected `str`, got `int`"),
        ({"name": "q", "bins": True}, "bins: Expected `int`, got `bool`"),
        ({"name": "q", "bins": 2.5}, "bins: Expected `int`, got `float`"),
        ({"name": "q", "bins": 10**5000}, "a number of 16,610 bits"),
        ({"name": "q", "bins": 2, "label": ("a", "b")}, "Did you mean labels?"),
        ({"name": "\ud800", "bins": 2}, "whole characters"),
    ],
)
def test_other_values_are_named(fields, said):
    with pytest.raises(InputError) as caught:
        Question(**fields)
    assert said in str(caught.value)


def test_fields_without_names_are_refused():
    with pytest.raises(ParameterError, match="fields without names"):
        Guarantee(1.0, 1e-6)


def test_a_mistake_of_ours_inside_is_not_taken_for_one_of_theirs(monkeypatch):
    def planted(bins, least):
        raise TypeError("planted")

    monkeypatch.setattr(question, "check_bins", planted)
    with pytest.raises(TypeError, match="planted"):
        Question(name="q", bins=2)
