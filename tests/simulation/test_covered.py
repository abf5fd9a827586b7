"""What is said of the intervals that cover the truth holds however the intervals depend."""

import pytest

from mixtally.report.coverage import Coverage, bound_chance, coverage


def joint_misses(of, level, together):
    """The chance of each number of misses where intervals miss ``together`` at once."""
    chance = (1 - level) * of / together
    return {0: 1 - chance, together: chance}


@pytest.mark.parametrize("together", [2, 3, 10, 20])
def test_the_bound_holds_where_intervals_miss_together(together):
    of, level = 20, 0.95
    law = joint_misses(of, level, together)
    for held in range(of):
        truth = sum(chance for missed, chance in law.items() if of - missed <= held)
        assert truth <= bound_chance(held, of, level) + 1e-12


def test_a_bound_for_independent_intervals_is_found():
    """Planted: the binomial chance of so few. Twenty that miss together exceed it by far."""
    binomial = 0.05**20
    assert joint_misses(20, 0.95, 20)[20] > binomial


def test_the_sentence_says_what_is_expected_and_how_rare_so_few_are():
    assert Coverage(17, 20).text(0.95) == (
        "17 of the 20 intervals cover the true count; 19 are expected. This few or fewer cover in "
        "at most 33 % of cases, whatever the dependence between the numbers is."
    )
    for enough in (19, 20):
        assert "cases" not in Coverage(enough, 20).text(0.95)
    assert "at most 6.7 %" in Coverage(5, 20).text(0.95)


def test_a_place_counts_when_each_of_its_intervals_covers():
    low, high = [0, 0, 0], [2, 2, 2]
    assert coverage((low, [0, 2, 3], high)) == (2, 3)
    assert coverage((low, [-1, 1, 3], high)) == (1, 3)
    assert coverage((low, [0, 2, 3], high), (low, [-1, 1, 1], high)) == (1, 3)
    assert coverage(([], [], [])).share is None
