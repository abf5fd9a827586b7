"""Every kind of interval of every mechanism holds the truth as often as it says, round by round.

The table is that of ``bench.coverage``: fifty crowds a mechanism, played message by message.
"""

import pytest
from scipy.stats import binom

from bench import coverage
from bench.coverage import CASES, KINDS, LEVEL, measure_coverage, share_of
from mixtally.planning import Planner

CROWDS, NEVER, HALF = 50, 1e-6, 0.59
ALIKE = {"quantiles": 5, "mean": 2, "moments": 2, "shares": 2, "sizes": 2, "differences": 3}
"""So many numbers of a kind a crowd, which may all miss together: they count as one."""
PLANNER = Planner()


def short(name, level=LEVEL):
    """The kinds of intervals that hold the truth too seldom for chance."""
    found = measure_coverage(name, CROWDS, level, PLANNER)
    for kind in KINDS:
        held, every = share_of(found, kind)
        alike = ALIKE.get(kind, 1)
        if binom.cdf(-(-held // alike), every // alike, LEVEL) < NEVER:
            yield kind


@pytest.mark.seconds
@pytest.mark.parametrize("name", CASES)
def test_intervals_hold_as_often_as_they_say(name):
    """False alarm: below 10^-6 for each kind, and 2 x 10^-4 for the table.

    Exact binomial bounds at 90 %. Bins of one crowd share their messages, so that many of them
    vary a little more together than by themselves; seeds are fixed.
    """
    assert list(short(name)) == []


@pytest.mark.seconds
@pytest.mark.parametrize("name", CASES)
def test_the_twin_of_half_the_width_is_found(name):
    """Planted: intervals of 59 % under the name of 90 %, as normal ones of half their width."""
    found = set(short(name, HALF))
    assert "few" in found
    assert ("not listed" in found) == name.startswith("words")


def test_one_of_them_by_the_way():
    """The quick form."""
    assert list(short("k-ary")) == []
    assert "few" in short("k-ary", HALF)


def test_the_bench_names_extremes_of_each_guarantee_and_ends_in_time(monkeypatch):
    monkeypatch.setattr(coverage, "CASES", {"k-ary": CASES["k-ary"]})
    monkeypatch.setattr(coverage, "EPSILONS", (1.0, 4.0))
    rows = coverage.rows()
    assert [row.what.partition("epsilon ")[2] for row in rows] == [
        f"{epsilon}, delta {delta}, 1 mechanisms"
        for epsilon in (1, 4)
        for delta in ("0.001", "1e-06")
    ]
    assert all(row.got is not None and 0.9 < row.got < 1.06 for row in rows)
    monkeypatch.setattr(coverage, "SECONDS", -1.0)
    assert coverage.rows() == []
