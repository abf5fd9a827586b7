"""The example runs, finds the large airports and none that was made up, and leaves its files."""

import re

import pytest

from examples.running import printed


@pytest.mark.seconds
def test_it_counts_airports_from_memoized_answers(tmp_path):
    """The three largest are 24 standard errors above nothing; a made-up word is found with
    probability 0.05 at most, so two of them or more with 0.002."""
    out = printed("rappor.py", tmp_path)
    real, made_up = re.search(r"significant: (\d+) of 105 airports, (\d) of 3", out).groups()
    assert int(real) >= 10
    assert int(made_up) <= 1
    largest = re.findall(r"^(\w{3}) +[\d,]+ +[\d,]+ \.\. [\d,]+", out, flags=re.MULTILINE)
    assert {"ORD", "ATL", "LAX"} <= set(largest)
    assert "epsilon: 1.831 for one week, 7.595 for 8, 7.784 for ever" in out
    names = ["ann.key", "crowd.key"]
    assert sorted(path.name for path in tmp_path.iterdir()) == names
