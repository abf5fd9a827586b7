"""How rare it is that so few intervals cover, by the binomial distribution added up."""

import math

import pytest

from mixtally.simulation.covered import at_most_by_chance, covered_text


@pytest.mark.parametrize(("held", "of", "level"), [(17, 20, 0.95), (0, 3, 0.5), (105, 105, 0.95)])
def test_the_chance_is_the_sum_of_the_binomial(held, of, level):
    plan = [math.comb(of, k) * level**k * (1 - level) ** (of - k) for k in range(held + 1)]
    assert at_most_by_chance(held, of, level) == pytest.approx(math.fsum(plan), rel=1e-9)


def test_the_sentence_says_what_is_expected_and_what_chance_explains():
    assert covered_text(17, 20, 0.95) == (
        "17 of the 20 intervals cover the true count; 19 are expected, and 17 or fewer would come "
        "about by chance in 7.5 % of cases."
    )
    assert "chance" not in covered_text(20, 20, 0.95)
    assert "less than 0.1 %" in covered_text(5, 20, 0.95)
