"""Two statements of the founding documents, decided by hand."""

import math

import pytest

from literature import sufficient, voting


@pytest.mark.seconds
def test_another_input_is_as_likely_as_one_in_four_at_ln_3():
    (found,) = [one for one in voting.findings(lambda *_: None) if "ln 3" in one.what]
    assert found.printed == "25"
    assert found.computed == 100.0 / (1.0 + math.exp(math.log(3.0)))
    assert found.word == "reproduces"


def test_the_tail_does_not_cover_the_direction_that_is_not_looked_at():
    (found,) = [one for one in sufficient._guarantee() if one.place == "(1.7)"]
    assert found.word == "false"
    assert min(found.bounds) > 1.0
